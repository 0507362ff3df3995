"""The paper's experiments as recipes, on lexicode's public names alone. Run one with `python -m experiments.NAME`."""

"""The parts of bench_learners.py: who takes part, what is measured of each, and how it is told."""

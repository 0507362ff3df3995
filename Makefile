# Every target makes the environment it needs. PYTHON chooses the interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-slow lint bench clean

demo: $(VENV)/.demo
	$(BIN)/lexicode demo --output demo

test: $(VENV)/.dev lint
	$(BIN)/python -m pytest -m "not slow"

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# VECTORS=FILE names the table; the README says where the published figures' table comes from.
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/bench_learners.py $(VECTORS)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[demo]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[dev]'
	touch $@

$(VENV)/.bench: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) demo dist .pytest_cache .mypy_cache .ruff_cache

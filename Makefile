# Every target makes the environment it needs. PYTHON chooses the interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-slow test-browser test-interop lint bench clean

demo: $(VENV)/.demo
	$(BIN)/lexicode demo --output demo

test: $(VENV)/.dev lint
	$(BIN)/python -m pytest -m "not slow"

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow

# The pages in Chromium; `make test` has these tests too, and skips them where there is none.
test-browser: $(VENV)/.dev
	@command -v chromedriver > /dev/null || { echo "Chromium and its driver are missing: apt-get install chromium chromium-driver"; exit 1; }
	$(BIN)/python -m pytest -m browser

# The libraries that others use, and the browser's ONNX runtime where npm is at hand.
test-interop: $(VENV)/.interop
	command -v npm > /dev/null && npm install --silent --prefix $(VENV)/node onnxruntime-web || true
	$(BIN)/python -m pytest -m "slow or not slow" tests/export tests/formats/test_gensim.py tests/formats/test_folders.py tests/agreement/test_onnx.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Without VECTORS=FILE: the demo's table. ROWS="faiss-lsq fast" names the rows to run, SCHEMES="32x16" the schemes,
# LIMIT=20000 takes the first rows of the table only, SIMILARITY=FOLDER has files of word pairs.
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/bench_learners.py $(VECTORS) $(if $(ROWS),--rows $(ROWS)) $(if $(SCHEMES),--schemes $(SCHEMES)) \
		$(if $(LIMIT),--limit $(LIMIT)) $(if $(SIMILARITY),--similarity $(SIMILARITY))

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[demo]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[dev]'
	touch $@

$(VENV)/.interop: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[dev,interop]'
	touch $@

$(VENV)/.bench: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) demo dist .pytest_cache .mypy_cache .ruff_cache

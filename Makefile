# Everything runs in .venv, which is made on the first call. Needs only make and Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What users install. The demo needs no more.
CORE := $(VENV)/.installed-core
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.DEFAULT_GOAL := help
.PHONY: demo test test-all lint docs bench evidence coverage clean help

demo: $(CORE)  ## fit the embedded record and write a report
	$(BIN)/lamina demo

test: $(STAMP)  ## run all tests except the long ones (about five minutes)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'not slow'

test-all: test  ## run all tests: first those of `make test`, then the long ones
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m slow

lint: $(STAMP)  ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMP)  ## build the documentation as a site, in site/
	$(PIP) '.[dev,nuts,docs]'
	$(BIN)/mkdocs build --strict

bench: $(STAMP)  ## time the engine, against its peers
	$(PIP) '.[dev,nuts,bench]'
	$(BIN)/python benchmarks/engine.py

evidence: $(STAMP)  ## run every benchmark and the paper again, and write every table of the docs (hours)
	$(PIP) '.[dev,nuts,bench]'
	$(BIN)/python benchmarks/evidence.py $(if $(AGAINST),--against $(AGAINST)) $(if $(TOOLS),--python $(TOOLS))

coverage: $(STAMP)  ## run the tests and show the lines they miss
	$(BIN)/python -m pytest --cov --cov-report=term

clean:  ## remove caches and build products, keep .venv
	rm -rf build dist site .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)

# pip is looked for, not python: a venv whose creation broke off has a python but no pip.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "lamina needs Python 3.11 or newer; '$(PYTHON) --version' says: $$($(PYTHON) --version 2>&1)" >&2; \
		echo "Name another one, for example: make PYTHON=python3.12 test" >&2; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml | $(BIN)/pip
	$(PIP) .
	@touch $@

$(STAMP): pyproject.toml | $(BIN)/pip
	$(PIP) '.[dev,nuts]'
	@touch $(CORE) $@

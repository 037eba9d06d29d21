# Everything a fresh machine needs is done by these targets; nothing is installed outside .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo test check bench clean

setup: $(STAMP)

# Redone only when what it installs from has changed.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"firstlight needs Python 3.11 or newer, $(PYTHON) is {v[0]}.{v[1]}; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --disable-pip-version-check --quiet -c constraints.txt -e '.[all]'
	@touch $@

demo: setup
	$(BIN)/firstlight demo

test: check
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/firstlight bench

clean:
	rm -rf .venv demo-output

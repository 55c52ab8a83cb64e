# `make` alone lists what there is. Everything runs in .venv, which is made when it is missing.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
export VENV

# Debian packages that tests need besides Python: installed when missing and when we may.
# Java is what Spark runs on; pages are tested in a browser, accounts on a database server.
TEST_PACKAGES := openjdk-17-jre-headless chromium postgresql

# What the wheelhouse is for: windows, or here (this machine), and the Python there.
TARGET ?= windows
TARGET_PYTHON ?= 3.11

# The folders with Python in them; benchmarks come and go with the checkout.
CODE := src tests scripts $(wildcard benchmarks)
PYTEST := $(BIN)/python -m pytest -W error -q

# How property tests search (tests/conftest.py): ci repeats itself exactly, dev does not.
HYPOTHESIS_PROFILE ?= ci
export HYPOTHESIS_PROFILE

# Tests start many programs, which begin sooner where Python keeps what it has compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: demo
demo: install ## Make the demo country, load it, publish tables of it
	@$(BIN)/sdcensus demo --out demo

.PHONY: serve
serve: install ## Open the table builder of the demo country in a browser (makes the demo if needed)
	@if [ ! -f demo/server.secret ] || [ ! -d demo/census.store ]; then $(BIN)/sdcensus demo --out demo; fi
	$(BIN)/sdcensus serve demo/census.store --policy demo/policy.toml --plan demo/plan.toml \
	    --secret demo/server.secret --state demo/sdcensus-server

.PHONY: install
install: ## Install into .venv what users need
	@scripts/install.sh user

.PHONY: install-dev
install-dev: ## Install into .venv what developers need as well
	@scripts/install.sh dev

.PHONY: system-packages
system-packages:
	@scripts/system.sh $(TEST_PACKAGES) || echo "Going on without; tests that need them are skipped."

.PHONY: test
test: system-packages install-dev ## Run every check and every test
	@$(MAKE) --jobs 3 lint layers types docs tests
	$(MAKE) newest

# At the same time as the checks, which leave processors idle. To prepare every assert for showing
# its values takes each worker a third of a minute; only those that fail need it.
SHOW_FAILED := echo "== What failed once more, with the values of its asserts"; \
    $(PYTEST) --last-failed --last-failed-no-failures none --maxfail 10 || true

.PHONY: tests
tests: install-dev
	@echo "== Tests and doctests"
	if ! $(PYTEST) -n auto --dist worksteal --assert=plain; then
	    $(SHOW_FAILED)
	    exit 1
	fi

.PHONY: check
check: install-dev ## Run the fast checks: all but slow tests and the documentation
	@$(MAKE) --jobs 3 lint layers types quick

# What stands in tests/slow.txt and tests/only_in_soak.txt, or is marked so, is left out.
.PHONY: quick
quick: install-dev
	@echo "== Fast tests and doctests"
	if ! $(PYTEST) -n auto --dist worksteal --assert=plain -m "not slow and not soak"; then
	    $(SHOW_FAILED)
	    exit 1
	fi

# It warns of more than our oldest Python does, such as of files and databases that stay open.
.PHONY: newest
newest: ## Run the fast tests with Python 3.13, where it is installed
	@if ! python3.13 -c '' >/dev/null 2>&1; then
	    echo "== Python 3.13 is not installed here: not tried"
	elif ! PYTHON=python3.13 VENV=.venv-3.13 scripts/install.sh dev; then
	    echo "== Python 3.13 cannot be set up here: not tried"
	else
	    $(MAKE) quick PYTHON=python3.13 VENV=.venv-3.13
	fi

.PHONY: lint
lint: install-dev ## Check style and formatting
	@echo "== Style"
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check . || { echo "Run make format."; exit 1; }

.PHONY: format
format: install-dev ## Format the code and mend what can be mended
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: types
types: install-dev ## Check types
	@echo "== Types"
	$(BIN)/mypy --strict --no-error-summary $(CODE)

.PHONY: layers
layers: install-dev ## Check that imports point down only
	@echo "== Layers"
	$(BIN)/lint-imports --no-logo

.PHONY: docs
docs: install-dev ## Build the documentation into site/
	@echo "== Documentation"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# New examples every day; SEED=20210321 make soak repeats those of another.
SEED ?= $(shell date -u +%Y%m%d)

.PHONY: soak
soak: HYPOTHESIS_PROFILE := soak
soak: install-dev ## Search with the property tests for much longer; run tests that take minutes
	@echo "== Property tests with the seed of the day: SEED=$(SEED) make soak repeats them"
	$(PYTEST) -n auto --dist worksteal -m "soak or hypothesis" --hypothesis-seed=$(SEED)

# Shown, not enforced: a line that a test runs through is not yet a line that a test holds.
.PHONY: coverage
coverage: install-dev ## Run every test and show which lines they go through, the fewest last
	@$(PYTEST) -n auto --dist worksteal --assert=plain --cov --cov-report=
	$(BIN)/coverage report --skip-covered --sort=-cover

.PHONY: bench
bench: install-dev ## Run the benchmarks
	@$(BIN)/python -m benchmarks

.PHONY: wheelhouse
wheelhouse: install-dev ## Write the zip for machines without a network (TARGET=windows or here)
	@$(BIN)/python scripts/wheelhouse.py --target $(TARGET) --python $(TARGET_PYTHON)

.PHONY: lock
lock: install-dev ## Write the lock files anew (UPGRADE=1: with the newest versions)
	@scripts/lock.sh $(if $(UPGRADE),--upgrade)

# Ends with code 3 where no advisory database can be reached: nothing was checked then.
.PHONY: audit
audit: install-dev ## Check the lock files for versions with known vulnerabilities
	@$(BIN)/python scripts/audit.py

.PHONY: house
house: install-dev ## Count packages, modules and lines of code
	@$(BIN)/python scripts/house.py

.PHONY: clean
clean: ## Remove what was built; .venv and demo stay
	@rm -rf build dist site wheelhouse* .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	    .import_linter_cache .benchmarks .coverage .coverage.* htmlcov
	find src tests scripts $(wildcard benchmarks) -name __pycache__ -prune -exec rm -rf {} +
	find src -maxdepth 1 -name '*.egg-info' -exec rm -rf {} +

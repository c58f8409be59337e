# Two commands do everything on a fresh Debian with Python 3.11: `make demo` and `make test`.
# The rest is for those who work on laneway. Each target sets up what it needs.

PYTHON ?= python3
VENV ?= .venv
PEERS ?= .venv-peers
ORACLES ?= .venv-oracles
BIN := $(VENV)/bin
ARGS ?=
SEED ?= 0
# A run uses both cores of a small machine; the slow tests start processes of their own.
JOBS ?= 2

export PYTHONHASHSEED := 0
# Bytecode is kept, whatever the machine says: a run starts hundreds of processes, and pytest rewrites
# eight hundred modules in each of its workers.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup demo test check fix cover mirror bench soak sim mutants docs serve clean
.DEFAULT_GOAL := help

.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make setup    the virtual environment with everything for development, benchmarks included
setup: $(VENV)/.dev

$(VENV)/.run: pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" sh scripts/setup.sh "$(VENV)" run

$(VENV)/.dev: pyproject.toml bench/pyproject.toml scripts/setup.sh tests/typeberry/package.json
	@PYTHON="$(PYTHON)" sh scripts/setup.sh "$(VENV)" dev

## make demo     contracts and EVM accounts, the worker killed again and again, proven from the chains
demo: $(VENV)/.run
	@$(BIN)/laneway demo $(ARGS)

## make test     everything, with fixed seeds; installs what it needs
test: $(VENV)/.dev $(PEERS)/.done $(ORACLES)/.done
	@sh scripts/test.sh "$(BIN)" "$(JOBS)"

## make check    format, lint, types, imports, tidy, unit tests, simulator S1: before every commit
check: $(VENV)/.dev
	@sh scripts/check.sh "$(BIN)" "$(JOBS)"

## make fix      format and mend what a tool can mend
fix: $(VENV)/.dev
	$(BIN)/ruff check --fix src bench tests scripts
	$(BIN)/ruff format src bench tests scripts

## make cover    branches: 100 % of the pure packages, 90 % overall
cover: $(VENV)/.dev
	@$(BIN)/python scripts/cover.py

## make mirror   each pure module covered by its own mirror test alone
mirror: $(VENV)/.dev
	@$(BIN)/python scripts/cover.py --mirror

## make sim      one world as a story: make sim SEED=7 ARGS="--layer s2"
sim: $(VENV)/.dev
	@$(BIN)/laneway sim --seed $(SEED) $(ARGS)

## make mutants  every mutation of tests/mutations.md fails a law or an assertion
mutants: $(VENV)/.dev
	@$(BIN)/python scripts/mutants.py $(ARGS)

## make soak     the full counts; resumable, one log under soak/
soak: $(VENV)/.dev $(PEERS)/.done $(ORACLES)/.done
	@$(BIN)/python scripts/soak.py $(ARGS)

## make bench    the benchmarks, with their peers in an environment of their own
bench: $(VENV)/.dev $(PEERS)/.done
	@$(BIN)/laneway bench contract $(ARGS)
	@$(BIN)/laneway bench door $(ARGS)
	@$(BIN)/laneway bench eoa $(ARGS)
	@$(BIN)/laneway bench evm $(ARGS)
	@$(BIN)/laneway bench sequence $(ARGS)
	@$(BIN)/laneway bench jam $(ARGS)
	@$(BIN)/laneway bench rollup $(ARGS)

$(PEERS)/.done: bench/peers/requirements.txt bench/peers/npm.txt scripts/setup.sh
	@PYTHON="$(PYTHON)" sh scripts/setup.sh "$(PEERS)" peers

$(ORACLES)/.done: tests/differential/requirements.txt scripts/setup.sh
	@PYTHON="$(PYTHON)" sh scripts/setup.sh "$(ORACLES)" oracles

## make docs     diagrams and references drawn from the code
docs: $(VENV)/.dev
	@$(BIN)/python scripts/docs.py

clean:
	rm -rf $(VENV) $(PEERS) $(ORACLES) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

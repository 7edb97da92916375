# Everything a contributor runs. `make` alone lists it.

PYTHON ?= python3
PYTEST_ARGS ?=
# How many processes share the tests. Those that measure time have the machine to themselves all the same.
TEST_PROCESSES ?= 2
DEMO_ARGS ?=
BENCH_ARGS ?=
CHAOS_ARGS ?=

BIN := .venv/bin
READY := .venv/.ready
# Only a Python that was asked for replaces a working .venv; a different default on PATH does not.
ASKED := $(if $(filter file,$(origin PYTHON)),,$(PYTHON))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.SECONDEXPANSION:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(READY) ## make .venv, or repair it (PYTHON=python3.12 picks the interpreter)
	@echo 'setup: .venv is ready'

# make sees that the stamp is there, not that the venv works; asked only when a target needs it.
$(READY): requirements/dev.txt pyproject.toml tests/node/package-lock.json $$(shell tools/setup.sh ok $(ASKED) || echo broken-venv)
	@tools/setup.sh build "$(PYTHON)" $(ASKED)

.PHONY: broken-venv
broken-venv:

.PHONY: demo
demo: $(READY) ## watch hundreds of jobs, and the proof (DEMO_ARGS="--jobs 1000")
	@$(BIN)/detent demo $(DEMO_ARGS)

.PHONY: test
test: $(READY) ## run the tests (PYTEST_ARGS="-k lease", TEST_PROCESSES=0 in one process)
	@$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal $(PYTEST_ARGS)

.PHONY: lint
lint: $(READY) ## check style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

.PHONY: format
format: $(READY) ## fix what lint can fix by itself
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

.PHONY: types
types: $(READY) ## check the types
	@$(BIN)/mypy

.PHONY: layers
layers: $(READY) ## check that each layer imports only those below it
	@$(BIN)/lint-imports --no-logo --no-cache

.PHONY: picture
picture: $(READY) ## draw the picture in the README anew
	@$(BIN)/python tools/make_picture.py

.PHONY: docs
docs: $(READY) ## write the generated pages anew
	@$(BIN)/python -m tools.generate_docs
	@$(BIN)/python tools/anchor.py

.PHONY: docs-check
docs-check: $(READY) ## check that the generated pages are current
	@$(BIN)/python -m tools.generate_docs --check

.PHONY: requirements
requirements: $(READY) ## show which test shows which requirement
	@$(BIN)/python tools/requirements.py

# In this order, so that the quick ones fail first and the last lines are pytest's.
.PHONY: check
check: lint types layers docs-check requirements test ## all of the above, as CI does

.PHONY: bench
bench: $(READY) ## measure the kernel, the store and the service (BENCH_ARGS="--history 1000000")
	@$(BIN)/python tools/bench_kernel.py
	@env -u DETENT_URL $(BIN)/detent bench
	@env -u DETENT_URL $(BIN)/detent bench --http
	@$(BIN)/python tools/bench_store.py $(BENCH_ARGS)

.PHONY: chaos
chaos: $(READY) ## kill, pause and crowd processes on each store (CHAOS_ARGS="--store postgresql kills")
	@$(BIN)/python -m tools.chaos $(CHAOS_ARGS)

# New examples each time, so many times as many as `make test` tries; a failure says how to bring it back.
EXPLORE_TIMES ?= 10
.PHONY: explore
explore: $(READY) ## try properties on many more examples, new ones each time (EXPLORE_TIMES=100)
	@DETENT_EXPLORE_TIMES=$(EXPLORE_TIMES) $(BIN)/python -m pytest -m hypothesis -n $(TEST_PROCESSES) $(PYTEST_ARGS)

FUZZ_ARGS ?=
.PHONY: fuzz
fuzz: $(READY) ## ask the service 20,000 things that its description allows or forbids (FUZZ_ARGS="--seed 7")
	@$(BIN)/python -m tools.fuzz_http $(FUZZ_ARGS)

# Locked with the oldest supported Python, so that no backport is missing there; and from the ordinary
# registry alone, so that a machine's own mirrors and wheels leave no trace in the hashes.
LOCK := env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND="make lock"
.PHONY: lock
lock: $(READY) ## pin the newest versions in requirements/dev.txt
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "Lock with Python 3.11: make lock PYTHON=python3.11")'
	@$(LOCK) $(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
	    --output-file requirements/dev.txt pyproject.toml requirements/dev.in

.PHONY: clean
clean: ## remove .venv, caches and built packages
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

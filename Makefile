# How Plait is installed, run, checked and tested. `make help` lists the targets.
# pip finds its index as the environment says: no address stands here or in the locks.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JARS := service/plait/localdb

# The first Python of these that runs and is new enough; `make install PYTHON=…` names another.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)

.DEFAULT_GOAL := help
.PHONY: help install serve test check bench schema lock

help: ## List the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

install: $(STAMP) ## Make .venv from the locks, and bring the jars of Neo4j

$(STAMP): requirements-dev.lock pyproject.toml $(JARS)/jgo.lock.toml
	@test -n "$(PYTHON)" || { echo "Plait needs Python 3.11 or newer; name one with PYTHON=…" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing packages into $(VENV), which takes a minute or two"
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/plait fetch-neo4j
	@touch $@

serve: $(STAMP) ## Run the service, with a Neo4j of its own unless PLAIT_NEO4J_URI names one
	$(BIN)/plait serve

test: $(STAMP) ## Run every test; ARGS="-k name" picks some
	$(BIN)/python -m pytest $(ARGS)

check: $(STAMP) ## Style, types, import contract, and whether schema.graphql is fresh
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/plait export-schema | diff -u schema.graphql - || { echo "schema.graphql is stale: make schema" >&2; exit 1; }

bench: $(STAMP) ## Run the benchmarks
	$(BIN)/python -m bench $(ARGS)

schema: $(STAMP) ## Write schema.graphql
	$(BIN)/plait export-schema > schema.graphql.new
	mv schema.graphql.new schema.graphql

# uv reads its own settings (UV_…) for where the index is.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" $(ARGS)

lock: $(STAMP) ## Write the locks anew; ARGS="--upgrade" takes newer versions
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) pyproject.toml --extra dev -c requirements.lock -o requirements-dev.lock
	echo hatchling | $(COMPILE) - -c requirements-dev.lock -o requirements-build.lock
	cd $(JARS) && $(CURDIR)/$(BIN)/jgo lock

# `make run` shows what bough does; `make test` proves it. Both install what they need into .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready

.PHONY: run test lint fix docs site wheel release pictures bench soak suites programs clean

# A conversation with a real model, kept in .venv: no key, and nothing of the user's is touched.
run: export BOUGH_DB = $(CURDIR)/$(VENV)/first.db
run: export BOUGH_CACHE = $(CURDIR)/$(VENV)/weights
run: $(INSTALLED)
	$(BIN)/bough local install
	$(BIN)/bough run --new --model local "Name three trees. Only their names."
	$(BIN)/bough run --continue "Which of them grows tallest?"
	$(BIN)/bough tree

test: $(READY) lint
	$(BIN)/cog --check $(DOCS)
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)
	$(BIN)/python -m bough.db.postgres.namespaces
	$(BIN)/python -m scripts.share
	$(BIN)/cog -r $(DOCS)

# The manual as a site, in `site`; a broken link is an error.
site: $(READY)
	$(BIN)/mkdocs build --strict

wheel: $(READY)
	$(BIN)/python -m scripts.release build check

# The release checklist; it publishes nothing.
release: $(READY)
	$(BIN)/python -m scripts.release

# The screens of docs/terminal.md.
pictures: $(READY)
	$(BIN)/python -m tests.cli.browser.pictures

# `make bench PEERS=1` measures other stores of conversations in the same run.
bench: $(READY) $(if $(PEERS),$(VENV)/.peers)
	$(BIN)/python -m bench $(if $(PEERS),--peers)

# The suites of the SDKs that there are adapters for, each in an environment of its own. The network is needed.
suites: $(READY)
	$(BIN)/python -m suites

soak: $(READY) $(VENV)/.clients
	$(BIN)/python -m pytest -m soak

# Installs the programs from npm and PyPI into $$BOUGH_PROGRAMS, else into ~/.cache/bough-programs.
programs: $(READY)
	$(BIN)/python -m pytest -m programs -n 1

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

DOCS := ARCHITECTURE.md docs/schema.md docs/model.md docs/configuration.md docs/cli.md docs/providers.md docs/formats.md docs/reference/library.md docs/reference/aio.md docs/reference/agent.md docs/reference/errors.md docs/reference/routes.md

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	touch $@

$(READY): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(VENV)/.peers: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[peers]'
	touch $@

# Other clients of chat services. Their requirements are narrow, so they are not part of the extra `test`.
$(VENV)/.clients: $(READY)
	$(BIN)/python -m pip install --quiet 'hikari>=2.4' 'python-telegram-bot>=22'
	touch $@

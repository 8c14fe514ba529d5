# Everything a person or CI does here. `make help` lists it; variables: VENV, ENGINE, PYTHON, K (a pytest -k expression).
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV ?= .venv
ENGINE ?= 1
export VENV ENGINE
BIN := $(abspath $(VENV))/bin
PY := $(BIN)/python
PYTEST := $(BIN)/pytest $(if $(K),-k "$(K)")
SUITES := $(wildcard tests/unit tests/integration tests/engine tests/architecture tests/e2e)
# What a check writes goes here, never into the data of a running installation.
SCRATCH := NEKIBU_STATE=$(CURDIR)/.state/check
STATIC := nekibu/web/static/nekibu
SHEET := $(BIN)/tailwindcss -i nekibu/web/assets/app.css --minify

.PHONY: help setup run status test unit integration engine architecture e2e gpu check format bench css charts messages lock schema docs

help: ## This list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Debian packages, virtual environment, this checkout in it, messages (ENGINE=0 leaves the engine out)
	@scripts/setup.sh

run: setup ## Start everything on embedded services; Ctrl-C stops everything
	@exec $(PY) -m nekibu.embedded.run

status: ## What runs on this state directory
	@$(PY) -m nekibu.embedded.run --status || true

test: setup ## Every test that needs no GPU
	$(PYTEST) $(SUITES)

unit: setup ## Tests without database or network
	$(PYTEST) tests/unit

integration: setup ## Tests on a throw-away PostgreSQL and Valkey, with the fake engine
	$(PYTEST) tests/integration

engine: setup ## Tests of SGLang on the CPU with the packaged model
	$(PYTEST) tests/engine

architecture: setup ## Walks over every address, permission, tenant border and process border
	$(PYTEST) tests/architecture

e2e: setup ## Whole journeys in a headless browser
	$(PYTEST) tests/e2e

gpu: setup ## Tests that need an NVIDIA device; they skip with a sentence where there is none
	$(PYTEST) tests/gpu

check: setup ## What CI runs before the tests: format, lint, types, imports, templates, migrations, messages, API, built files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy nekibu inference ats
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet
	$(SCRATCH) $(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(PY) scripts/messages.py --check
	for file in locale/*/LC_MESSAGES/django.po; do msgfmt --check-format --check-domain -o /dev/null $$file; done
	$(SCRATCH) $(PY) manage.py spectacular --validate --fail-on-warn --file .state/check/openapi.yaml
	$(SHEET) -o .state/check/app.css 2>/dev/null
	cmp .state/check/app.css $(STATIC)/app.css || { echo "The sheet is not built from its sources: make css"; exit 1; }
	$(PY) scripts/check_links.py

format: setup ## Format Python and sort its imports
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --select I .

bench: setup ## Every benchmark; one: python -m benchmarks NAME
	$(PY) -m benchmarks --all

css: setup ## Build the style sheet and the icons; both are committed
	$(SHEET) -o $(STATIC)/app.css
	$(PY) nekibu/web/assets/sprite.py

charts: ## Bundle the parts of ECharts that pages use (needs Node); committed, so users need none
	cd nekibu/web/assets/charts && npm ci --no-audit --no-fund && npm run build
	cd nekibu/web/assets/charts && cp node_modules/echarts/LICENSE node_modules/echarts/NOTICE $(CURDIR)/$(STATIC)/vendor/echarts/

messages: setup ## Bring locale/ up to date with the texts in the sources; then translate what is new
	$(PY) scripts/messages.py

lock: setup ## Resolve the versions again, the core lock as a subset of the whole
	$(BIN)/uv pip compile --python-version 3.11 --no-header pyproject.toml --extra dev --extra engine -o requirements.lock
	$(BIN)/uv pip compile --python-version 3.11 --no-header pyproject.toml --extra dev -c requirements.lock -o requirements-core.lock

schema: setup ## Write the OpenAPI description to docs/openapi.yaml
	$(SCRATCH) $(PY) manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

docs: setup ## Check that every relative link in README, CONTRIBUTING and docs/ leads somewhere
	$(PY) scripts/check_links.py

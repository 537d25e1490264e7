# The two commands of the README are `make demo` and `make test`; each makes what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
SOURCES := crosspath.py app agents anchor aggregators domains evaluation simulator benchmarks examples tests
PYTEST_ARGS ?= -m "not slow"

.PHONY: demo test serve lint format bench chaos up oracles peers lock clean

demo: $(VENV)/.service  ## one real decision over HTTP, printed
	@$(BIN)/python -m app.demo

serve: $(VENV)/.service  ## the HTTP service on 127.0.0.1:8000
	@$(BIN)/crosspath serve

test: $(VENV)/.dev  ## every test but the slow ones (CI runs those too)
	@$(BIN)/pytest -n 4 --dist loadfile $(PYTEST_ARGS)

lint: $(VENV)/.dev  ## format, lint, types, arrows
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: $(VENV)/.dev  ## rewrite the sources in the one format
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)

bench: $(VENV)/.dev  ## how fast and how cheap: every figure measured and judged
	@$(BIN)/python -m benchmarks.speed

chaos: $(VENV)/.dev  ## what happens when things die: every figure measured and judged
	@$(BIN)/python -m benchmarks.chaos

up:  ## service, Redis and the stand-in in containers
	docker compose up --build --wait

oracles: $(VENV)/.service  ## remake the fixtures that other libraries' answers are kept in
	@$(PYTHON) -m venv $(VENV)-oracles
	@$(VENV)-oracles/bin/pip --disable-pip-version-check --quiet install pref-voting==1.18.2 nashpy
	@PYTHONPATH=. $(VENV)-oracles/bin/python -m benchmarks.oracles

peers:  ## the frameworks that `make bench` measures the service beside, in an environment of their own
	@$(PYTHON) -m venv $(VENV)-peers
	@$(VENV)-peers/bin/pip --disable-pip-version-check --quiet install openai litellm langgraph langchain-openai

# The extras stay in the lock: without them an older pip looks past the pin for the newest release.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url \
	--no-annotate --no-header --quiet pyproject.toml --group build

lock:  ## resolve the dependencies anew (needs uv on PATH)
	$(LOCK) -o locks/service.txt
	$(LOCK) --extra distributed -c locks/service.txt -o locks/image.txt
	$(LOCK) --group dev -c locks/service.txt -o locks/dev.txt

clean:
	rm -rf $(VENV) $(VENV)-oracles $(VENV)-peers .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit("Crosspath needs Python 3.11 or newer; this is " + sys.version.split()[0] \
		+ ". Name another with: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.service: locks/service.txt pyproject.toml | $(BIN)/pip
	@echo "Installing the locked dependencies into $(VENV) ..."
	@$(PIP) install --require-hashes -r locks/service.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: locks/dev.txt $(VENV)/.service
	@echo "Installing what the tests need into $(VENV) ..."
	@$(PIP) install --require-hashes -r locks/dev.txt
	@touch $@

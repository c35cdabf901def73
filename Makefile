# Everything there is to do here. `make` lists what most need, `make help-all` all of it. Needs bash, Python 3.11 to 3.13, make, gcc and node 20 (for pyright).

.DEFAULT_GOAL := help
.PHONY: help help-all setup run demo screenshots test test-all neighbours check bench bench-http bench-mcp bench-soak bench-docs bench-console bench-overload bench-growth lighthouse bench-directory bench-strategy bench-people bench-rehearsal bench-terms bench-memory bench-speech bench-teleprompter wrk dist install-check server-check container-check machines-check fresh-check conformance files-entered fuzz faults hosts docs fix clean bench-engines bench-scale two-machines

# Python may keep what it compiled: the tests start hundreds of processes of five hundred modules.
export PYTHONDONTWRITEBYTECODE :=

FITS := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do $$p -c '$(FITS)' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/ready
PIP := $(BIN)/pip --disable-pip-version-check install -qq --no-deps
# A benchmark's tables are printed, and kept in .bench/tables.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
TABLE = { mkdir -p .bench/tables && tee .bench/tables/$(@:bench-%=%).md; }
LOADS = $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS))

# What newcomers need has two marks (##), the rest three.
help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*[^#]## \(.*\)/  \1\t\2/p' Makefile | expand -t 22

help-all: ## Show every target
	@sed -n 's/^\([a-z-]*\):.*[^#]###* \(.*\)/  \1\t\2/p' Makefile | expand -t 22

setup: $(READY) ## Make .venv from requirements.lock, if that changed

run: $(READY) ## Serve on http://127.0.0.1:8000
	@$(BIN)/negotiator serve

demo: $(READY) ## Tell one negotiation on a server of its own, half a minute
	@$(BIN)/negotiator demo

screenshots: $(READY) neighbours ### Take a picture of each page, light and dark, wide and narrow
	$(BIN)/python -m tests.live.console.screenshots

test: $(READY) neighbours ## Run the tests of the quick lane, in parallel
	@$(BIN)/pytest -n 2 --dist worksteal --quick

test-all: $(READY) neighbours ## Run every test with all examples, in parallel
	@$(BIN)/pytest -n 2 --dist worksteal

neighbours: $(READY)
	@$(BIN)/python -m tests.helpers.neighbours

check: $(READY) ## Formatting, lint, types, floors, fresh docs, schemas: everything but tests
	$(BIN)/ruff format --check && $(BIN)/ruff check && $(BIN)/pyright && $(BIN)/lint-imports
	$(BIN)/python -m docs.generate --check
	$(BIN)/pytest -q --durations=0 --durations-min=60 tests/house/test_tools.py
	$(BIN)/python -m tests.live.openapi.lint

bench: bench-http bench-mcp bench-directory bench-memory bench-terms bench-people bench-console bench-speech bench-teleprompter ## Measure beside the peers; the tables go to .bench/tables: ROUNDS=5 SECONDS=4

bench-http: $(READY) .bench/peers/ready wrk ### Measure HTTP beside a ceiling and four peers: ROUNDS=5 SECONDS=4
	npm ci --silent --prefix tests/bench/node
	$(BIN)/python -m tests.bench.http $(LOADS) | $(TABLE)

bench-mcp: $(READY) wrk ### Measure tool calls beside HTTP and the SDK's own server: ROUNDS=5 SECONDS=4
	$(BIN)/python -m tests.bench.mcp $(LOADS) | $(TABLE)

bench-soak: $(READY) ### Send mixed requests for MINUTES=60; memory, open files and p99 a minute, and their slopes
	$(BIN)/python -m tests.bench.soak $(if $(MINUTES),--minutes $(MINUTES)) | $(TABLE)

bench-console: $(READY) ### Measure each page beside the API operations that it runs
	$(BIN)/python -m tests.bench.console | $(TABLE)

bench-directory: $(READY) wrk ### Measure reading and searching the catalogue beside a bare endpoint: ROUNDS=5 SECONDS=4
	{ $(BIN)/python -m tests.bench.directory $(LOADS) && \
	$(BIN)/python -m tests.bench.directory --sizes 1000 --meaning $(LOADS); } | $(TABLE)

bench-growth: $(READY) wrk ### Measure requests and the housekeeping over 10⁴, 10⁵ and 10⁶ rows in each table, on both engines
	$(BIN)/python -m tests.bench.growth | $(TABLE)

bench-engines: $(READY) wrk ### Measure the CPU of requests on PostgreSQL with Redis beside SQLite: ROUNDS=5 SECONDS=4
	$(BIN)/python -m tests.bench.engines $(LOADS) | $(TABLE)

bench-scale: $(READY) neighbours ### Measure two machines by rows, workers and engine (as root, hours): SCALE="--sizes 10000 --tokens 0 --workers 1", SOAK=10
	{ $(BIN)/python -m tests.bench.scale $(SCALE) && \
	$(BIN)/python -m tests.bench.scale $(SCALE) --engines postgresql --soak $(or $(SOAK),10); } | $(TABLE)

bench-docs: $(READY) ### Put the tables of .bench/tables into docs/benchmarks, and draw the chart of the README
	$(BIN)/python -m tests.bench.paste && $(BIN)/python -m docs.generate

wrk:
	@{ command -v wrk && command -v taskset; } >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends wrk util-linux; }
	@{ command -v wrk && command -v taskset; } >/dev/null || { echo "The programs wrk and taskset are needed (Debian: wrk, util-linux)." >&2; exit 1; }

# The locks are made from the .in files beside them, as tests/live/hosts/run.py says; that of memory with -c requirements.lock.
.bench/%/ready: tests/bench/%.lock
	$(PYTHON) -m venv .bench/$*
	.bench/$*/bin/pip --disable-pip-version-check install -q --no-deps --require-hashes -r $< && touch $@

bench-overload: $(READY) ### Measure what 320 and 2,000 clients get beside 32, on SQLite and on PostgreSQL with Redis
	{ $(BIN)/python -m tests.bench.overload && $(BIN)/python -m tests.bench.overload --workers 2 && \
	$(BIN)/python -m tests.bench.overload --workers 2 --engine postgresql; } | $(TABLE)

conformance: $(READY) ### Run MCP's official suite, its Inspector and mcp-remote against a server
	npm ci --silent --prefix tests/live/conformance
	$(BIN)/python -m tests.live.conformance.run

lighthouse: $(READY) neighbours ### Audit ten pages with Lighthouse
	npm ci --silent --prefix tests/live/lighthouse
	$(BIN)/python -m tests.live.lighthouse.run

hosts: $(READY) .hosts/mcp-1/ready .hosts/mcp-2/ready ### Run agent frameworks and Claude Code against a server, as their guides say
	npm ci --silent --prefix tests/live/hosts
	$(BIN)/python -m tests.live.hosts.run

.hosts/%/ready: tests/live/hosts/%.lock
	$(PYTHON) -m venv .hosts/$*
	.hosts/$*/bin/pip --disable-pip-version-check install -q --no-deps --require-hashes -r $< && touch $@

bench-strategy: $(READY) .bench/negotiation/ready ### Rank the next move against public negotiators (hours)
	{ $(BIN)/python -m tests.bench.next_move && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .bench/negotiation/bin/python -W ignore -m tests.bench.negotiation.strategy; } | $(TABLE)

bench-people: $(READY) ### Haggle with scripted people over twenty cases: deals, room got, concessions taken back, forecast
	{ $(BIN)/python -m tests.bench.haggling.measure && $(BIN)/python -m tests.bench.haggling.measure --no-end && \
	$(BIN)/python -m tests.quality.haggling.measure_forecast; } | $(TABLE)

bench-rehearsal: $(READY) ### Rehearse with five players of known strength: whether the score measures; then with users like people
	{ $(BIN)/python -m tests.bench.rehearsal.measure && $(BIN)/python -m tests.bench.rehearsal.realism; } | $(TABLE)

bench-terms: $(READY) ### Measure storing and loading the terms of a negotiation, and assessing its leverage
	{ $(BIN)/python -m tests.bench.stored_terms && $(BIN)/python -m tests.bench.leverage; } | $(TABLE)

bench-memory: $(READY) .bench/memory/complete ### Measure recall: how good, how fast, beside chromadb and lancedb
	{ $(BIN)/python -m tests.quality.memory.measure_questions && $(BIN)/python -m tests.bench.embedding && \
	OPENBLAS_NUM_THREADS=1 .bench/memory/bin/python -m tests.bench.memory; } | $(TABLE)

# Beside the peers our index is measured too, so their environment has our packages as well.
.bench/memory/complete: .bench/memory/ready requirements.lock
	.bench/memory/bin/pip --disable-pip-version-check install -q --no-deps --require-hashes -r requirements.lock && touch $@

bench-speech: $(READY) neighbours ### Measure the embedded recognisers on people: words wrong, delay, CPU, clean and in noise
	$(BIN)/python -m tests.bench.speech | $(TABLE)

bench-teleprompter: $(READY) neighbours ### Measure words and sound to a card, over real sockets
	{ OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.utterance && $(BIN)/python -m tests.bench.teleprompter; } | $(TABLE)

files-entered: $(READY) ### Count the files and functions of the package that each kind of request enters
	$(BIN)/pytest -q -s --durations=0 --durations-min=60 tests/house/test_files_entered.py

fuzz: $(READY) ### Send made-up inputs to parsers, application and server; PART=parsers SEED=7 INPUTS=20000, goes on from .fuzz
	$(BIN)/python -m tests.live.fuzz.run $(if $(PART),--part $(PART)) $(if $(SEED),--seed $(SEED)) $(if $(INPUTS),--inputs $(INPUTS)) $(if $(AT),--at $(AT))

faults: $(READY) neighbours ### Kill, stop and starve a server and its neighbours under load: ROWS="worker-kill ...", SMALL=1, ROUNDS=200
	@$$(test "$$(id -u)" != 0 || echo unshare --mount) $(BIN)/python -m tests.live.faults.run $(if $(SMALL),--small) $(if $(ROUNDS),--rounds $(ROUNDS)) $(ROWS)

two-machines: $(READY) neighbours ### Run the suites of API and contract over two machines on PostgreSQL and Redis (as root): TESTS=tests/api/agents
	$(BIN)/python -m pytest -q -p no:randomly -p tests.live.two_machines.suites $(or $(TESTS),tests/api tests/contract --ignore tests/contract/cli --ignore tests/contract/discovery/test_generated_requests.py)

docs: $(READY) ## Write docs/reference from the code
	$(BIN)/python -m docs.generate

dist: $(READY) ### Build sdist, wheel and the lock of a server in dist/
	$(BIN)/python -m deploy.package

install-check: dist ### Install the wheel from the registry on every Python found here, and use it
	$(BIN)/python -m tests.live.deploy.install_check dist

server-check: dist ### Boot a Debian with systemd, run the guide "On a server" on it, and use what it installed (as root)
	$(BIN)/python -m tests.live.deploy.server_check dist

container-check: $(READY) ### Lint, build and run the container image with buildah and podman (as root)
	$(BIN)/python -m tests.live.deploy.container_check

machines-check: $(READY) neighbours ### Run two servers as the compose files do, in networks and roots of their own; restart both under load (as root)
	$(BIN)/python -m tests.live.deploy.machines_check

fresh-check: $(READY) ### Clone into an empty Debian as a new user: make run to first advice, with times (as root)
	$(BIN)/python -m tests.live.deploy.fresh_check

fix: $(READY) ## Format, and mend what lint can mend
	$(BIN)/ruff format && $(BIN)/ruff check --fix

clean: ## Remove what was made here; var/ and keys/ stay
	rm -rf .venv .hosts .bench build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed." >&2; exit 1; }
	@echo "Installing $$(grep -c '^[A-Za-z0-9].*==' requirements.lock) packages, about a minute"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-build-isolation -e . && touch $@

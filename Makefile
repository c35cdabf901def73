# Everything there is to do here. `make` alone lists it. Needs Python 3.11 to 3.13, make, gcc and node 20 (for pyright).

.DEFAULT_GOAL := help
.PHONY: help setup run demo screenshots test browser voice proxies faketime check bench bench-http bench-console bench-overload bench-growth lighthouse bench-directory bench-strategy bench-people bench-rehearsal bench-memory bench-speech bench-teleprompter dist install-check server-check container-check fresh-check conformance files-entered fuzz faults hosts docs fix clean

# Python may keep what it compiled: the tests start hundreds of processes of five hundred modules.
export PYTHONDONTWRITEBYTECODE :=

FITS := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do $$p -c '$(FITS)' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/ready
PIP := $(BIN)/pip --disable-pip-version-check install -qq --no-deps
SHARED ?= ../shared/bench

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 22

setup: $(READY) ## Make .venv from requirements.lock, if that changed

run: $(READY) ## Serve on http://127.0.0.1:8000
	@$(BIN)/negotiator serve

demo: $(READY) ## Tell one negotiation on a server of its own, half a minute
	@$(BIN)/negotiator demo

screenshots: $(READY) browser ## Take a picture of each page, light and dark, wide and narrow
	$(BIN)/python -m tests.live.console.screenshots

test: $(READY) browser voice proxies ## Run every test, in parallel
	@$(BIN)/pytest -n 2 --dist worksteal

browser:
	@test -x /usr/bin/chromium-headless-shell || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium-headless-shell; } || \
	test -x /usr/bin/chromium

voice:
	@{ command -v flite && test -d /usr/share/pocketsphinx/test/data; } >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends flite pocketsphinx-testdata; }

# Where systemd runs, the packages would start both proxies as services: install them yourself.
proxies:
	@{ test -x /usr/sbin/nginx && command -v caddy; } >/dev/null || test -d /run/systemd/system || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends nginx-light caddy; }

faketime:
	@ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends faketime; }

check: $(READY) ## Formatting, lint, types, floors, fresh docs, schemas: everything but tests
	$(BIN)/ruff format --check && $(BIN)/ruff check && $(BIN)/pyright && $(BIN)/lint-imports
	$(BIN)/python -m docs.generate --check
	$(BIN)/pytest -q --durations=0 --durations-min=60 tests/house/test_tools.py
	$(BIN)/python -m tests.live.openapi.lint

bench: bench-http bench-directory bench-memory bench-speech bench-teleprompter ## Measure beside the peers; docs/benchmarks.md has the tables

bench-http: $(READY) ## Measure HTTP and MCP beside a ceiling and a peer
	npm ci --silent --prefix tests/bench/node
	$(BIN)/python -m tests.bench.http --shared $(SHARED)/http --modules tests/bench/node
	$(BIN)/python -m tests.bench.mcp

bench-console: $(READY) ## Measure each page beside the API operations that it runs
	$(BIN)/python -m tests.bench.console

bench-directory: $(READY) ## Measure reading and searching the catalogue beside a bare endpoint
	$(BIN)/python -m tests.bench.directory
	$(BIN)/python -m tests.bench.directory --sizes 1000 --meaning

bench-growth: $(READY) ## Measure requests and the housekeeping over 10⁴, 10⁵ and 10⁶ rows in each table, on both engines
	$(BIN)/python -m tests.bench.growth

bench-overload: $(READY) ## Measure what 320 and 2,000 clients get beside 32, on SQLite and on PostgreSQL with Redis
	$(BIN)/python -m tests.bench.overload
	$(BIN)/python -m tests.bench.overload --workers 2
	$(BIN)/python -m tests.bench.overload --workers 2 --engine postgresql

conformance: $(READY) ## Run MCP's official suite, its Inspector and mcp-remote against a server
	npm ci --silent --prefix tests/live/conformance
	$(BIN)/python -m tests.live.conformance.run

lighthouse: $(READY) browser ## Audit ten pages with Lighthouse
	npm ci --silent --prefix tests/live/lighthouse
	$(BIN)/python -m tests.live.lighthouse.run

hosts: $(READY) .hosts/mcp-1/ready .hosts/mcp-2/ready ## Run agent frameworks and Claude Code against a server, as their guides say
	npm ci --silent --prefix tests/live/hosts
	$(BIN)/python -m tests.live.hosts.run

.hosts/%/ready: tests/live/hosts/%.lock
	$(PYTHON) -m venv .hosts/$*
	.hosts/$*/bin/pip --disable-pip-version-check install -q --no-deps --require-hashes -r $< && touch $@

bench-strategy: $(READY) ## Rank the next move against the public negotiators
	$(BIN)/python -m tests.bench.next_move
	$(BIN)/python tests/bench/negotiation/strategy.py $(SHARED)/negotiation/negmas_harness.py --advisor strategy_advisor:advise

bench-people: $(READY) ## Haggle with scripted people over twenty cases: deals, room got, concessions taken back, forecast
	$(BIN)/python -m tests.bench.haggling.measure
	$(BIN)/python -m tests.bench.haggling.measure --no-end
	$(BIN)/python -m tests.quality.haggling.measure_forecast

bench-rehearsal: $(READY) ## Rehearse with five players of known strength: whether the score measures; then with users like people
	$(BIN)/python -m tests.bench.rehearsal.measure
	$(BIN)/python -m tests.bench.rehearsal.realism

bench-memory: $(READY) ## Measure recall: how good, how fast, beside chromadb and lancedb where they are installed
	$(BIN)/python -m tests.quality.memory.measure_questions
	$(BIN)/python -m tests.bench.embedding
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.memory

bench-speech: $(READY) voice ## Measure the embedded recognisers on people: words wrong, delay, CPU, clean and in noise
	$(BIN)/python -m tests.bench.speech

bench-teleprompter: $(READY) voice ## Measure words and sound to a card, over real sockets
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.utterance
	$(BIN)/python -m tests.bench.teleprompter

files-entered: $(READY) ## Count the files and functions of the package that each kind of request enters
	$(BIN)/pytest -q -s --durations=0 --durations-min=60 tests/house/test_files_entered.py

fuzz: $(READY) ## Send made-up inputs to parsers, application and server; PART=parsers SEED=7 INPUTS=20000, goes on from .fuzz
	$(BIN)/python -m tests.live.fuzz.run $(if $(PART),--part $(PART)) $(if $(SEED),--seed $(SEED)) $(if $(INPUTS),--inputs $(INPUTS)) $(if $(AT),--at $(AT))

faults: $(READY) proxies faketime ## Kill, stop and starve a server and its neighbours under load: ROWS="worker-kill ...", SMALL=1, ROUNDS=200
	@$$(test "$$(id -u)" != 0 || echo unshare --mount) $(BIN)/python -m tests.live.faults.run $(if $(SMALL),--small) $(if $(ROUNDS),--rounds $(ROUNDS)) $(ROWS)

docs: $(READY) ## Write docs/reference from the code
	$(BIN)/python -m docs.generate

dist: $(READY) ## Build sdist, wheel and the lock of a server in dist/
	$(BIN)/python -m deploy.package

install-check: dist ## Install the wheel from the registry on every Python found here, and use it
	$(BIN)/python -m tests.live.deploy.install_check dist

server-check: dist ## Boot a Debian with systemd, run the guide "On a server" on it, and use what it installed (as root)
	$(BIN)/python -m tests.live.deploy.server_check dist

container-check: $(READY) ## Lint, build and run the container image with buildah and podman (as root)
	$(BIN)/python -m tests.live.deploy.container_check

fresh-check: $(READY) ## Clone into an empty Debian as a new user: make run to first advice, with times (as root)
	$(BIN)/python -m tests.live.deploy.fresh_check

fix: $(READY) ## Format, and mend what lint can mend
	$(BIN)/ruff format && $(BIN)/ruff check --fix

clean: ## Remove what was made here; var/ and keys/ stay
	rm -rf .venv .hosts build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed." >&2; exit 1; }
	@echo "Installing $$(grep -c '^[A-Za-z0-9].*==' requirements.lock) packages, about a minute"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-build-isolation -e . && touch $@

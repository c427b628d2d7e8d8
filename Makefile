# `make` lists the targets. Each sets up what it needs; Python 3.11, make and a network are enough to begin with.
PYTHON ?= python3
RUN := .venv/bin/python

# Prints the verdict of a target as its last line and passes its exit code on.
verdict = && echo "make $@: passed" || { code=$$?; echo "make $@: FAILED" >&2; exit $$code; }

.DEFAULT_GOAL := help
.PHONY: help setup setup-browser demo test dev check bench

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

setup: ## Make .venv with everything in it (done by the other targets, again only after a change of uv.lock)
	@$(PYTHON) .ci/bootstrap.py

setup-browser: setup ## Find or install the browser of the browser tests
	@$(RUN) .ci/browser.py

demo: setup ## Run the demonstration: real servers, a scripted model, faults, and what came of them
	@$(RUN) -m examples.demo $(verdict)

dev: setup ## Start everything on this machine and stay; ARGS="--port 8080" for options
	@$(RUN) -m worker.dev $(ARGS)

# Most tests wait for real servers, so four files at a time take half as long as one, also on two cores.
test: setup ## Run all tests; ARGS="-k approval" for some
	@browser="$$($(RUN) .ci/browser.py)" && CHROMIUM="$$browser" $(RUN) -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(ARGS) $(verdict)

check: setup ## Lint, formatting, types and the import rule
	@($(RUN) -m ruff check && $(RUN) -m ruff format --check && $(RUN) -m mypy && .venv/bin/lint-imports) $(verdict)

# A time is no test: it depends on the machine and on what else runs there.
bench: setup ## Measure what the gate and durability cost, ARGS="durable --short" for less, or ARGS=waiting; into docs/bench
	@$(RUN) -m tests.bench $(ARGS) $(verdict)

# Its own last line is the verdict.
.PHONY: faults
faults: setup ## Run real processes under kill -9, pauses and lost replies, and judge; N=1000 SEED=7 ARGS="--report docs/chaos.md"
	@$(RUN) -m tests.chaos --operations $(or $(N),100) $(if $(SEED),--seed $(SEED)) $(ARGS)

# Its own last line is the verdict too.
.PHONY: recorded
recorded: setup ## Read and answer exchanges that were recorded at providers, and say what is lost; RECORDED=<folder of *.jsonl>
	@$(RUN) -m tests.recorded $(or $(RECORDED),$(error say where they are: make recorded RECORDED=<folder of *.jsonl>))

# Its own last line is the verdict.
.PHONY: eval-search
eval-search: setup ## Measure how well tools are found; ARGS="--time", ARGS="--into docs/search" for the page and the picture
	@$(RUN) -m tests.search $(ARGS)

# Its own last line is the verdict. Fetches a Node and the suite into .venv the first time.
.PHONY: conformance
conformance: setup ## Run the official MCP conformance suite against our server and client, with other makers' hosts
	@$(RUN) -m tests.conformance $(ARGS)

# Every gate is here, and the same by hand and in CI.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
STAMP  := $(VENV)/.ready
# Tests that start no sandbox: they run after those of the units, and beside all others. Where the
# first are interrupted (pytest's exit code 2) the second do not start.
BESIDE := $(addprefix tests/,conformance/harness conformance/protocol conformance/sdk \
	conformance/wire functional/broker security/broker)

.DEFAULT_GOAL := help
.PHONY: help setup demo test harnesses acceptance conformance faults faults-record faults-accept \
	check bench bench-demo bench-broker docs lock clean

help: ## show this
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP) ## a virtual environment with Stanchion and its development tools

$(STAMP): pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

demo: setup ## the main job on this machine, no key needed
	$(BIN)/stanchion demo

test: setup ## all tests, with the real harness in the real sandbox; coverage of the core
	$(BIN)/python -m coverage erase
	@mkdir -p build
	@{ $(PYTEST) --cov --cov-report= tests/unit; units=$$?; test $$units -lt 2 && \
	$(PYTEST) $(BESIDE) && test $$units = 0; } > build/tests-beside.txt 2>&1 & beside=$$!; \
	$(PYTEST) tests $(addprefix --ignore=,tests/unit $(BESIDE)); rest=$$?; \
	wait $$beside; beside=$$?; cat build/tests-beside.txt; test $$beside$$rest = 00
	$(BIN)/python tests/coverage_gate.py

harnesses: setup ## the real harnesses other than OpenCode on the wire, their long scenarios left out
	$(PYTEST) -m "other_harness and not acceptance" tests

acceptance: setup ## long scenarios of the whole product, real harness in the real sandbox
	$(PYTEST) -m acceptance tests

faults: setup ## the whole fault matrix: each way to die ends by its right name; a table and one line
	@rm -f build/faults.jsonl; mkdir -p build; touch build/faults.jsonl
	@STANCHION_FAULTS_FILE=build/faults.jsonl $(PYTEST) -q -m "faults or not faults" tests/conformance/faults; \
	tests=$$?; PYTHONPATH=tests $(BIN)/python tests/conformance/faults/table.py build/faults.jsonl && exit $$tests

faults-record: setup ## the same, and keep each row's evidence for the tests that need no harness
	STANCHION_FAULTS_RECORD=1 $(PYTEST) -q -m "faults or not faults" tests/conformance/faults/test_faults.py

faults-accept: setup ## keep the matrix's expectations as they are now; each change needs its line in CHANGELOG.md
	PYTHONPATH=tests $(BIN)/python tests/conformance/faults/expectations.py --accept

conformance: setup ## every harness, API, limit and effort word on the wire, in gVisor; a table and one line
	$(BIN)/stanchion harness check

check: setup ## lint, types, imports, drift of generated docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check
	PYTHONPATH=tests $(BIN)/python tests/conformance/faults/expectations.py --check

docs: setup ## write the generated reference pages
	$(BIN)/python docs/generate.py

bench: setup ## measurements, as ratios in one run; JSON below tests/bench/results
	$(PYTEST) tests/bench --override-ini=testpaths=tests/bench -m bench -s

bench-demo: setup ## the demo against two bare runs of the same scripts
	$(BIN)/python tests/bench/demo_ratio.py

bench-broker: setup ## the broker beside nginx and HAProxy; writes JSON, page and picture
	$(BIN)/python tests/bench/broker/run.py
	$(BIN)/python docs/generate.py

lock: setup ## renew requirements.lock from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes \
		--no-emit-index-url --no-header pyproject.toml -o requirements.lock

clean: ## remove what setup and the tools made
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .coverage* .import_linter_cache

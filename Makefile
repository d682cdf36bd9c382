# Each target sets itself up in a virtual environment. PYTHON chooses the interpreter: make test PYTHON=python3.13
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# How many random programs `make fuzz` draws, and from which on.
N ?= 1000
FIRST ?= 0
# On what `make fuzz-opencl` runs kernels: a simulator, which builds small ones faster than PoCL.
DEVICE ?= oclgrind

# Where `make array-api-tests` finds the official tests of the array API: a clone of github.com/data-apis/array-api-tests,
# with its submodule.
ARRAY_API_TESTS ?= ../array-api-tests

# On which device `make gpu` tests and measures kernels: a number, a part of a name, `gpu` or `cpu`.
GPU ?= gpu
# Tests of kernels that only CPUs are given.
HOSTS := parts scattered

.PHONY: array-api-tests help test installed quick texts wheel lint docs bench demo examples rules fuzz fuzz-opencl oclgrind gpu clean FORCE

help:
	@echo "make demo      derivatives of SciPy's Rosenbrock function, of two classifiers and of a mixture"
	@echo "make test      the tests"
	@echo "make quick     the tests for each small step: goldens, kept texts, structure, programs, the rules of changed templates"
	@echo "make wheel     wheel and sdist, installed and tried on every Python of this machine"
	@echo "make lint      ruff and mypy"
	@echo "make docs      the documentation, in site/"
	@echo "make bench     generated gradients against hand-written ones and those of others; docs/benchmarks.md"
	@echo "make fuzz      N=1000 random programs of each kind: how many are right, refused, wrong"
	@echo "make fuzz-opencl  the same with kernels: how many differ from what NumPy gives"
	@echo "make oclgrind  all tests of kernels under Oclgrind: accesses out of bounds, races, reads of what was not written"
	@echo "make gpu       tests of kernels and their benchmarks on a GPU, with fractions of a copy's bandwidth; GPU=cpu: on the CPU"
	@echo "make array-api-tests  the official tests of the array API, in ARRAY_API_TESTS=path, on device arrays"
	@echo "make rules     all calls of all rules to second order in both modes: how many pass; far from their domains; with other kinds of arguments; with a wrong line; chains of each rule: how long deriving takes"
	@echo "make texts     tests/texts.txt anew: the hashes of generated texts, which a test compares"
	@echo "make examples  write examples/*/model_grad.py anew"

# Bytecode first, where Python is told to write none: hundreds of processes that tests start load it.
test: $(VENV)/test.installed
	$(BIN)/python -m compileall -q -j 0 srcgrad
	$(BIN)/python -m pytest -n auto --dist loadgroup

installed: $(VENV)/test.installed $(VENV)/lint.installed

quick: $(VENV)/test.installed
	$(BIN)/python -m tests.quick

lint: $(VENV)/lint.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict srcgrad tests/typed.py packing.py

wheel: $(VENV)/interpreter
	$(BIN)/python .ci/package.py

docs: $(VENV)/docs.installed
	$(BIN)/python -m tests.templates.rules_page --write
	$(BIN)/mkdocs build --strict

bench: $(VENV)/bench.installed
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.programs
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.opencl

demo: $(VENV)/demo.installed
	$(BIN)/python -m examples.demo

examples: $(VENV)/test.installed
	$(BIN)/python -m examples.generate

fuzz: $(VENV)/test.installed
	$(BIN)/python -m tests.random.writes $(FIRST) $(N)
	$(BIN)/python -m tests.random.sweeps $(FIRST) $(N)
	$(BIN)/python -m tests.random.mixed $(FIRST) $(N)
	$(BIN)/python -m tests.random.language $(FIRST) $(N)
	$(BIN)/python -m tests.random.masks $(FIRST) $(N)

rules: $(VENV)/test.installed
	$(BIN)/python -m tests.templates.every_form --write
	$(BIN)/python -m tests.templates.ranges
	$(BIN)/python -m tests.templates.crossed
	$(BIN)/python -m tests.templates.mutation
	$(BIN)/python -m tests.templates.chains

texts: $(VENV)/test.installed
	$(BIN)/python -m tests.texts --write

fuzz-opencl: $(VENV)/test.installed
	SRCGRAD_DEVICE=$(DEVICE) $(BIN)/python -m tests.random.targets $(FIRST) $(N)
	SRCGRAD_DEVICE=$(DEVICE) $(BIN)/python -m tests.random.kernels $(FIRST) $(N)
	SRCGRAD_EVERY=1 $(BIN)/python -m pytest tests/opencl/test_targets.py

oclgrind: $(VENV)/test.installed
	SRCGRAD_EVERY=1 $(BIN)/python -m pytest tests/opencl/test_oclgrind.py

array-api-tests: $(VENV)/test.installed
	$(BIN)/python -m pip install -q -r $(ARRAY_API_TESTS)/requirements.txt
	cd $(ARRAY_API_TESTS) && ARRAY_API_TESTS_MODULE=srcgrad.opencl $(abspath $(BIN))/python -m pytest -q array_api_tests \
		--max-examples 50 --disable-deadline

gpu: $(VENV)/test.installed
	SRCGRAD_DEVICE=$(GPU) $(BIN)/srcgrad devices
	SRCGRAD_DEVICE=$(GPU) $(BIN)/python -m pytest tests/opencl $(HOSTS:%=--ignore=tests/opencl/test_%.py)
	SRCGRAD_DEVICE=$(GPU) $(BIN)/python -m benchmarks.gpu
	SRCGRAD_DEVICE=$(GPU) $(BIN)/python -m benchmarks.opencl

clean:
	rm -rf $(VENV) site build

# The name of the interpreter; the environment is made anew when PYTHON names another one.
$(VENV)/interpreter: FORCE
	@test "$$(cat $@ 2>/dev/null)" = "$(PYTHON)" || { $(PYTHON) -m venv --clear $(VENV) && echo "$(PYTHON)" > $@; }

$(VENV)/%.installed: $(VENV)/interpreter pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

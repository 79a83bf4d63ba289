# make demo | test | lint | setup | bench | clean; each sets up what it needs.

ROBOT ?= panda
DEVICE ?= auto
RATE ?= 100
OUT ?= demo_output
PYTEST_ARGS ?=

.PHONY: demo test lint setup bench clean

setup:
	@tools/setup

demo: setup
	@tools/run python -m ros_ik.demo --robot '$(ROBOT)' --device '$(DEVICE)' --rate '$(RATE)' --output '$(OUT)'

test: setup
	@tools/run python -m pytest $(PYTEST_ARGS)

lint: setup
	@tools/run ruff check .
	@tools/run mypy

bench: setup
	@tools/setup_bench
	@tools/run python -m benchmarks $(BENCH_ARGS)

clean:
	rm -rf .venv .venv-bench .cache build install log demo_output

# make demo | test | lint | docs | setup | bench | bench-node | clean; each sets up what it needs.

ROBOT ?= panda
DEVICE ?= auto
RATE ?= 100
OUT ?= demo_output
PYTEST_ARGS ?=

.PHONY: demo test lint docs setup bench bench-node clean

setup:
	@tools/setup

demo: setup
	@tools/run python -m ros_ik.demo --robot '$(ROBOT)' --device '$(DEVICE)' --rate '$(RATE)' --output '$(OUT)'

test: setup
	@tools/run python -m pytest $(PYTEST_ARGS)

lint: setup
	@tools/run ruff check .
	@tools/run mypy

# What is made from the schema of parameters, docs/interface.yaml and ros_ik_interfaces.
docs: setup
	@tools/run python -m ros_ik.settings.documents
	@tools/run python -m tools.interface_documents

bench: setup
	@tools/setup_bench
	@tools/run python -m benchmarks $(BENCH_ARGS)

bench-node: setup
	@tools/run python -m benchmarks.node $(BENCH_ARGS)

clean:
	rm -rf .venv .venv-bench .cache build install log demo_output

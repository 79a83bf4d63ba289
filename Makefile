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
	@tools/run python benchmarks/kinematics.py
	@tools/run python benchmarks/control_step.py

clean:
	rm -rf .venv .cache build install log demo_output

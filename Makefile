# make demo | view | test | test/FOLDER | stress | lint | docs | setup | bench | bench-node | gpu | gpu-compile | clean; each sets up what it needs.

ROBOT ?= panda
# Empty: what the programs take, or what the file of PARAMS says.
DEVICE ?=
RATE ?=
PARAMS ?=
OUT ?= demo_output
PORT ?= 8080
PYTEST_ARGS ?=
# Files that run side by side: two that start nodes, and therefore wait, and two that compute.
TEST_WORKERS ?= 4
# A process of the tests that dies is replaced once.
IN_PARALLEL = -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart 1
STRESS_TICKS ?= 1000000
STRESS_ARMS ?= 1000

CHOSEN = $(if $(DEVICE),--device '$(DEVICE)') $(if $(RATE),--rate '$(RATE)')

.PHONY: FORCE demo view test stress lint docs setup setup-use bench bench-node gpu gpu-compile clean

setup:
	@tools/setup

# Without the tests and their oracles.
setup-use:
	@tools/setup use

demo: setup-use
	@tools/run python -m ros_ik.demo --robot '$(ROBOT)' $(CHOSEN) --output '$(OUT)'

# The default robot is that of the demo; PARAMS=my_robot.yaml takes parameters from a file. Ctrl-C ends it.
view: setup-use
	@tools/run python -m ros_ik.viewer.demo --robot '$(ROBOT)' $(CHOSEN) --port '$(PORT)' \
		$(if $(PARAMS),--params '$(PARAMS)')

test: setup
	@tools/run python -m pytest $(IN_PARALLEL) $(PYTEST_ARGS)

# One folder or file: make test/servo, make test/servo/test_starts_and_ends.py
test/%: setup FORCE
	@tools/run python -m pytest $(IN_PARALLEL) $@ $(PYTEST_ARGS)

FORCE:

# The long forms of what test/safety drives, of a load beside the loop, random arms of each
# structure of the closed forms, then of the tests with many cases, and kernels that check their
# indices: hours. Each line of output of the first is what one drive came to. Kernels in debug mode
# crash on two threads, because all threads of Warp share a pointer then.
stress: setup
	@SAFETY_TICKS=$$(($(STRESS_TICKS) / 3 + 1)) SERVO_SAFETY_TICKS=$(STRESS_TICKS) \
		tools/run python -m pytest -s test/safety $(PYTEST_ARGS)
	@LOAD_POSES=100000 tools/run python -m pytest test/node/behaviour/test_behaviour_load.py
	@LONG_FORMS=1 CLOSED_FORM_ARMS=$(STRESS_ARMS) tools/run python -m pytest --timeout 0 -k planted \
		test/solvers/analytic/test_all_solutions.py test/solvers/analytic/test_all_solutions_fewer.py
	@LONG_FORMS=1 tools/run python -m pytest $(IN_PARALLEL) \
		$$(grep -rlE --include='test_*.py' 'support.long_forms|SOME_URDFS' test)
	@CHECK_BOUNDS=1 tools/run python -m pytest $(IN_PARALLEL) --timeout 0 -k 'not thread' \
		test/barriers test/kinematics test/limits test/servo/step test/solvers/differential_ik \
		test/solvers/qp

lint: setup
	@tools/run ruff check .
	@tools/run mypy
	@tools/run python -m pytest -n 0 test/repository/test_docstrings.py test/repository/test_prose.py

# What is made from the schema of parameters, docs/interface.yaml and ros_ik_interfaces.
docs: setup
	@tools/run python -m ros_ik.settings.documents
	@tools/run python -m tools.interface_documents

bench: setup
	@tools/setup_bench
	@tools/run python -m benchmarks $(BENCH_ARGS)

bench-node: setup
	@tools/run python -m benchmarks.node $(BENCH_ARGS)

# The tests and benchmarks of a machine with a card, 8 minutes; DEVICE=cpu rehearses them.
gpu: setup
	@tools/setup_bench
	@tools/run python -m benchmarks.gpu.card $(if $(DEVICE),--device '$(DEVICE)')

# Every kernel compiled for a GPU, without a card: fails where stack or spills grew.
gpu-compile: setup
	@tools/setup_bench
	@tools/run python -m benchmarks.gpu $(BENCH_ARGS)

clean:
	rm -rf .venv .venv-bench .cache build install log demo_output

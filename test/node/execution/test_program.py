# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Programs of one node: an error in a callback ends none, and a signal ends each at any time."""

import os
import signal
import subprocess
import sys

import pytest
from support.processes.ros_processes import reserved_domain

pytest.importorskip('rclpy', reason='the programs need rclpy')

from ros_ik.node.services.process_link import NodeIdentity  # noqa: E402
from ros_ik.node.transport.pipe_objects import write_object  # noqa: E402
from ros_ik.settings import read_settings  # noqa: E402

# A program whose timer raises an error; after ten of them it ends itself.
_PROGRAM = """
import os, signal, sys
from rclpy.node import Node
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.program import run_node

class Failing({base}):
    def __init__(self):
        super().__init__('failing')
        self.calls = 0
        self.create_timer(0.02, self.turn)

    def turn(self):
        self.calls += 1
        if self.calls == 10:
            os.kill(os.getpid(), signal.SIGTERM)
        raise ZeroDivisionError('nothing can be divided by it')

sys.exit(run_node(lambda refuse: Failing(), []))
"""


@pytest.mark.dds
@pytest.mark.parametrize('base', ['Node', 'GuardedNode'])
def test_a_program_survives_errors_in_callbacks_and_logs_them(base):
    with reserved_domain() as domain:
        done = subprocess.run(
            [sys.executable, '-c', _PROGRAM.format(base=base)], capture_output=True, text=True,
            timeout=100, env=os.environ | {'ROS_DOMAIN_ID': str(domain)},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 'ZeroDivisionError: nothing can be divided by it' in done.stderr


# The node, with an import that does not end.
_IMPORTING = """
import importlib.abc, sys, time
from ros_ik.node.ros_ik_node import main

class Endless(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == 'ros_ik.node.ik_node':
            print('importing', flush=True)
            time.sleep(1e6)

sys.meta_path.insert(0, Endless())
sys.exit(main([]))
"""


@pytest.mark.dds
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_node_while_it_imports(number):
    with (
        reserved_domain() as domain,
        subprocess.Popen(
            [sys.executable, '-c', _IMPORTING], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=os.environ | {'ROS_DOMAIN_ID': str(domain)},
        ) as process,
    ):  # fmt: skip
        try:
            assert process.stdout.readline() == 'importing\n', process.stderr.read()
            process.send_signal(number)
            assert process.wait(30.0) == 0
        finally:
            process.kill()
        assert 'Traceback' not in process.stderr.read()


# The node, which prints its shared memory of DDS before and after it is destroyed.
_DESTROYED = r"""
import os, re, sys
from ros_ik.node.execution.start import init_rclpy
from ros_ik.node.ik_node import IkNode

def segments():
    with open('/proc/self/maps', encoding='ascii') as maps:
        found = set(re.findall(r'/dev/shm/fastdds_[0-9a-f]{16}\b', maps.read()))
    return [path for path in found if os.path.exists(path)]

init_rclpy([])
node = IkNode()
before = len(segments())
node.finish()
node.destroy_node()
print(before, len(segments()), flush=True)
os._exit(0)
"""


@pytest.mark.dds
def test_a_destroyed_node_leaves_no_shared_memory():
    with reserved_domain() as domain:
        done = subprocess.run(
            [sys.executable, '-c', _DESTROYED], capture_output=True, text=True, timeout=100,
            env=os.environ | {'ROS_DOMAIN_ID': str(domain)},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split()[-2:])
    if before == 0:
        pytest.skip('this middleware has no shared memory')
    assert (before, after) == (1, 0)


# The process for planners, which must not join the graph.
_PLANNERS = """
import sys
from ros_ik.node.services import planner_main

def fail(**options):
    sys.exit('it joins the graph')

planner_main.rclpy.init = fail
print('ready', flush=True)
sys.exit(planner_main.main())
"""


def test_planners_of_a_node_that_ended_meanwhile_do_not_start():
    identity = NodeIdentity('planning', '/', {}, (), 0, read_settings({'ee.frame': 'tool'}))
    with subprocess.Popen(
        [sys.executable, '-c', _PLANNERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            write_object(process.stdin, identity)
            process.stdin.close()
            assert process.wait(100.0) == 0, process.stderr.read()
        finally:
            process.kill()

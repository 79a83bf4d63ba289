# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Programs of one node: an error in a callback ends none."""

import os
import subprocess
import sys

import pytest
from support.processes.ros_processes import reserved_domain

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

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Node and robot in two network namespaces: the cases of support.processes.network_cases."""

import subprocess
import sys

import pytest
from support.processes import network
from support.processes.ros_processes import ROOT

_REASON = network.why_not()
pytestmark = [
    pytest.mark.dds,
    pytest.mark.skipif(bool(_REASON), reason=_REASON or 'permitted'),
    # Longer than the time limit of each case.
    pytest.mark.timeout(400),
]


def test_node_and_robot_on_two_hosts_with_a_bad_cable():
    cases = ROOT / 'test' / 'support' / 'processes' / 'network_cases.py'
    found = subprocess.run(
        [sys.executable, '-m', 'pytest', '--tb=short', str(cases)],
        cwd=ROOT, capture_output=True, text=True, timeout=380.0,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-6000:]

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the demo."""

import pytest
from support.processes.ros_processes import reserved_domain


@pytest.fixture
def domain():
    """Yield a ROS domain that no other test process has."""
    with reserved_domain() as number:
        yield number

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Autostart of a node, on a clock that the tests move."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from rclpy.lifecycle import TransitionCallbackReturn  # noqa: E402

from ros_ik.node.autostart import Autostart  # noqa: E402
from ros_ik.node.node_stage import NodeStage  # noqa: E402
from ros_ik.servo import StatusCode  # noqa: E402

NOW, TIMEOUT = 100.0, 0.5


def activations(received, needed=(0, 1)):
    """Return how often a node is activated whose coordinates were received at some times."""
    made = []
    servo = SimpleNamespace(
        robot=SimpleNamespace(needed_coords=np.array(needed)),
        settings=SimpleNamespace(joint_state_timeout=TIMEOUT),
    )
    measurement = SimpleNamespace(received=np.array(received))
    controlled = SimpleNamespace(
        servo=servo, measurement=SimpleNamespace(get=lambda: measurement)
    )
    loop = SimpleNamespace(
        now=lambda: NOW,
        output=SimpleNamespace(code=StatusCode.OK),
        inbox=SimpleNamespace(controlled=SimpleNamespace(get=lambda: controlled)),
    )
    node = SimpleNamespace(
        trigger_activate=lambda: made.append(None) or TransitionCallbackReturn.SUCCESS
    )
    Autostart(node, loop, is_enabled=True).advance(NodeStage.INACTIVE)
    return len(made)


@pytest.mark.parametrize('late', [0.0, 0.9 * TIMEOUT, -0.9 * TIMEOUT])
def test_a_node_with_fresh_joint_states_is_activated(late):
    assert activations([NOW, NOW - late]) == 1
    assert activations([NOW, NOW - late, -np.inf]) == 1


# Those after now are from before a jump of the clock.
@pytest.mark.parametrize('late', [1.1 * TIMEOUT, -1.1 * TIMEOUT, -60.0, np.inf, np.nan])
def test_a_node_with_a_joint_state_that_is_not_fresh_waits(late):
    assert activations([NOW, NOW - late]) == 0
    assert activations([NOW, NOW, NOW - late]) == 1

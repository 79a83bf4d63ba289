# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories with predicted points over DDS: a robot follows them, and needs few of them."""

import numpy as np
import pytest
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.ros_rig import UNWATCHED

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
STEPS, RATE = 5, 100.0
TIMES = [*(round(1e9 * step / RATE) for step in range(1, STEPS + 2)), 200_000_000]


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('rollout')) as client:
        start_node(
            client, control_rate=RATE, rollout_steps=STEPS, **NEVER_STALE, **UNWATCHED,
            outputs__default__command_horizon=0.2, outputs__default__publish_velocities=True,
        )  # fmt: skip
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


def points(message, field):
    return np.array([getattr(point, field) for point in message.points])


def test_the_robot_follows_trajectories_of_seven_points(client):
    target = client.moved_pose((0.05, 0.1, -0.05))
    client.stream('pose', target)
    client.wait_for_arrival()
    client.wait_for_ticks(20)
    client.stream('pose', None)
    client.assert_trajectories_are_accepted()
    assert 'rejected' not in client.processes.text('robot')
    reached = client.moved_pose().pose.position
    for axis in 'xyz':
        assert getattr(reached, axis) == pytest.approx(
            getattr(target.pose.position, axis), abs=5e-3
        )
    moving = 0
    for message in client.trajectories:
        assert tuple(message.joint_names) == ARM and len(message.points) == STEPS + 2
        times = [point.time_from_start for point in message.points]
        assert [time.sec * 10**9 + time.nanosec for time in times] == TIMES
        q, qd = points(message, 'positions'), points(message, 'velocities')
        np.testing.assert_allclose(np.diff(q[:-1], axis=0) * RATE, qd[1:-1], atol=1e-9)
        assert np.all(q[-1] == q[-2]) and not qd[-1].any()
        moving += bool(qd[1:-1].any())
    assert moving >= 20
    compare_with_what_was_sent_next(client.sent)


def compare_with_what_was_sent_next(sent):
    """Check that without changes of targets each message begins at the prediction of the last."""
    compared = 0
    for (_, one, number), (_, other, next_number) in zip(sent, sent[1:], strict=False):
        # Before the target there is no prediction, and messages may be lost.
        if next_number == number + 1 and points(one, 'velocities')[1:].any():
            first, second = points(one, 'positions'), points(other, 'positions')
            np.testing.assert_allclose(first[1], second[0], rtol=0.0, atol=1e-6)
            compared += 1
    assert compared >= 20

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints with a velocity limit of 0: they rest, and the others reach what they can."""

import numpy as np
import pytest
from support.rigs.servo_rig import Rig
from support.robots.urdf_limits import still_model

from ros_ik.servo import StatusCode

STILL = ('panda_joint1', 'panda_joint3', 'panda_joint5')
# The same joint may have an acceleration limit.
ACCELERATION = {
    'joint_limits__panda_joint3__has_acceleration_limits': True,
    'joint_limits__panda_joint3__max_acceleration': 3.0,
}


@pytest.mark.parametrize('still', STILL)
@pytest.mark.parametrize('values', [{}, ACCELERATION], ids=['default', 'acceleration'])
def test_a_pose_that_the_other_joints_can_reach_is_reached(still, values):
    for seed in range(3):
        rig = Rig(model=still_model(still), **values)
        held = rig.robot.coord_of[still]
        q = rig.q.copy()
        q[rig.robot.coords] += np.random.default_rng(seed).uniform(-0.4, 0.4, 7)
        q[held] = rig.q[held]
        target, before = rig.pose(q), rig.q[held]
        rig.aim(target)
        rig.settle(3.0)
        error = rig.pose() - target
        # Signs of the quaternions agree, because the rotation is small.
        assert np.abs(error).max() < 1e-4, (seed, error, rig.outputs[-1].text)
        assert rig.q[held] == before
        rig.assert_within_limits()


CANNOT = 'joint panda_joint3 cannot move, because its velocity limit is 0'


def test_a_jog_moves_the_other_joints_and_names_the_one_that_cannot_move():
    rig = Rig.shared(model=still_model('panda_joint3'))
    moved = rig.robot.group.joint_names.index('panda_joint4')
    rig.aim_joint_velocities(panda_joint3=0.1, panda_joint4=0.2)
    output = rig.tick(seconds=0.5)
    assert (output.code, output.text) == (StatusCode.JOINT_BOUND, CANNOT)
    expected = np.where(np.arange(7) == moved, 0.2, 0.0)
    np.testing.assert_allclose(rig.speeds()[-1], expected, atol=1e-9)
    rig.assert_within_limits()
    # Ticks without a report name it, too.
    rig.reports = False
    assert rig.tick().text == CANNOT
    rig.aim_joint_velocities(panda_joint3=0.0, panda_joint4=0.2)
    assert rig.tick().text == 'tracking'


def test_a_joint_target_moves_the_other_joints_and_names_the_one_that_cannot_move():
    rig = Rig.shared(model=still_model('panda_joint3'))
    held, moved = rig.robot.coord_of['panda_joint3'], rig.robot.coord_of['panda_joint4']
    before = rig.q[held]
    rig.aim_joints(panda_joint3=before + 0.2, panda_joint4=-1.0)
    output = rig.tick(seconds=2.0)
    assert (output.code, output.text) == (StatusCode.JOINT_BOUND, CANNOT)
    assert rig.q[held] == before and abs(rig.q[moved] + 1.0) < 1e-6
    # A target of its measured position, with noise, is no error.
    rig.aim_joints(panda_joint3=before + 5e-4, panda_joint4=-1.1)
    output = rig.tick(seconds=1.0)
    assert (output.code, output.text) == (StatusCode.OK, 'tracking')

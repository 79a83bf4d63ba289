# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints with a velocity limit of 0: they rest, and the others reach what they can."""

import numpy as np
import pytest
from support.rigs.servo_rig import Rig
from support.robots.urdf_limits import still_model

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

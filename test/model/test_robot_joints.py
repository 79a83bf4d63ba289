# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a robot by name: those of joint_states, and those that controllers drive."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.errors import ArgumentError
from ros_ik.model.robot_joints import RobotJoints

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')


def test_mimic_joints_are_in_the_state_and_not_driven():
    joints = RobotJoints(load(PANDA))
    assert 'panda_finger_joint2' in joints.names
    assert 'panda_finger_joint2' not in joints.driven
    joint_q = joints.configuration({'panda_finger_joint1': 0.03})
    fingers = joints.coords_of(['panda_finger_joint1', 'panda_finger_joint2'])
    np.testing.assert_allclose(joint_q[fingers], 0.03)
    with pytest.raises(ArgumentError, match="'elbow' is not a revolute or prismatic joint"):
        joints.coords_of(['elbow'])

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a robot by name: those of joint_states, and those that controllers drive."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
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


def test_a_lift_starts_at_its_end_and_a_hinge_in_the_middle():
    joint = (
        '<joint name="{0}" type="{0}"><parent link="a"/><child link="{1}"/><axis xyz="0 0 1"/>'
        '<limit lower="{2}" upper="1" velocity="1" effort="1"/></joint>'
    )
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        + joint.format('prismatic', 'b', 0)
        + joint.format('revolute', 'c', 0)
        + '</robot>'
    )
    joints = RobotJoints(Model.from_urdf(text, device='cpu'))
    start = joints.configuration({})[joints.coords_of(['prismatic', 'revolute'])]
    np.testing.assert_array_equal(start, [0.0, 0.5])

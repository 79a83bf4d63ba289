# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robots for drives of a whole servo, configured as in a node."""

import dataclasses
import functools

from support.robots import mobile_arm
from support.robots.collision_oracle import PACKAGES
from support.robots.collision_oracle import urdf_path

from ros_ik.demo.robots import robot_data_path
from ros_ik.model import Model


@dataclasses.dataclass(frozen=True)
class ServoCase:
    """A robot.

    Attributes:
        urdf: Name of its file, '' for the arm on a rail.
        srdf: Its SRDF below the folder of robots.
        start: Positions free of everything [rad or m], by joint; others are zero.
        settings: What a node of it is given.
    """

    urdf: str
    srdf: str
    start: dict
    settings: dict

    @functools.cached_property
    def text(self):
        """The description."""
        return urdf_path(self.urdf).read_text() if self.urdf else mobile_arm.urdf()

    @functools.cached_property
    def model(self):
        """The model, with its meshes."""
        if not self.urdf:
            return mobile_arm.model()
        srdf = (robot_data_path() / self.srdf).read_text()
        return Model.from_urdf(self.text, srdf=srdf, package_paths=PACKAGES, device='cpu')


def _both(values):
    return {
        joint.replace('*', side): sign * value
        for side, signs in (('left', (1.0, 1.0)), ('right', (1.0, -1.0)))
        for joint, value, mirrored in values
        for sign in (signs[mirrored],)
    }


SERVO_CASES = {
    'panda': ServoCase(
        'panda',
        'panda_description/srdf/panda.srdf',
        {
            'panda_joint2': -0.6, 'panda_joint4': -2.2, 'panda_joint6': 1.6, 'panda_joint7': 0.8,
        },
        {'ee.frame': 'panda_hand_tcp', 'base_frame': 'panda_link0'},
    ),
    'baxter': ServoCase(
        'baxter',
        'baxter_description/srdf/baxter_manipulation.srdf',
        _both([('*_s0', 0.3, 1), ('*_s1', -0.5, 0), ('*_e1', 1.2, 0), ('*_w1', 0.8, 0)]),
        {
            'frame_tasks': ['left', 'right'], 'base_frame': 'torso',
            'left.frame': 'left_gripper', 'right.frame': 'right_gripper',
        },
    ),
    'talos': ServoCase(
        'talos_full_v2',
        'talos_data/srdf/talos.srdf',
        _both(
            [('arm_*_1_joint', 0.3, 1), ('arm_*_2_joint', 0.5, 1), ('arm_*_4_joint', -1.4, 0)]
        ),
        {
            'frame_tasks': ['left', 'right'], 'base_frame': 'base_link',
            'left.frame': 'arm_left_7_link', 'right.frame': 'arm_right_7_link',
            'com.weight': 0.5,
        },
    ),
    'mobile_arm': ServoCase(
        '', '', mobile_arm.START, {'ee.frame': 'flange', 'base_frame': 'floor_rail'}
    ),
}  # fmt: skip

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robots of the drives, and obstacles around them."""

import dataclasses

from ros_ik.model.shapes.collision_primitive import CollisionShape


@dataclasses.dataclass(frozen=True)
class Case:
    """A robot and its moving joints.

    Attributes:
        urdf: Name of its file.
        joints: The joints that move, or a chain.
        start: Configuration of these joints that is without collisions.
        tips: Links with a target.
        obstacles: Name, shape and position of each.
    """

    urdf: str
    joints: tuple[str, ...] | str
    start: tuple[float, ...]
    tips: tuple[str, ...]
    obstacles: tuple = ()


def _talos():
    arm = [f'arm_{side}_{k}_joint' for side in ('left', 'right') for k in range(1, 8)]
    return ('torso_1_joint', 'torso_2_joint', *arm)


def _baxter():
    joints = ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')
    return tuple(f'{side}_{joint}' for side in ('left', 'right') for joint in joints)


CASES = {
    'panda': Case(
        'panda',
        'panda_link0:panda_hand_tcp',
        (0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8),
        ('panda_hand_tcp',),
        (
            ('post', CollisionShape.capsule(0.05, 0.4), (0.5, 0.2, 0.4)),
            ('ball', CollisionShape.sphere(0.1), (0.3, -0.4, 0.5)),
            ('table', CollisionShape.half_space(), (0.0, 0.0, -0.1)),
        ),
    ),
    'baxter': Case(
        'baxter',
        _baxter(),
        (0.3, -0.5, 0.0, 1.2, 0.0, 0.8, 0.0, -0.3, -0.5, 0.0, 1.2, 0.0, 0.8, 0.0),
        ('left_gripper', 'right_gripper'),
        (('ball', CollisionShape.sphere(0.15), (0.8, 0.0, 0.3)),),
    ),
    'talos': Case(
        'talos_full_v2',
        _talos(),
        (0.0, 0.0, 0.3, 0.5, 0.0, -1.4, 0.0, 0.0, 0.0, -0.3, -0.5, 0.0, -1.4, 0.0, 0.0, 0.0),
        ('arm_left_7_link', 'arm_right_7_link'),
        (('box', CollisionShape.box((0.2, 0.3, 0.02)), (0.5, 0.0, 0.0)),),
    ),
}

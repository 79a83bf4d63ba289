# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""TALOS on its legs: a humanoid for the centre of mass and for several frames."""

from support.rigs.servo_rig import Rig
from support.robots.robots import ALL_URDFS

(TALOS,) = (str(path) for path in ALL_URDFS if path.stem == 'talos_full_v2')
# On its legs, knees bent, arms beside the body.
STANCE = {
    f'{part}_{side}_{joint}_joint': position * (1.0 if side == 'left' else mirrored)
    for side in ('left', 'right')
    for part, joint, position, mirrored in (
        ('leg', 3, -0.4, 1.0), ('leg', 4, 0.8, 1.0), ('leg', 5, -0.4, 1.0),
        ('arm', 2, 0.3, -1.0), ('arm', 4, -1.0, 1.0),
    )
}  # fmt: skip
LEGS = tuple(f'leg_{side}_{joint}_joint' for side in ('left', 'right') for joint in range(1, 7))
TORSO = ('torso_1_joint', 'torso_2_joint')
ARMS = tuple(f'arm_{side}_{joint}_joint' for side in ('left', 'right') for joint in range(1, 8))


def standing(**values):
    """Return TALOS on its left foot, whose right foot is the frame task."""
    given = {
        'base_frame': 'left_sole_link', 'ee__frame': 'right_sole_link',
        'com__weight': 1.0, **values,
    }  # fmt: skip
    return Rig.shared(TALOS, home=STANCE, **given)


def one_handed(**values):
    """Return TALOS with its left hand as the frame task, moved by the torso too."""
    given = {
        'base_frame': 'base_link', 'ee__frame': 'gripper_left_base_link', **values,
    }  # fmt: skip
    return Rig.shared(TALOS, home={**STANCE, 'arm_left_4_joint': -1.2}, **given)


def two_handed(**values):
    """Return TALOS with a frame task for each hand, on one torso, from the waist."""
    given = {
        'base_frame': 'base_link', 'frame_tasks': ['left', 'right'],
        'left__frame': 'gripper_left_base_link', 'right__frame': 'gripper_right_base_link',
        **values,
    }  # fmt: skip
    bent = {'arm_left_4_joint': -1.2, 'arm_right_4_joint': -1.2}
    return Rig.shared(TALOS, home={**STANCE, **bent}, **given)

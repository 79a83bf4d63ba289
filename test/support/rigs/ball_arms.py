# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Two planar arms with a ball at the end of each, on one lift: distances are plain geometry.

Arm a also has a finger with a small ball above its ball, and below it a thumb that mimics it.
"""

import numpy as np

A, B = ('a1', 'a2'), ('b1', 'b2')
FINGER, LIFT = 'finger', 'lift'
RADIUS, REACH, APART = 0.05, 0.5, 2.0
FINGER_RADIUS, FINGER_OFFSET = 0.01, 0.1


def _link(name, radius=0.0, x=0.0):
    if not radius:
        return f'<link name="{name}"/>'
    return (
        f'<link name="{name}"><collision><origin xyz="{x} 0 0"/><geometry>'
        f'<sphere radius="{radius}"/></geometry></collision></link>'
    )


def _joint(name, parent, child, xyz, axis, kind='revolute', extra=''):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        f'<limit lower="-6" upper="6" velocity="9" effort="1"/>{extra}</joint>'
    )


URDF = ''.join([
    '<robot name="ball_arms">', _link('base'), _link('torso'),
    _joint(LIFT, 'base', 'torso', '0 0 0', '0 0 1', 'prismatic'),
    _link('a_upper'), _link('a_ball', RADIUS, REACH),
    _joint('a1', 'torso', 'a_upper', '0 0 0', '0 0 1'),
    _joint('a2', 'a_upper', 'a_ball', f'{REACH} 0 0', '0 0 1'),
    _link('b_upper'), _link('b_ball', RADIUS, REACH),
    _joint('b1', 'torso', 'b_upper', f'{APART} 0 0', '0 0 1'),
    _joint('b2', 'b_upper', 'b_ball', f'{REACH} 0 0', '0 0 1'),
    _link('a_finger', FINGER_RADIUS), _link('a_thumb', FINGER_RADIUS),
    _joint(FINGER, 'a_ball', 'a_finger', f'{REACH} 0 {FINGER_OFFSET}', '0 0 1', 'prismatic'),
    _joint('thumb', 'a_ball', 'a_thumb', f'{REACH} 0 {-FINGER_OFFSET}', '0 0 -1', 'prismatic',
           f'<mimic joint="{FINGER}"/>'),
    '</robot>',
])  # fmt: skip
ALL = (LIFT, *A, *B, FINGER)


def place_of_ball(arm, first, second):
    """Return the centre of the ball of an arm, 'a' or 'b', in the torso [2], by trigonometry."""
    x = {'a': 0.0, 'b': APART}[arm]
    return np.array([
        x + REACH * np.cos(first) + REACH * np.cos(first + second),
        REACH * np.sin(first) + REACH * np.sin(first + second),
    ])  # fmt: skip


def gap(a, b):
    """Return the distance between the balls of the two arms at positions of their joints [m]."""
    return np.linalg.norm(place_of_ball('a', *a) - place_of_ball('b', *b)) - 2.0 * RADIUS

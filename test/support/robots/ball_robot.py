# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A planar arm with a slide and a ball at its end, whose distances are plain geometry."""

import numpy as np

RADIUS, REACH = 0.05, 0.5
NAMES = ('shoulder', 'elbow', 'slide')


def _link(name, content=''):
    return f'<link name="{name}">{content}</link>'


def _joint(name, parent, child, x, kind='revolute'):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>'
    )


_BALL = f'<collision><geometry><sphere radius="{RADIUS}"/></geometry></collision>'
URDF = ''.join([
    '<robot name="ball">', _link('base'), _link('upper'), _link('lower'), _link('ball', _BALL),
    _joint('shoulder', 'base', 'upper', 0.0), _joint('elbow', 'upper', 'lower', REACH),
    _joint('slide', 'lower', 'ball', REACH, 'prismatic'), '</robot>',
])  # fmt: skip


def place_of_ball(positions):
    """Return the centre of the ball, by plane trigonometry."""
    shoulder, elbow, slide = positions
    return np.array([
        REACH * np.cos(shoulder) + REACH * np.cos(shoulder + elbow),
        REACH * np.sin(shoulder) + REACH * np.sin(shoulder + elbow),
        slide,
    ])  # fmt: skip

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""An arm on a rail: prismatic joints, one of them coupled to another, and continuous ones."""

import functools
from pathlib import Path

from support.rigs.servo_rig import Rig

from ros_ik.demo.robots import RobotFiles
from ros_ik.model import Model

_LINK = """
<link name="{name}">
  <inertial><mass value="{mass}"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
  </inertial>
  <collision><origin xyz="{at}" rpy="{turned}"/><geometry>{shape}</geometry></collision>
</link>"""
_JOINT = """
<joint name="{name}" type="{kind}">
  <parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/>{more}
</joint>"""
_LINKS = (
    ('floor_rail', 40, '0 0 0', '0 0 0', '<box size="3.6 0.2 0.1"/>'),
    ('carriage', 20, '0 0 0.15', '0 0 0', '<box size="0.4 0.4 0.16"/>'),
    ('turret', 10, '0 0 0.15', '0 0 0', '<cylinder radius="0.12" length="0.3"/>'),
    ('column', 6, '0 0 0.15', '0 0 0', '<cylinder radius="0.07" length="0.3"/>'),
    ('head', 6, '0 0 0.05', '0 0 0', '<sphere radius="0.09"/>'),
    ('upper_arm', 5, '0.22 0 0', '0 1.5708 0', '<cylinder radius="0.05" length="0.4"/>'),
    ('forearm', 3, '0.2 0 0', '0 0 0', '<box size="0.36 0.07 0.07"/>'),
    ('wrist', 1, '0.05 0 0', '0 0 0', '<sphere radius="0.05"/>'),
    ('flange', 1, '0.06 0 0', '0 0 0', '<box size="0.08 0.12 0.03"/>'),
)
# Name, kind, parent, child, position, axis, limits (lower, upper, speed), driver of a mimic.
_JOINTS = (
    ('rail', 'prismatic', 0, 1, '0 0 0', '1 0 0', (-1.5, 1.5, 1.0), ''),
    ('turn', 'continuous', 1, 2, '0 0 0.24', '0 0 1', (None, None, 2.0), ''),
    ('lift', 'prismatic', 2, 3, '0 0 0.2', '0 0 1', (0.0, 0.4, 0.3), ''),
    ('lift_upper', 'prismatic', 3, 4, '0 0 0.3', '0 0 1', (0.0, 0.2, 0.3), 'lift'),
    ('shoulder', 'revolute', 4, 5, '0 0 0.05', '0 1 0', (-1.6, 1.6, 2.0), ''),
    ('elbow', 'revolute', 5, 6, '0.45 0 0', '0 1 0', (-2.7, 2.7, 2.5), ''),
    ('roll', 'continuous', 6, 7, '0.42 0 0', '1 0 0', (None, None, 3.0), ''),
    ('bend', 'revolute', 7, 8, '0.08 0 0', '0 1 0', (-1.8, 1.8, 3.0), ''),
)
CONTROLLED = tuple(joint[0] for joint in _JOINTS if not joint[-1])
# A posture without contacts [rad or m].
START = {'lift': 0.2, 'lift_upper': 0.1, 'shoulder': 0.7, 'elbow': -1.3, 'bend': 0.5}


def _limit(lower, upper, speed):
    ends = '' if lower is None else f'lower="{lower}" upper="{upper}" '
    return f'<limit {ends}effort="100" velocity="{speed}"/>'


@functools.cache
def urdf():
    """Return the description."""
    keys = ('name', 'mass', 'at', 'turned', 'shape')
    parts = [_LINK.format(**dict(zip(keys, link, strict=True))) for link in _LINKS]
    for name, kind, parent, child, at, axis, limits, driver in _JOINTS:
        more = _limit(*limits)
        if driver:
            more += f'<mimic joint="{driver}" multiplier="0.5"/>'
        parts.append(
            _JOINT.format(
                name=name, kind=kind, parent=_LINKS[parent][0], child=_LINKS[child][0], at=at,
                axis=axis, more=more,
            )
        )  # fmt: skip
    return '<robot name="mobile_arm">' + ''.join(parts) + '</robot>'


@functools.cache
def model():
    """Return the model on the CPU."""
    return Model.from_urdf(urdf(), device='cpu')


def on_rail(**values):
    """Return the arm with its flange as the frame task."""
    files = RobotFiles(
        'mobile_arm', Path(), base_link='floor_rail', tip_link='flange', home=START
    )
    return Rig.shared(files, model=model(), **values)

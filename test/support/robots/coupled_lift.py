# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A lift of two stages, of which the second mimics the first, with a turntable on it."""

from pathlib import Path

from ros_ik.demo.robots import RobotFiles
from ros_ik.model import Model

_URDF = """
<robot name="coupled_lift">
  <link name="base"/><link name="stage"/><link name="top"/><link name="table"/>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="stage"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="0.5" effort="1"/></joint>
  <joint name="upper" type="prismatic"><parent link="stage"/><child link="top"/><axis xyz="0 0 1"/>
    <limit lower="-{follower}" upper="{follower}" velocity="{speed}" effort="1"/>
    <mimic joint="lift" multiplier="{factor}"/></joint>
  <joint name="turn" type="revolute"><parent link="top"/><child link="table"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
</robot>"""
FILES = RobotFiles('coupled_lift', Path(), base_link='base', tip_link='table', home={})


def model(factor=1.0, follower=3.0, speed=0.5):
    """Return the model.

    Args:
        factor: Motion of the second stage for a motion of the first.
        follower: Position limit of the second stage [m].
        speed: Its velocity limit [m/s].
    """
    text = _URDF.format(factor=factor, follower=follower, speed=speed)
    return Model.from_urdf(text, device='cpu')

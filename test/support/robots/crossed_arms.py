# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot of three arms with one joint each, two of which overlap at the neutral configuration."""


def arm(name, y, radius=0.05):
    """Return an arm that turns about z, with a ball 0.3 m from its axis."""
    return f"""<link name="{name}"><collision><origin xyz="0.3 0 0"/>
      <geometry><sphere radius="{radius}"/></geometry></collision></link>
      <joint name="{name}_joint" type="revolute"><parent link="base"/><child link="{name}"/>
      <origin xyz="0 {y} 0"/><axis xyz="0 0 1"/>
      <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>"""


# The balls of left and right overlap by 60 mm at the neutral configuration.
CROSSED_ARMS = f"""<robot name="r"><link name="base"/>
  <link name="top"/><joint name="top_joint" type="fixed"><parent link="base"/>
  <child link="top"/></joint>{arm('left', 0.02)}{arm('right', -0.02)}
  {arm('tool', 1.0)}</robot>"""

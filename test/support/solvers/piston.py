# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A ball on a slide that leaves the ball at its base only near the end of the slide."""

from ros_ik.model import Model

# Largest position of the slide [m] and radius of the ball on it [m].
END, BALL = 0.625, 0.1


def piston(radius):
    """Return a model whose joints turn and extend a slide.

    The balls of base and tip are apart where the second joint is beyond radius + BALL, and touch
    everywhere if that exceeds END.

    Args:
        radius: Radius of the ball at the base [m].
    """
    base, tip = (
        f'<collision><geometry><sphere radius="{size}"/></geometry></collision>'
        for size in (radius, BALL)
    )
    return Model.from_urdf(
        f'<robot name="piston"><link name="base">{base}</link><link name="turn"/>'
        f'<link name="tip">{tip}</link>'
        '<joint name="a" type="revolute"><parent link="base"/><child link="turn"/>'
        '<axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint>'
        '<joint name="b" type="prismatic"><parent link="turn"/><child link="tip"/>'
        f'<axis xyz="1 0 0"/><limit lower="0" upper="{END}" velocity="1" effort="1"/></joint>'
        '</robot>',
        device='cpu',
    )

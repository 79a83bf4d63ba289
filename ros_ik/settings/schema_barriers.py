# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schema, sections on barriers: boxes, pairs of links, obstacles, padding."""

from __future__ import annotations

import math

from ros_ik.settings.parameter import Parameter

# Addition to the descriptions of gains.
_AT_MOST = (
    'With jerk limits it counts as at most a sixth of the least ratio of jerk to acceleration '
    'limit.'
)

BARRIERS = (
    Parameter(
        'barriers.recheck', 'bool', True,
        'Check every commanded configuration, and the stop that could follow it, against the '
        'barriers by forward kinematics before it is sent. Brake in time if the stop would '
        'violate one. Without the check, barriers hold only approximately, as each step '
        'takes them for linear.',
    ),
    Parameter(
        'barriers.position.<barrier>.frame', 'string', '',
        'Link whose origin stays in the box. Required.', read_only=True,
    ),
    Parameter(
        'barriers.position.<barrier>.min', 'double[]', (-math.inf, -math.inf, -math.inf),
        'Lower corner of the box in base_frame; -.inf for no bound.',
        unit='m', lengths=(3,), finite=False, read_only=True,
    ),
    Parameter(
        'barriers.position.<barrier>.max', 'double[]', (math.inf, math.inf, math.inf),
        'Upper corner of the box in base_frame; .inf for no bound.',
        unit='m', lengths=(3,), finite=False, read_only=True,
    ),
    Parameter(
        'barriers.position.<barrier>.axes', 'bool[]', (True, True, True),
        'Axes on which the box applies.', lengths=(3,), read_only=True,
    ),
    Parameter(
        'barriers.position.<barrier>.gain', 'double', 5.0,
        'Fraction of the distance beyond the margin that may be used up per second. With the '
        'default a frame at 0.5 m/s begins to slow down at 0.1 m. ' + _AT_MOST,
        unit='1/s', minimum=0.0, exclusive_minimum=True, read_only=True,
    ),
    Parameter(
        'barriers.position.<barrier>.margin', 'double', 0.0,
        'Distance kept from the faces. A frame that is already closer may only move away.',
        unit='m', minimum=0.0, read_only=True,
    ),
)  # fmt: skip

_SELF = (
    Parameter(
        'barriers.self_collision.enabled', 'bool', True,
        'Keep the links apart from each other, by the collision shapes of the description. Not '
        'checked are neighbours at a joint, pairs that the SRDF disables, collision.ignore_pairs, '
        'and pairs that are nearer than the margin at nearly all configurations. A mesh becomes a '
        'few capsules that enclose it. So does a box, cylinder or cone that a capsule exceeds by '
        'at most a quarter of its size and 0.05 m. A missing mesh is ignored, and the status '
        'names its link in unmeasured_links.', read_only=True,
    ),
    Parameter(
        'barriers.self_collision.margin', 'double', 0.01,
        'Distance kept between links. Links that are already closer may only move apart. Links '
        'that pass each other closely have none, see collision.exclude_touching_pairs.',
        unit='m', minimum=0.0, maximum=0.2,
    ),
    Parameter(
        'barriers.self_collision.gain', 'double', 5.0,
        'Fraction of the distance beyond the margin that may be used up per second. With 5, '
        'links that approach at 0.5 m/s begin to slow down at 0.1 m. ' + _AT_MOST,
        unit='1/s', minimum=0.0, exclusive_minimum=True, maximum=1000.0,
    ),
    Parameter(
        'barriers.self_collision.max_pairs', 'int', 8,
        'Number of pairs that the step takes into account, here and among obstacles. It takes '
        'those that could touch soonest, and as many of those that are already nearer than the '
        'margin. Only the check of the step covers further pairs: they brake later than the gain '
        'demands.',
        minimum=1, maximum=64, read_only=True,
    ),
)  # fmt: skip

_WORLD = (
    Parameter(
        'barriers.world.enabled', 'bool', True,
        'Keep the links away from the obstacles of ~/obstacles.', read_only=True,
    ),
    Parameter(
        'barriers.world.margin', 'double', 0.02,
        'Distance kept from obstacles. Links that are already closer may only move away.',
        unit='m', minimum=0.0, maximum=1.0,
    ),
    Parameter(
        'barriers.world.gain', 'double', 5.0,
        'Fraction of the distance beyond the margin that may be used up per second. ' + _AT_MOST,
        unit='1/s', minimum=0.0, exclusive_minimum=True, maximum=1000.0,
    ),
    Parameter(
        'barriers.world.evasion_speed', 'double', 1.0,
        'Joint speed with which links may leave the margin of an obstacle that touches none of '
        'them. The distance grows by no more than the gain times the depth in the margin. Links '
        'that an obstacle overlaps from the start leave it with 0.1, and so do all with 0.',
        unit='rad/s or m/s', minimum=0.0, maximum=10.0,
    ),
    Parameter(
        'barriers.max_obstacles', 'int', 64,
        'Largest number of obstacles; a message that would exceed it is rejected. It bounds the '
        'time of a tick.', minimum=1, maximum=1000, read_only=True,
    ),
)  # fmt: skip

COLLISION: tuple[Parameter, ...] = (
    *_SELF,
    *_WORLD,
    Parameter(
        'collision.ignore_pairs', 'string[]', (),
        "Pairs of links that may touch, 'link_a:link_b', in addition to those that the SRDF "
        'disables.',
        read_only=True,
    ),
    Parameter(
        'collision.padding', 'double', 0.0,
        'Thickness added to the collision shapes of the robot, for cables and covers that are '
        'missing from the description. Hulls of links that pass each other closely get none.',
        unit='m', minimum=0.0, maximum=0.5, read_only=True,
    ),
    Parameter(
        'collision.exclude_touching_pairs', 'bool', True,
        'Ignore pairs of collision shapes that touch at the neutral and at 95 % of random '
        'configurations. Ignore also pairs whose fits touch often while the shapes meet at none '
        'of 4000 configurations. Some fits are always nearer than the margin while the shapes '
        'meet at some configurations: their convex hulls are watched, without the margin. Where '
        'the hulls would hold the robot, nothing is watched, and the log names the links. The '
        'pairs are found once and stored with the fits; ~/srdf_lines writes the pairs of links '
        'that always touch for an SRDF.',
        read_only=True,
    ),
)  # fmt: skip

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The part of the schema on collisions: pairs, obstacles, padding."""

from __future__ import annotations

from ros_ik.settings.parameter import Parameter

_SELF = (
    Parameter(
        'barriers.self_collision.enabled', 'bool', True,
        'Keep the links apart from each other: those that the collision shapes of the description '
        'stand for, except neighbours at a joint, pairs that the SRDF disables, '
        'collision.ignore_pairs, and pairs that are nearer than the margin wherever the robot '
        'is. A mesh becomes a few capsules that hold it; one that is not found is left out, '
        'and its link named in unmeasured_links of the status.', read_only=True,
    ),
    Parameter(
        'barriers.self_collision.margin', 'double', 0.01,
        'Distance kept between links. Below it distances may grow and not shrink.',
        unit='m', minimum=0.0, maximum=0.2,
    ),
    Parameter(
        'barriers.self_collision.gain', 'double', 5.0,
        'Part of the distance beyond the margin that may be used up per second: links that come '
        'nearer at 0.5 m/s begin to slow down at 0.1 m.',
        unit='1/s', minimum=0.0, exclusive_minimum=True, maximum=1000.0,
    ),
    Parameter(
        'barriers.self_collision.max_pairs', 'int', 8,
        'Number of pairs that the step takes into account, here and among obstacles: those that '
        'could touch soonest, and as many of those that are nearer than the margin already. Pairs '
        'beyond them are left to the check of the step: they brake later than the gain asks for.',
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
        'Distance kept from obstacles. Below it distances may grow and not shrink.',
        unit='m', minimum=0.0, maximum=1.0,
    ),
    Parameter(
        'barriers.world.gain', 'double', 5.0,
        'Part of the distance beyond the margin that may be used up per second.',
        unit='1/s', minimum=0.0, exclusive_minimum=True, maximum=1000.0,
    ),
    Parameter(
        'barriers.max_obstacles', 'int', 64,
        'Most obstacles at a time; a message that would make them more is refused. It bounds the '
        'time of a tick.', minimum=1, maximum=1000, read_only=True,
    ),
)  # fmt: skip

COLLISION: tuple[Parameter, ...] = (
    *_SELF,
    *_WORLD,
    Parameter(
        'collision.ignore_pairs', 'string[]', (),
        "Pairs of links that may touch, 'link_a:link_b', beside those that the SRDF disables.",
        read_only=True,
    ),
    Parameter(
        'collision.padding', 'double', 0.0,
        'How much thicker than its collision shapes the robot counts, for cables and covers that '
        'the description lacks.', unit='m', minimum=0.0, maximum=0.5, read_only=True,
    ),
    Parameter(
        'collision.exclude_touching_pairs', 'bool', True,
        'Leave out pairs of collision shapes that are nearer than the margin at the neutral and '
        'at 95 % of random configurations, and pairs whose fits touch often while the hulls of '
        'their meshes meet at none of 4000 configurations. They are found once and kept with the '
        'fits; ~/srdf_lines writes the pairs of links that always touch for an SRDF.',
        read_only=True,
    ),
)  # fmt: skip

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schema, sections on limits."""

from __future__ import annotations

import math

from ros_ik.settings.parameter import Parameter

LIMITS = (
    Parameter(
        'limits.position_margin', 'double[]', (0.02,),
        'Distance kept from the position limits, one number or one per controlled joint in the '
        'order of the group. It is at most half of the range of a joint. A wider margin takes '
        'effect when the robot can stop before it.',
        unit='rad or m', minimum=0.0, maximum=1.0,
    ),
    Parameter(
        'limits.velocity_scale', 'double', 1.0,
        'Fraction of the velocity limits to use. With a lower value in motion, speeds decrease as '
        'fast as the other limits allow.',
        minimum=0.0, maximum=1.0, exclusive_minimum=True,
    ),
    Parameter(
        'limits.acceleration_scale', 'double', 1.0,
        'Fraction of the acceleration limits to use, also to stop: with 0.1 stopping takes ten '
        'times as long. In motion a lower value takes effect when the robot can stop with it '
        'before its position limits. A higher one takes effect once stops have been checked with '
        'it.',
        minimum=0.01, maximum=1.0,
    ),
    Parameter(
        'limits.jerk', 'string', 'soft',
        'Meaning of max_jerk. soft: it applies to motion towards targets, and every other limit '
        'takes precedence. strict: it always holds, like every other limit, also in braking, at '
        'barriers and in every stop; stops then take longer, and barriers are checked for that. '
        'Only the first step of a restart may exceed it, as in docs/safety_notes.md. Every '
        'controlled joint then needs max_jerk, and a changed acceleration_scale or a wider '
        'position_margin takes effect at rest.',
        choices=('soft', 'strict'), read_only=True,
    ),
)  # fmt: skip

JOINT_LIMITS = (
    Parameter(
        'joint_limits.<joint>.has_velocity_limits', 'bool', False,
        'True if max_velocity applies.', read_only=True,
    ),
    Parameter(
        'joint_limits.<joint>.max_velocity', 'double', 0.0,
        'Velocity limit, above 0 if it applies; may only tighten that of the URDF.',
        unit='rad/s or m/s', minimum=0.0, read_only=True,
    ),
    Parameter(
        'joint_limits.<joint>.has_acceleration_limits', 'bool', False,
        'True if max_acceleration applies. Without it a joint may reach its velocity limit in 0.2 '
        's, or accelerate by 10 rad/s^2 or m/s^2 if it has no velocity limit.', read_only=True,
    ),
    Parameter(
        'joint_limits.<joint>.max_acceleration', 'double', 0.0,
        'Acceleration limit, above 0 if it applies.',
        unit='rad/s^2 or m/s^2', minimum=0.0, read_only=True,
    ),
    Parameter(
        'joint_limits.<joint>.has_jerk_limits', 'bool', False,
        'True if max_jerk applies.', read_only=True,
    ),
    Parameter(
        'joint_limits.<joint>.max_jerk', 'double', 0.0,
        'Jerk limit, above 0 if it applies. With limits.jerk soft every other limit takes '
        'precedence: a stop may use the whole acceleration limit at once.',
        unit='rad/s^3 or m/s^3', minimum=0.0, read_only=True,
    ),
    Parameter(
        'joint_limits.<joint>.has_position_limits', 'bool', False,
        'True if min_position and max_position apply.', read_only=True,
    ),
    Parameter(
        'joint_limits.<joint>.min_position', 'double', -math.inf,
        'Lower position limit; may only tighten that of the URDF.',
        unit='rad or m', finite=False, read_only=True,
    ),
    Parameter(
        'joint_limits.<joint>.max_position', 'double', math.inf,
        'Upper position limit; may only tighten that of the URDF.',
        unit='rad or m', finite=False, read_only=True,
    ),
)  # fmt: skip

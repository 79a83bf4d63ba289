# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A servo whose settings change moves as one that had them from the start."""

import functools

import numpy as np
import pytest
from support.rigs.barrier_rig import BarrierRig

from ros_ik.settings import SettingsError

_TICKS = 150
_POSE = {
    'reached': (0.4, 0.3, 0.5, *np.array([0.9, 0.3, 0.2, 0.1]) / np.sqrt(0.95)),
    'too far': (1.2, 0.3, 0.5, 1.0, 0.0, 0.0, 0.0),
    'inside itself': (0.0, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0),
    'inside the ball': (0.55, 0.3, 0.45, 1.0, 0.0, 0.0, 0.0),
}
# Settings, except at the start: a lower speed takes effect gradually. Barriers permit fast
# approaches, so that only braking in time holds links back.
_FAST = {
    'ee__max_linear_speed': 2.0,
    'ee__max_linear_acceleration': 50.0,
    'barriers__world__gain': 50.0,
}
_FIRST = {'limits.velocity_scale': 0.1, 'ee.offset_xyz': [0.0, 0.0, 0.01]}
_CASES = [
    ('limits.velocity_scale', 0.3, 'reached'),
    ('limits.acceleration_scale', 0.2, 'reached'),
    ('limits.acceleration_scale', 0.2, 'inside the ball'),
    ('solver.damping', 0.05, 'reached'),
    ('solver.regularization', 0.05, 'reached'),
    ('solver.singularity_threshold', 0.3, 'too far'),
    ('solver.singularity_damping', 0.5, 'too far'),
    ('ee.offset_xyz', [0.0, 0.05, 0.1], 'reached'),
    ('ee.offset_rpy', [0.1, 0.2, 0.3], 'reached'),
    ('ee.position_weight', [1.0, 0.0, 1.0], 'reached'),
    ('ee.orientation_weight', 0.1, 'too far'),
    ('ee.gain', 0.3, 'reached'),
    ('ee.max_linear_speed', 0.1, 'reached'),
    ('ee.max_angular_speed', 0.1, 'reached'),
    ('ee.max_linear_acceleration', 0.5, 'reached'),
    ('ee.max_angular_acceleration', 0.5, 'reached'),
    ('posture.weight', 0.2, 'reached'),
    ('barriers.self_collision.margin', 0.05, 'inside itself'),
    ('barriers.self_collision.gain', 1.0, 'inside itself'),
    ('barriers.world.margin', 0.08, 'inside the ball'),
    ('barriers.world.gain', 1.0, 'inside the ball'),
]


def rig(**values):
    """Return a Panda with its meshes beside a ball."""
    rig = BarrierRig(control_rate=100.0, **{**_FAST, **values})
    rig.add('ball', 'sphere', (0.1,), _POSE['inside the ball'][:3])
    rig.tick(3)
    return rig


def motion(rig, pose):
    """Return the joint velocities on the way to a pose, until it is reached, and the reports."""
    rig.published.clear()
    rig.outputs.clear()
    rig.aim(np.array(_POSE[pose]))
    rig.tick(_TICKS)
    speeds = np.zeros((_TICKS, len(rig.robot.group.variable_dof)))
    published = rig.speeds()
    speeds[: len(published)] = published
    return speeds, [(output.code, output.limiting_barrier) for output in rig.outputs]


def ready(**values):
    """Return such a rig that tracks already, where it is."""
    each = rig(**values)
    each.aim(each.pose())
    each.tick(5)
    return each


@functools.cache
def unchanged_speeds(pose, name):
    """Return the joint velocities with the first value of a setting, or with all defaults."""
    first = {} if name is None else {name.replace('.', '__'): _FIRST[name]}
    return motion(ready(**first), pose)[0]


@pytest.mark.parametrize(
    ('name', 'value', 'pose'), _CASES, ids=[f'{case[0]}, {case[2]}' for case in _CASES]
)
def test_what_is_set_later_counts_as_if_it_had_been_set_from_the_start(name, value, pose):
    key = name.replace('.', '__')
    first = {key: _FIRST[name]} if name in _FIRST else {}
    begun, changed = ready(**{key: value}), ready(**first)
    changed.set(**{key: value})
    expected, (speeds, reports) = motion(begun, pose), motion(changed, pose)
    # Rounding, because the solver starts from another state.
    assert speeds == pytest.approx(expected[0], abs=1e-6)
    # The first tick reports that the new margin is violated.
    assert reports[1:] == expected[1][1:]
    unchanged = unchanged_speeds(pose, name if name in _FIRST else None)
    assert np.abs(speeds - unchanged).max() > 1e-4


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('posture.positions', [0.1]),
        ('limits.position_margin', [0.05, 0.1]),
        ('following_error.max', [0.1, 0.2]),
    ],
)
def test_lists_of_the_wrong_length_change_nothing(name, value):
    refused, untouched = BarrierRig(), BarrierRig()
    for robot in (refused, untouched):
        robot.aim(_POSE['reached'])
        robot.tick(5)
    settings = refused.settings
    with pytest.raises(SettingsError, match=name):
        refused.set(**{name: value, 'limits.velocity_scale': 0.2})
    assert refused.servo.settings is settings
    for robot in (refused, untouched):
        robot.tick(20)
    for one, other in zip(refused.outputs, untouched.outputs, strict=True):
        np.testing.assert_array_equal(one.joint_q, other.joint_q)

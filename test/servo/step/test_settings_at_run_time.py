# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A servo whose settings change moves as one that had them from the start.

Settings that do not concern a motion leave it exactly as it is.
"""

import functools

import numpy as np
import pytest
from support.rigs.barrier_rig import BarrierRig
from support.rigs.servo_rig import Rig

from ros_ik.servo import StatusCode
from ros_ik.servo import StopState
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
    ('limits.position_margin', [0.5], 'too far'),
    ('ee.offset_xyz', [0.0, 0.05, 0.1], 'reached'),
    ('ee.offset_rpy', [0.1, 0.2, 0.3], 'reached'),
    ('ee.position_weight', [1.0, 0.0, 1.0], 'reached'),
    ('ee.orientation_weight', 0.1, 'too far'),
    ('ee.position_weight', 10.0, 'too far'),
    ('ee.gain', 0.3, 'reached'),
    ('ee.max_linear_speed', 0.1, 'reached'),
    ('ee.max_angular_speed', 0.1, 'reached'),
    ('ee.max_linear_acceleration', 0.5, 'reached'),
    ('ee.max_angular_acceleration', 0.5, 'reached'),
    ('ee.max_linear_speed', 0.1, 'moving'),
    ('ee.target_prediction', 'off', 'moving'),
    ('ee.target_filter_tau', 0.2, 'moving'),
    ('posture.weight', 0.2, 'reached'),
    ('max_target_step_linear', 0.002, 'reached'),
    ('max_target_step_angular', 0.005, 'reached'),
    ('barriers.self_collision.margin', 0.05, 'inside itself'),
    ('barriers.self_collision.gain', 1.0, 'inside itself'),
    ('barriers.world.margin', 0.08, 'inside the ball'),
    ('barriers.world.gain', 1.0, 'inside the ball'),
]


def rig(make, **values):
    """Return a Panda with its meshes beside a ball."""
    rig = make(control_rate=100.0, **{**_FAST, **values})
    rig.add('ball', 'sphere', (0.1,), _POSE['inside the ball'][:3])
    rig.tick(3)
    return rig


def stream(rig, tick):
    """Stream a pose that moves."""
    pose = rig.begun.copy()
    pose[1:3] += 0.15 * tick * rig.dt, 0.05 * np.sin(0.1 * tick)
    rig.aim(pose)


def motion(rig, pose):
    """Return the joint velocities on the way to a pose, or along with one, and the reports."""
    rig.published.clear()
    rig.outputs.clear()
    if pose == 'moving':
        rig.begun = rig.pose()
        for tick in range(_TICKS):
            stream(rig, tick)
            rig.tick()
    else:
        rig.aim(np.array(_POSE[pose]))
        rig.tick(_TICKS)
    speeds = np.zeros((_TICKS, len(rig.robot.group.variable_dof)))
    published = rig.speeds()
    speeds[: len(published)] = published
    return speeds, [(output.code, output.limiting_barrier) for output in rig.outputs]


def ready(make, **values):
    """Return such a rig that tracks already, where it is."""
    each = rig(make, **values)
    each.aim(each.pose())
    each.tick(5)
    return each


@functools.cache
def unchanged_speeds(pose, name):
    """Return the joint velocities with the first value of a setting, or with all defaults."""
    first = {} if name is None else {name.replace('.', '__'): _FIRST[name]}
    return motion(ready(BarrierRig.shared, **first), pose)[0]


@pytest.mark.parametrize(
    ('name', 'value', 'pose'), _CASES, ids=[f'{case[0]}, {case[2]}' for case in _CASES]
)
def test_what_is_set_later_counts_as_if_it_had_been_set_from_the_start(name, value, pose):
    key = name.replace('.', '__')
    first = {key: _FIRST[name]} if name in _FIRST else {}
    begun, changed = ready(BarrierRig, **{key: value}), ready(BarrierRig.shared, **first)
    changed.set(**{key: value})
    expected, (speeds, reports) = motion(begun, pose), motion(changed, pose)
    # Rounding, because the solver starts from another state.
    assert speeds == pytest.approx(expected[0], abs=1e-6)
    # The first tick reports that the new margin is violated.
    assert reports[1:] == expected[1][1:]
    unchanged = unchanged_speeds(pose, name if name in _FIRST else None)
    assert np.abs(speeds - unchanged).max() > 1e-4


def test_a_bound_on_the_iterations_of_a_step_takes_effect_at_run_time():
    # Far below a floor, slow joints can do a small part of what the barrier asks for.
    rig = Rig.shared(
        home={'panda_joint2': 0.9, 'panda_joint4': -2.0}, limits__velocity_scale=0.001,
        barriers__position__floor__frame='panda_hand',
        barriers__position__floor__min=[-9.0, -9.0, 0.2], barriers__position__floor__gain=50.0,
    )  # fmt: skip
    rig.aim(rig.moved((0.0, 0.0, 0.3)))
    for count, fails in ((1, True), (500, False), (2, True)):
        rig.set(solver__max_iterations=count)
        codes = {rig.tick().code for _ in range(3)}
        assert codes == {StatusCode.SOLVER_FAILED if fails else StatusCode.HALTED_BY_BARRIER}
        assert rig.servo._solver.diff.settings.max_iterations == count


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


def pose(rig, tick):
    """Aim at a pose far away."""
    if tick == 0:
        rig.aim(rig.begun + np.array([0.05, 0.3, 0.1, 0.0, 0.0, 0.0, 0.0]))


def velocity(rig, tick):
    """Command a velocity, which ends in a halt."""
    if tick == 0:
        rig.aim_twist((0.05, 0.2, 0.0), (0.0, 0.1, 0.3))
    if tick == 50:
        rig.quiet()


def jog(rig, tick):
    """Jog one joint, then another."""
    rig.aim_joint_velocities(**{'panda_joint1' if tick < 40 else 'panda_joint3': 0.5})


def center(rig, tick):
    """Move the centre of mass."""
    if tick == 0:
        rig.aim_center(rig.servo.targets.center.center(rig.servo._poses()) + [0.0, 0.05, 0.0])


def stop(rig, tick):
    """Turn a joint, and stop it."""
    if tick == 0:
        rig.aim_joints(panda_joint1=1.0)
    if tick == 30:
        rig.change(stop=StopState.LATCHED)


def bursts(rig, tick):
    """Turn a joint of a robot that sags there and back, with a rest in between."""
    rig.offset[rig.robot.coords] = 0.03
    if tick % 60 == 0:
        rig.aim_joints(panda_joint1=-0.1 if tick % 120 else 0.1)
    if tick % 60 == 15:
        rig.quiet()


def frozen(rig, tick):
    """Turn a joint that stands still after a while."""
    coord = rig.robot.coords[0]
    if tick == 0:
        rig.aim_joints(panda_joint1=1.0)
    if tick == 30:
        rig.stands = rig.q[coord]
    if tick >= 30:
        rig.offset[coord] = rig.stands - rig.q[coord]


_MOTIONS = {
    'stream': (stream, {}),
    'filtered stream': (stream, {'target_filter_tau': 0.2}),
    'velocity': (velocity, {}),
    'jog': (jog, {}),
    'center': (center, {'com__weight': 1.0}),
    'halt that returns': (stop, {'halt_mode': 'hold'}),
    'bursts': (bursts, {'command_timeout': 0.05}),
    'frozen robot': (frozen, {}),
    'elbow': (pose, {'ee__elbow_frame': 'panda_link4', 'ee__elbow_speed': 0.5}),
}


@pytest.mark.parametrize('name', _MOTIONS)
def test_what_does_not_concern_a_motion_leaves_it_as_it_is(name):
    move, values = _MOTIONS[name]
    found = []
    for changes in (False, True):
        rig = Rig.shared(reports=False, **values)
        rig.begun = rig.pose()
        for tick in range(150):
            move(rig, tick)
            if changes and tick % 3 == 2:
                rig.set(status_rate=5.0 + tick % 2)
            rig.tick()
        found.append([(o.code, o.publish, o.joint_q.tolist()) for o in rig.outputs])
    differs = [tick for tick, (one, other) in enumerate(zip(*found, strict=True)) if one != other]
    assert not differs
    assert np.abs(rig.speeds()).max() > 0.1, 'the test shows nothing'

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Random limits, gains and rates: a constant pose is reached and kept. Ends of ranges, too."""

import math

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.chain_joints import chain_joints
from support.rigs.servo_rig import Rig
from support.robots import mobile_arm
from support.robots.humanoid import ARMS
from support.robots.humanoid import one_handed
from support.robots.humanoid import TORSO

from benchmarks.harness.robots import load_robot
from benchmarks.motion.ticked_servo import motion_limits
from ros_ik.servo import StatusCode
from ros_ik.settings import expand_parameters

ROBOTS = ('panda', 'ur5')
# The last one has slow joints, of whose steps the posture takes a large part. The short form has
# each robot, rate, gain, ratio, mode and time constant, in few ticks.
SEEDS = either((1, 2, 4, 11, 17, 23, 60), (*range(24), 60))


def spread(rng, low, high):
    """Return a number of log-uniform distribution."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def away_and_speed(rig, target):
    """Return the distance from a target [m], and the speed of the fastest joint [rad/s]."""
    speeds = rig.outputs[-1].joint_qd[rig.robot.group.variable_dof]
    return np.linalg.norm(rig.pose()[:3] - target[:3]), np.abs(speeds).max()


def extremes():
    """Return each number that may change at any time, with its least and its largest value."""
    found = []
    for name, parameter in expand_parameters({}).items():
        if parameter.read_only or parameter.type not in ('double', 'int'):
            continue
        for value in (parameter.minimum, parameter.maximum):
            at_bound = value == parameter.minimum and parameter.exclusive_minimum
            if value is not None and math.isfinite(value):
                found.append((name, 1e-12 if at_bound else value))
    return found


@pytest.mark.parametrize(('name', 'value'), extremes())
def test_no_tick_fails_at_the_ends_of_a_range(name, value):
    rig = Rig.shared('panda', reports=False)
    rig.aim(rig.moved((0.0, 0.3, 0.1)))
    rig.tick(20)
    rig.set(**{name.replace('.', '__'): value})
    rig.tick(60)
    failures = (StatusCode.SOLVER_FAILED, StatusCode.NON_FINITE_BLOCKED)
    assert not {output.code for output in rig.outputs}.intersection(failures)
    rig.quiet()
    rig.tick(60)
    rig.assert_within_limits()


def make_rig(rng):
    """Return a robot with random settings, and the time of a reversal by its jerk limits [s]."""
    robot = str(rng.choice(ROBOTS))
    acceleration, ratio = spread(rng, 0.5, 20.0), float(rng.choice([0, 3, 5, 10, 20, 50, 100]))
    values = {
        'control_rate': float(rng.choice([50.0, 100.0, 250.0])),
        'ee__gain': float(rng.choice([1.0, 0.5, 0.1])),
        'ee__max_linear_speed': float(rng.choice([0.1, 0.5, 1.0])),
        'ee__max_linear_acceleration': spread(rng, 0.3, 10.0),
        'ee__max_angular_acceleration': spread(rng, 1.0, 20.0),
        'target_filter_tau': float(rng.choice([0.0, 0.1])),
    }
    values |= motion_limits(load_robot(robot).joints, acceleration, ratio)
    if ratio:
        values['limits__jerk'] = str(rng.choice(['soft', 'strict']))
    return Rig.shared(robot, reports=False, **values), 12.0 / ratio if ratio else 0.0


@pytest.mark.parametrize('seed', SEEDS)
def test_a_pose_is_reached_and_not_swung_about(seed):
    rng = np.random.default_rng(seed)
    rig, reversal = make_rig(rng)
    target, way = rig.pose().copy(), rng.normal(size=3)
    way *= rng.uniform(0.03, 0.25) / np.linalg.norm(way)
    target[:3] += way
    rig.aim(target)
    task, length = rig.settings.tasks[0], np.linalg.norm(way)
    # With the least part of the requested acceleration that the joints may have.
    slowest = min(0.25 * task.max_linear_acceleration, 0.25 * rig.robot.acceleration.min())
    patience = 3.0 + reversal + length / task.max_linear_speed + 2.0 * np.sqrt(length / slowest)
    distances, speeds = rig.watch(patience + 1.0, lambda: away_and_speed(rig, target)).T
    least = int(np.argmax(np.array(distances) < 2e-3))
    assert 0 < least, 'it is not reached'
    assert max(distances[least:]) < 3e-3, 'it is swung about'
    assert max(distances[-round(1.0 / rig.dt) :]) < 1e-3
    assert speeds[-round(0.3 / rig.dt) :].max() < 0.05
    rig.assert_within_limits()


@pytest.mark.parametrize(
    ('ratio', 'rate'), in_turn([50.0, 0.0, 5.0], [250.0, either(500.0, 1000.0)])
)
def test_slow_joints_reach_a_pose_far_from_their_posture(ratio, rate):
    # The posture takes as much of each step as such joints may gain in one.
    limits = motion_limits(load_robot('panda').joints, 0.3, ratio)
    rig = Rig.shared('panda', reports=False, control_rate=rate, **limits)
    target = rig.moved((0.157, -0.016, 0.085))
    rig.aim(target)
    rig.settle(8.0)
    np.testing.assert_allclose(rig.pose(), target, atol=1e-4)
    rig.assert_within_limits()


ANY_POSES = [(robot, seed, 24.0) for robot in ('panda', 'talos') for seed in range(20)]


@pytest.mark.parametrize(
    ('robot', 'seed', 'seconds'),
    either([('panda', 18, 8.0), ('talos', 8, 12.0), ('talos', 9, 14.0)], ANY_POSES),
)
def test_joints_that_a_pose_leaves_free_come_to_rest(robot, seed, seconds):
    # Nothing plans their motion, and they need 0.2 or 0.3 s to gain their acceleration.
    ratio = (3.0, 5.0)[seed % 2]
    if robot == 'talos':
        limits = motion_limits((*ARMS[:7], *TORSO), 1.0, ratio)
        rig = one_handed(reports=False, **limits)
    else:
        limits = motion_limits(load_robot(robot).joints, 1.0, ratio)
        rig = Rig.shared(robot, reports=False, **limits)
    target = rig.reachable(seed, 1.2)
    rig.aim(target)
    speeds = rig.watch(seconds, lambda: away_and_speed(rig, target), 0.01, 1.0)[:, 1]
    assert speeds[-round(1.0 / rig.dt) :].max() < 0.05
    rig.assert_within_limits()


# Each swung about its barrier for as long as the target was sent, at 0.2 to 0.5 rad/s.
BLOCKED = [
    ('baxter', 13, 1.0, {'rate': 100.0, 'gain': 20.0, 'acceleration': 4.0, 'ratio': 6.0}),
    ('baxter', 19, 1.0, {'rate': 100.0, 'gain': 5.0, 'acceleration': 1.25, 'ratio': 3.0}),
    ('baxter', 51, 1.0, {'rate': 100.0, 'gain': 20.0, 'acceleration': 3.75, 'ratio': 3.0}),
]
MORE_BLOCKED = [
    ('baxter', 33, 1.0, {'rate': 250.0, 'gain': 5.0, 'acceleration': 4.25, 'ratio': 6.0}),
    ('tiago', 44, 0.27, {'rate': 1000.0, 'gain': 20.0, 'acceleration': 0.82, 'ratio': 8.0}),
]


@pytest.mark.parametrize(
    ('robot', 'seed', 'part', 'settings'), either(BLOCKED, [*BLOCKED, *MORE_BLOCKED])
)
def test_links_that_meet_a_barrier_come_to_rest(robot, seed, part, settings):
    # Their joints take longer to gain their acceleration than the barrier takes to bind.
    limits = motion_limits(chain_joints(robot), settings['acceleration'], settings['ratio'])
    rig = Rig.shared(
        robot, reports=False, control_rate=settings['rate'],
        barriers__self_collision__enabled=True,
        barriers__self_collision__gain=settings['gain'], **limits,
    )  # fmt: skip
    target = rig.reachable(seed, 1.5)
    target[:3] *= part
    rig.aim(target)
    rig.settle(19.9, slowest=5e-3, span=1.5)
    rig.reports = True
    output = rig.tick(seconds=0.1)
    assert 'barrier self_collision' in output.text and output.barrier_distance < 0.012
    speeds = rig.speeds()[-round(1.5 / rig.dt) :]
    assert np.ptp(speeds, axis=0).max() < 0.03
    rig.assert_within_limits()


def rises(distances, least=3e-3):
    """Return by how much distances grow between falls, where it is more than ``least`` [m]."""
    found, low, high = [], distances[0], None
    for distance in distances:
        if high is None:
            low = min(low, distance)
            high = distance if distance > low + least else None
        elif distance < high - least:
            found.append(high - low)
            low, high = distance, None
        else:
            high = max(high, distance)
    return found if high is None else [*found, high - low]


@pytest.mark.parametrize(
    ('way', 'ratio', 'mode'),
    in_turn(
        [(0.07, -0.07, 0.34), (0.14, 0.34, 0.13), (-0.13, -0.03, 0.32)], [3.0, 5.0, 10.0],
        ['soft', 'strict'],
    ),
)  # fmt: skip
def test_a_joint_that_meets_its_limit_makes_no_hand_swing(way, ratio, mode):
    limits = motion_limits((*ARMS[:7], *TORSO), 5.0, ratio)
    rig = one_handed(reports=False, limits__jerk=mode, **limits)
    target = rig.pose().copy()
    target[:3] += way
    rig.aim(target)
    distances = rig.watch(6.0, lambda: away_and_speed(rig, target))[:, 0]
    # It may be led aside once.
    assert len(rises(distances)) <= 1
    assert np.ptp(distances[-round(0.5 / rig.dt) :]) < 3e-3
    rig.assert_within_limits()


# Displacements of an arm that starts with aligned axes, and jerk limits over acceleration limits.
# It had swung by 0.8, 0.5 and 0.4 m.
FROM_SINGULAR = [
    ((-0.175, -0.174, 0.021), 3.0), ((0.106, -0.083, 0.076), 10.0),
    ((-0.061, 0.313, -0.221), 5.0),
]  # fmt: skip


@pytest.mark.parametrize(('way', 'ratio'), FROM_SINGULAR)
@pytest.mark.parametrize('mode', either(['soft'], ['soft', 'strict']))
def test_a_tool_that_leaves_a_singularity_does_not_swing(way, ratio, mode):
    limits = motion_limits(mobile_arm.CONTROLLED, 1.0, ratio)
    rig = mobile_arm.on_rail(reports=False, limits__jerk=mode, **limits)
    target = rig.pose().copy()
    target[:3] += way
    rig.aim(target)
    assert rig.servo._solver.commanded_state.singularity.sigma()[0] < 1e-3
    distances = rig.watch(7.0, lambda: away_and_speed(rig, target))[:, 0]
    # It passes the target once: there, it loses speed more slowly than on the way.
    assert len(rises(distances)) <= 1 and max(rises(distances), default=0.0) < 0.05
    assert max(distances[-round(0.5 / rig.dt) :]) < 2e-3
    rig.assert_within_limits()

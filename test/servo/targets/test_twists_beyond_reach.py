# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lasting velocities that an arm cannot follow: it settles, and no joint moves to and fro."""

import numpy as np
import pytest
from support.long_forms import either
from support.rigs.chain_joints import chain_joints
from support.rigs.servo_rig import Rig

from benchmarks.motion.ticked_servo import motion_limits

# Speed that counts as motion [rad/s].
SLOWEST = 3e-4
# Ticks after which a velocity is repeated.
AGAIN = 5
ACCELERATION = 10.0


def make_rig(robot, mode, rate=100.0):
    """Return a robot without jerk limits ('free'), or with those of a mode of limits."""
    values = {'control_rate': rate, 'command_timeout': 1.0}
    if mode != 'free':
        values.update(
            motion_limits(chain_joints(robot), ACCELERATION, 20.0), limits__jerk=mode
        )
    return Rig.shared(robot, reports=False, **values)


def follow(rig, seconds, linear, angular=(0.0, 0.0, 0.0)):
    """Follow a velocity; return the velocities of the joints at each tick."""
    first = len(rig.published)
    for _ in range(round(seconds / rig.dt / AGAIN)):
        rig.aim_twist(linear, angular)
        rig.tick()
        rig.quiet()
        rig.tick(AGAIN - 1)
    return rig.speeds()[first:]


def reversals(speeds):
    """Return how often the joint that does so most often reverses, [ticks, n]."""
    found = []
    for speed in speeds.T:
        moving = speed[np.abs(speed) > SLOWEST]
        found.append(np.count_nonzero(np.diff(np.sign(moving))))
    return max(found)


def test_an_arm_at_the_edge_of_its_reach_rests():
    rig = make_rig('six_axis', 'free')
    follow(rig, 12.0, (0.05, 0.0, 0.0))
    speeds = follow(rig, 20.0, (0.0, 0.05, 0.0))
    assert rig.servo._solver.commanded_state.singularity.sigma()[0] < 0.012
    assert np.abs(speeds[-500:]).max() < 1e-3


# Faults of the damping, of the approach and of the requests show up in the first two cases where
# they do so in any. The third one has no jerk limits.
CHOSEN = [
    ('ur5', 'soft', 100.0, 3),
    # Near a singularity of the joints that are not at their limits.
    ('tiago', 'soft', 100.0, 25),
    ('panda', 'free', 100.0, 5),
]
CASES = either(
    CHOSEN,
    [
        *CHOSEN,
        ('six_axis', 'soft', 100.0, 1),
        ('six_axis', 'soft', 100.0, 3),
        ('panda', 'soft', 500.0, 6),
        ('ur5', 'soft', 100.0, 8),
        ('tiago', 'soft', 100.0, 60),
    ],
)


def draw(rng):
    """Draw a velocity [m/s] and an angular velocity [rad/s], which is often zero."""
    linear, angular = rng.normal(size=3), rng.normal(size=3)
    linear *= rng.uniform(0.03, 0.15) / np.linalg.norm(linear)
    turns = rng.uniform() < 0.4
    angular *= rng.uniform(0.05, 0.3) * turns / np.linalg.norm(angular)
    return linear, angular


@pytest.mark.parametrize(('robot', 'mode', 'rate', 'seed'), CASES)
def test_joints_do_not_move_to_and_fro(robot, mode, rate, seed):
    rig, rng = make_rig(robot, mode, rate), np.random.default_rng(seed)
    follow(rig, 8.0, *draw(rng))
    speeds = follow(rig, either(20.0, 30.0), *draw(rng))
    assert reversals(speeds[-round(10.0 * rate) :]) <= 3
    rig.assert_within_limits()


@pytest.mark.parametrize(
    ('mode', 'rate'), [('soft', either(500.0, 1000.0)), ('strict', 1000.0)]
)
def test_joints_do_not_swing_about_the_steps_of_many_ticks_per_ramp(mode, rate):
    # Joints need 50 ticks to accelerate to their limit at 1 kHz. At 100 Hz it is 5.
    rig, rng = make_rig('ur5', mode, rate), np.random.default_rng(1)
    speeds = follow(rig, 5.0, *draw(rng))
    assert rig.servo._solver.commanded_state.singularity.sigma()[0] < 0.03
    assert reversals(speeds[-round(2.0 * rate) :]) <= 3
    rig.assert_within_limits()

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles that come nearer: a robot that holds a pose moves out of their way, judged by coal."""

import numpy as np
import pytest
from support.long_forms import either
from support.rigs.barrier_rig import BarrierRig

RADIUS, RATE = 0.05, 20.0
SIDES = {'left': (0.0, -1.0, 0.0), 'front': (-1.0, 0.0, 0.0), 'below': (0.0, 0.0, 1.0)}


def meet(side, speed, margin, **values):
    """Let a ball come to the hand that holds a pose; return the least distance, and the rig.

    It comes on a line and stops where the hand was, and messages at 20 Hz say where it is.
    """
    rig = BarrierRig.shared(barriers__world__margin=margin, **values)
    hand, along = rig.pose()[:3], np.array(SIDES[side])
    rig.aim(rig.pose())
    period, least = round(1.0 / (RATE * rig.dt)), np.inf
    for tick in range(round((0.3 + margin) / (speed * rig.dt))):
        place = hand - along * (0.3 + margin - speed * tick * rig.dt)
        if tick % period == 0:
            rig.add('ball', 'sphere', (RADIUS,), tuple(place))
        rig.tick()
        if np.linalg.norm(place - hand) < 0.25:
            # The ball has moved on since the message.
            least = min(least, rig.obstacles_apart() - speed * (tick % period + 1) * rig.dt)
    rig.assert_within_limits()
    return least, rig


# With at most 0.1 rad/s the ball was up to 39 mm inside the hand.
@pytest.mark.parametrize('side', SIDES)
@pytest.mark.parametrize('speed', either((0.1,), (0.05, 0.1, 0.2, 0.3)))
def test_a_ball_within_the_rule_for_margins_touches_nothing(side, speed):
    least, _ = meet(side, speed, 0.3 * speed)
    assert least > 0.0


def test_strict_jerk_limits_hold_while_a_robot_evades():
    _, rig = meet('left', 0.1, 0.06, limits__jerk='strict', **{
        f'joint_limits__panda_joint{k}__{name}': value
        for k in range(1, 8)
        for name, value in (
            ('has_acceleration_limits', True), ('max_acceleration', 5.0),
            ('has_jerk_limits', True), ('max_jerk', 50.0),
        )
    })  # fmt: skip
    speeds = np.vstack([np.zeros((3, 7)), rig.speeds()])
    assert np.abs(speeds).max() > 0.02
    # Rounding of third differences of positions at 100 Hz.
    assert np.abs(np.diff(speeds, n=2, axis=0)).max() <= 50.0 * rig.dt**2 * (1.0 + 1e-6)


@pytest.mark.parametrize('deep', [0.005, 0.03])
def test_a_robot_that_starts_inside_an_obstacle_leaves_it_slowly(deep):
    ways = []
    for speed in (0.0, 1.0):
        rig = BarrierRig.shared(barriers__world__evasion_speed=speed)
        hand = rig.pose()[:3]
        rig.add('ball', 'sphere', (RADIUS,), (hand[0], hand[1] + RADIUS - deep, hand[2]))
        rig.aim(rig.pose())
        rig.tick(seconds=1.5)
        assert rig.obstacles_apart() > 0.01
        ways.append(rig.speeds()[:100])
    np.testing.assert_array_equal(*ways)
    assert 0.01 < np.abs(ways[0]).max() < 0.3


def test_evasion_ends_with_its_speed():
    near, _ = meet('front', 0.1, 0.03, barriers__world__evasion_speed=0.0)
    assert near < 0.0

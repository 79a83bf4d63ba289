# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Modes, targets, weights and aims that change in motion, as smoothly as a start of the same."""

import functools

import numpy as np
import pytest
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig

from benchmarks.motion.switches import AIMS
from benchmarks.motion.switches import BALANCES
from benchmarks.motion.switches import jerk_after
from benchmarks.motion.switches import OTHER_VELOCITY
from benchmarks.motion.switches import SAME_VELOCITY
from benchmarks.motion.switches import START
from benchmarks.motion.switches import START_OF_ELBOW

ROBOTS = ('panda', 'ur5')
RATES = (100.0, 500.0)
# Largest jerk with aims that change: 0.5 rad/s come or go as 0.5 rad/s / (0.1 s)^2 [rad/s^3].
UNSEEN = 60.0
# Step in the velocity of a joint, 0.5 at most, when weights and modes change; without continuity
# it is up to 0.16 [rad/s].
STEP = 6e-3
# Jerk of a change to another velocity, relative to that of a start: some turn the tool too.
AS_MUCH = 1.6


def make_rig(robot, switch, **values):
    """Return a robot with the settings of a switch."""
    return Rig.shared(robot, reports=False, **switch.values(robot), **values)


@functools.cache
def jerk_of_a_start(robot):
    """Return the largest jerk of a joint after a start at 0.25 m/s [rad/s^3]."""
    return jerk_after(make_rig(robot, START), START)


@pytest.mark.parametrize(('robot', 'name', 'rate'), in_turn(ROBOTS, list(AIMS), RATES))
def test_aims_come_and_go_without_a_step_in_acceleration(robot, name, rate):
    rig = make_rig(robot, AIMS[name], control_rate=rate)
    assert jerk_after(rig, AIMS[name]) < UNSEEN
    rig.assert_within_limits()


def test_an_elbow_that_changes_its_side_twice_makes_no_step_in_acceleration():
    switch, rate = AIMS['elbow to the other side'], 500.0
    rig = make_rig('panda', switch, control_rate=rate)
    # The second change comes while the motion to the other side begins.
    first, second = round(0.4 * rate), round(0.44 * rate)
    for k in range(round(0.6 * rate)):
        if k in (first, second):
            rig.set(ee__elbow_direction=[0.0, -1.0 if k == first else 1.0, 0.0])
        rig.change(**switch.before(rig))
        rig.tick()
    # Each of them changes the velocity of the aim by 1 rad/s.
    jerk = np.abs(np.diff(rig.speeds()[first - 2 :], 2, axis=0)).max() * rate**2
    assert jerk < 2.0 * UNSEEN
    rig.assert_within_limits()


@pytest.mark.parametrize(('robot', 'name', 'rate'), in_turn(ROBOTS, list(SAME_VELOCITY), RATES))
def test_modes_and_weights_change_without_a_step_in_velocity(robot, name, rate):
    rig = make_rig(robot, SAME_VELOCITY[name], control_rate=rate)
    assert jerk_after(rig, SAME_VELOCITY[name]) < STEP * rate**2
    rig.assert_within_limits()


@pytest.mark.parametrize('robot', ROBOTS)
@pytest.mark.parametrize('name', BALANCES)
def test_another_balance_of_two_tasks_is_no_rougher_than_a_start(robot, name):
    start = jerk_after(make_rig(robot, START_OF_ELBOW), START_OF_ELBOW)
    rig = make_rig(robot, BALANCES[name])
    assert jerk_after(rig, BALANCES[name]) < AS_MUCH * start
    rig.assert_within_limits()


@pytest.mark.parametrize(('robot', 'name'), in_turn(ROBOTS, list(OTHER_VELOCITY)))
def test_another_velocity_is_no_rougher_than_a_start(robot, name):
    rig = make_rig(robot, OTHER_VELOCITY[name])
    assert jerk_after(rig, OTHER_VELOCITY[name]) < AS_MUCH * jerk_of_a_start(robot)
    rig.assert_within_limits()

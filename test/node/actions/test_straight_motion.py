# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint paths: followed to the end even on a busy machine, abandoned if blocked."""

import types

import numpy as np
import pytest
from support.motions.polled_ticks import accelerations
from support.motions.polled_ticks import polled_ticks
from support.rigs.servo_rig import Rig
from support.robots.urdf_limits import still_model

from ros_ik.node.actions.straight_motion import StraightMotion

ARM = [f'panda_joint{k}' for k in range(1, 8)]
CHANGE = np.array([1.2, 0.3, -0.6, 0.4, -1.0, 0.3, 1.5])


class Followed:
    """A joint path from the present configuration of a Panda, polled from time to time."""

    def __init__(self, change=CHANGE, **settings):
        self.rig, self.change = Rig('panda', **settings), np.array(change)
        self.start = self.rig.q[self.rig.robot.coords].copy()
        self.rig.aim(self.rig.pose())
        output = self.rig.tick(5)
        self.rig.quiet()
        self.rig.change(poses=(None,))
        self.commander = types.SimpleNamespace(
            now=lambda: self.rig.now, ticks=0, servo=self.rig.servo, settings=self.rig.settings,
            reader=self.rig.reader, output=output,
        )  # fmt: skip
        self.way = StraightMotion(self.commander, ARM, (self.start + self.change).tolist())

    def look(self):
        """Set the next target; return True if the path continues."""
        target = self.way.target(self.rig.now)
        self.rig.change(joints=target)
        return target is not None

    def tick(self, count):
        for _ in range(count):
            self.commander.output = self.rig.tick()
            self.commander.ticks += 1

    def off_the_way(self):
        """Return the distance [rad] of the joints from the straight path."""
        gone = self.rig.q[self.rig.robot.coords] - self.start
        part = (gone @ self.change) / (self.change @ self.change)
        return np.linalg.norm(gone - part * self.change)

    def left(self):
        return np.abs(self.start + self.change - self.rig.q[self.rig.robot.coords]).max()


@pytest.mark.parametrize('late', ['ticks', 'looks', 'both'])
def test_the_end_is_reached_on_a_busy_machine(late):
    followed, rng = Followed(), np.random.default_rng(0)
    looks = 0
    worst = 0.0
    while followed.look():
        looks += 1
        assert looks < 2000
        worst = max(worst, followed.off_the_way())
        followed.tick(int(rng.integers(1, 150)) if late in ('looks', 'both') else 2)
        if late in ('ticks', 'both'):
            # Time without ticks.
            followed.rig.now += float(rng.uniform(0.0, 3.0))
    assert not followed.way.is_blocked
    assert followed.left() < 1.1e-3
    assert worst < 0.05
    followed.rig.assert_within_limits()


def test_the_speed_is_even_whenever_it_is_polled():
    followed, rng = Followed(), np.random.default_rng(0)
    rig, first = followed.rig, len(followed.rig.published)

    def poll(now):
        followed.commander.now = lambda: now
        target = followed.way.target(now)
        rig.change(joints=target)
        return target is None

    for _ in polled_ticks(rig, poll, rng, 0.1):
        followed.commander.output = rig.outputs[-1]
        followed.commander.ticks += 1
        assert followed.off_the_way() < 0.05
    assert followed.left() < 1.1e-3
    rough = np.abs(accelerations(rig, first)).max(axis=1)
    # Between the acceleration at the beginning and that at the end; it was the whole limit.
    third = len(rough) // 3
    assert third > 30
    assert rough[third:-third].max() < 0.1


def test_a_way_is_given_up_where_the_robot_is_held():
    followed = Followed()
    for _ in range(20):
        assert followed.look()
        followed.tick(2)
    assert followed.left() > 0.5
    followed.rig.change(paused=True)
    ticks = 0
    while followed.look():
        ticks += 2
        followed.tick(2)
    assert followed.way.is_blocked
    # A second of ticks after it has come to rest.
    assert 100 <= ticks <= 160


def test_joints_on_the_way_may_be_unable_to_move():
    change = np.where(np.arange(7) == 2, 0.0, CHANGE)
    followed = Followed(change, model=still_model('panda_joint3'))
    while followed.look():
        followed.tick(2)
        assert followed.off_the_way() < 0.05
    assert not followed.way.is_blocked
    assert followed.left() < 1.1e-3


def test_a_way_keeps_its_speed_while_a_lower_acceleration_is_deferred():
    """The servo brakes as before until it can stop before a limit with less."""
    followed = Followed()
    rig, coord = followed.rig, followed.rig.robot.coords[0]
    dof = rig.robot.group.variable_dof[0]
    end = rig.robot.upper[dof] - 0.025
    goal = rig.q[rig.robot.coords] + 0.0
    goal[0] = end
    assert end - rig.q[coord] > 2.0
    followed.way = StraightMotion(followed.commander, ARM, goal.tolist())
    fastest, deferred, looks = 0.0, 0, 0
    while followed.look() and rig.q[coord] < end - 0.05:
        if rig.q[coord] > end - 0.2 and not looks:
            rig.set(limits__acceleration_scale=0.05)
            followed.commander.settings = rig.settings
            looks = 1
        followed.tick(1)
        deferred += not rig.servo._solver.limits.is_applied
        if looks:
            fastest = max(fastest, np.abs(rig.speeds()[-1, 0]))
    assert looks and deferred > 3
    # It had sped up to 0.75 of the limit.
    assert fastest < 0.51 * rig.robot.velocity[dof]

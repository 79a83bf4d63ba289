# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Margins of boxes hold in commands, stops and rollouts, and robots leave them."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig
from support.robots.mobile_arm import on_rail

from benchmarks.motion.ticked_servo import motion_limits
from ros_ik.model.conventions.poses import multiply
from ros_ik.servo import StatusCode

# Distance of the faces from the frame at the start, and that kept from them [m].
HALF, MARGIN = 0.2, 0.05
# Rounding of barriers in float64, which the check of a step tolerates as well [m].
ROUNDING = 1e-6
MODES = ['soft', 'strict', 'none']
ROBOTS = ['rail', 'panda', 'ur5']


def make(name, **values):
    return on_rail(**values) if name == 'rail' else Rig.shared(name, **values)


class Boxed:
    """A robot in a box with a margin, without other barriers.

    Attributes:
        rig: The robot.
        start: Pose of the frame at the start.
        low: Least corner of the box [m].
        high: Greatest corner [m].
    """

    def __init__(self, name, mode='none', low=(-HALF,) * 3, high=(HALF,) * 3, **values):
        free = make(name)
        self.start = free.pose()
        self.low, self.high = self.start[:3] + low, self.start[:3] + high
        if mode != 'none':
            values.update(motion_limits(free.robot.group.joint_names, 5.0, 10.0))
            values['limits__jerk'] = mode
        self.rig = make(
            name,
            barriers__self_collision__enabled=False,
            barriers__world__enabled=False,
            barriers__position__box__frame=free.given['ee.frame'],
            barriers__position__box__min=self.low.tolist(),
            barriers__position__box__max=self.high.tolist(),
            barriers__position__box__margin=MARGIN,
            **values,
        )
        self.home = self.rig.q[self.rig.robot.coords]

    def room(self, q=None):
        """Return the least distance from a face [m]."""
        at = self.rig.pose(q)[:3]
        return min((at - self.low).min(), (self.high - at).min())

    def aim(self, rng, joints):
        """Aim at a random pose or joint target, inside or outside the box."""
        self.rig.quiet()
        if joints:
            names = self.rig.robot.group.joint_names
            positions = self.home + rng.uniform(-0.5, 0.5, len(names))
            self.rig.aim_joints(**dict(zip(names, positions, strict=True)))
            return
        turn = np.array([0.0, 0.0, 0.0, *rng.normal(0.0, 0.15, 3), 1.0])
        turn[3:] /= np.linalg.norm(turn[3:])
        target = multiply(self.start, turn)
        target[:3] += rng.uniform(-0.35, 0.35, 3)
        self.rig.aim(target)

    def drive(self, ticks):
        """Make ticks; return the distance from the faces after each [m]."""
        rooms = []
        for _ in range(ticks):
            self.rig.tick()
            rooms.append(self.room())
        return np.array(rooms)


# Other pairs of both than in the tests below.
@pytest.mark.parametrize(('name', 'mode'), in_turn(['ur5', 'rail', 'panda'], MODES))
def test_no_target_takes_a_frame_into_the_margin(name, mode):
    boxed, rng, rooms = Boxed(name, mode), np.random.default_rng(1), []
    for index in range(either(8, 60)):
        boxed.aim(rng, joints=index % 3 == 2)
        rooms.append(boxed.drive(100).min())
    assert min(rooms) >= MARGIN - ROUNDING
    assert min(rooms) < MARGIN + 0.01, 'no target was beyond the box'
    held = [output for output in boxed.rig.outputs if output.limiting_barrier == 'box']
    assert StatusCode.HALTED_BY_BARRIER in {output.code for output in held}
    assert min(output.barrier_distance for output in held) >= MARGIN - ROUNDING


@pytest.mark.parametrize(('name', 'mode'), in_turn(['panda', 'rail', 'ur5'], MODES))
def test_stops_and_rollouts_keep_the_margin(name, mode):
    boxed = Boxed(name, mode, rollout_steps=10, outputs__default__command_horizon=1.0)
    rig, rng, ahead = boxed.rig, np.random.default_rng(1), []
    for index in range(either(5, 45)):
        boxed.aim(rng, joints=index % 3 == 2)
        for _ in range(int(rng.integers(30, 100))):
            output = rig.tick()
            if output.predicted_q is not None:
                ahead.append(min(map(boxed.room, output.predicted_q)))
        rig.quiet()
        if index % 2:
            rig.change(paused=True)
        assert boxed.drive(40).min() >= MARGIN - ROUNDING
        rig.change(paused=False)
    assert min(ahead) >= MARGIN - ROUNDING


@pytest.mark.parametrize(('name', 'mode'), in_turn(ROBOTS, MODES))
def test_a_frame_that_starts_inside_the_margin_leaves_it(name, mode):
    """The nearest face is 20 mm away in x; the target is deeper inside the margin."""
    boxed = Boxed(name, mode, low=(-0.02, -HALF, -HALF))
    boxed.rig.aim(boxed.rig.moved((-0.1, 0.0, 0.0)))
    rooms = boxed.drive(300)
    assert np.diff(rooms[rooms < MARGIN]).min() >= -ROUNDING, 'it may only move away'
    assert rooms[-1] >= MARGIN - ROUNDING
    assert boxed.rig.outputs[-1].limiting_barrier == 'box'
    assert boxed.rig.outputs[-1].barrier_distance == pytest.approx(rooms[-1], abs=1e-9)


@pytest.mark.parametrize(('name', 'mode'), in_turn(ROBOTS, MODES))
def test_a_target_away_from_the_face_is_reached_from_inside_the_margin(name, mode):
    boxed = Boxed(name, mode, low=(-0.02, -HALF, -HALF))
    boxed.rig.aim(boxed.rig.moved((0.06, 0.05, 0.02)))
    rooms = boxed.drive(300)
    assert rooms[-1] == pytest.approx(0.08, abs=2e-3)
    assert np.diff(rooms[rooms < MARGIN]).min() >= -ROUNDING


def test_the_margin_leaves_axes_without_a_box_alone():
    """On an axis that the box does not apply to, the margin may exceed the side."""
    boxed = Boxed(
        'panda', low=(-HALF, -0.01, -HALF), high=(HALF, 0.01, HALF),
        barriers__position__box__axes=[True, False, True],
    )  # fmt: skip
    boxed.rig.aim(boxed.rig.moved((0.0, 0.1, 0.0)))
    boxed.rig.tick(seconds=2.0)
    assert boxed.rig.outputs[-1].tasks[0].reached

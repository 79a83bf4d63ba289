# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint targets: by name, partial, within limits; the newest kind of target wins."""

import numpy as np
import pytest
from support.rigs.servo_rig import Rig

from benchmarks.motion.joint_targets import jerk_limits
from benchmarks.motion.joint_targets import ROBOT
from ros_ik.servo import StatusCode

# Joints of ROBOT: one that only the posture moves, and one with a target.
NAMED = 'shoulder_pan_joint', 'wrist_3_joint'


def test_named_joints_arrive_and_the_others_stay():
    rig = Rig.shared()
    start = rig.q.copy()
    rig.aim_joints(panda_joint1=0.5, panda_joint6=1.2)
    rig.tick(10)
    rig.set(posture__weight=0.05)
    rig.tick(seconds=2.9)
    moved = rig.robot.coords[[0, 5]]
    np.testing.assert_allclose(rig.q[moved], [0.5, 1.2], atol=1e-6)
    others = np.setdiff1d(np.arange(len(start)), moved)
    np.testing.assert_allclose(rig.q[others], start[others], atol=1e-9)
    assert np.all(np.abs(rig.speeds()[-5:]) < 1e-6)
    rig.assert_within_limits()


@pytest.mark.parametrize('limits', [{}, jerk_limits(30, 'soft'), jerk_limits(30, 'strict')])
def test_joints_that_are_not_named_do_not_swing_about_their_posture(limits):
    rig = Rig.shared(
        ROBOT, posture__joints=['shoulder_pan_joint'], posture__positions=[0.5], **limits
    )
    pan, wrist = (rig.robot.coords[rig.robot.group.joint_names.index(name)] for name in NAMED)
    rig.aim_joints(**{NAMED[1]: rig.q[wrist] + 0.3})
    start = rig.q[pan]
    positions = rig.watch(4.0, lambda: rig.q[pan])
    assert abs(positions[-1] - 0.5) < 1e-3
    away = np.sign(0.5 - start) * (positions - 0.5)
    assert away.max() < 1e-3
    rig.assert_within_limits()


def test_joints_that_are_no_longer_named_stay_where_they_are():
    rig = Rig.shared()
    rig.aim_joints(panda_joint1=0.5, panda_joint6=1.2)
    rig.tick(seconds=3.0)
    rig.aim_joints(panda_joint7=0.1)
    rig.tick(seconds=3.0)
    moved = rig.robot.coords[[0, 5, 6]]
    np.testing.assert_allclose(rig.q[moved], [0.5, 1.2, 0.1], atol=1e-6)


def test_a_target_outside_the_limits_is_moved_to_the_limit():
    rig = Rig.shared(limits__position_margin=[0.0])
    rig.aim_joints(panda_joint2=-9.0)
    rig.tick(seconds=4.0)
    lower = rig.robot.lower[rig.robot.group.variable_dof[1]]
    np.testing.assert_allclose(rig.q[rig.robot.coords[1]], lower, atol=1e-6)
    rig.assert_within_limits()


def test_the_newest_kind_of_target_wins():
    rig = Rig.shared()
    rig.aim_joints(panda_joint1=0.5)
    rig.tick(20)
    rig.quiet()
    target = rig.moved((0.0, 0.0, 0.05))
    rig.aim(target)
    assert rig.tick().tasks[0].active, 'the joint target, still fresh, held the newer pose back'
    rig.tick(seconds=3.0)
    assert rig.outputs[-1].tasks[0].reached
    rig.aim_joints(panda_joint1=-0.2)
    rig._streams.pop(0)
    rig.tick(seconds=3.0)
    np.testing.assert_allclose(rig.q[rig.robot.coords[0]], -0.2, atol=1e-6)
    assert rig.outputs[-1].code == StatusCode.OK
    rig.assert_within_limits()


def test_a_joint_target_respects_barriers():
    start = Rig.shared().pose()
    top = [2.0, float(start[1]) + 0.1, 2.0]
    rig = Rig.shared(
        barriers__position__wall__frame='panda_hand_tcp', barriers__position__wall__max=top
    )
    rig.aim_joints(panda_joint1=1.5)
    lowest = min(top[1] - rig.pose()[1] for _ in range(300) if rig.tick())
    assert -1e-6 <= lowest < 5e-3

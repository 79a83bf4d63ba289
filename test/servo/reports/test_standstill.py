# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rest short of a pose target has its own code, which slow motion and arrival never get."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.rigs.servo_rig import Rig

from ros_ik.servo import Mode
from ros_ik.servo import StatusCode
from ros_ik.servo.barriers.obstacle_registry import ObstacleKind
from ros_ik.servo.barriers.obstacle_registry import ObstacleOperation
from ros_ik.servo.barriers.obstacle_registry import ObstacleRegistry
from ros_ik.servo.barriers.obstacle_registry import ObstacleRequest
from ros_ik.servo.reports.standstill import Standstill
from ros_ik.servo.targets.tracking import TargetKind

FAR = {'max_target_step_linear': 10.0, 'max_target_step_angular': 4.0}


def wall(rig, x):
    """Add a wall in front of the robot."""
    book = ObstacleRegistry(rig.robot, 8)
    size, place = (0.02, 2.0, 2.0), (x, 0.0, 0.5)
    request = ObstacleRequest(ObstacleOperation.ADD, 'wall', ObstacleKind.BOX, size, '', place)
    rig.change(obstacles=book.apply([request]))


def codes(rig, since=0):
    """Return the codes of the outputs."""
    return [output.code for output in rig.outputs[since:]]


def changes(codes):
    """Return the number of changes of a sequence of codes to or from STATIONARY."""
    still = np.array([code == StatusCode.STATIONARY for code in codes], dtype=int)
    return int(np.abs(np.diff(still)).sum())


@pytest.fixture
def blocked():
    """Return a rig that has come to rest at a wall, its target behind it."""
    rig = Rig.shared(**FAR)
    wall(rig, rig.pose()[0] + 0.15)
    rig.aim(rig.moved((0.3, 0.0, 0.0)))
    rig.tick(seconds=4.0)
    return rig


def test_at_a_wall_it_names_the_barrier_and_does_not_flicker(blocked):
    output = blocked.outputs[-1]
    assert output.code == StatusCode.STATIONARY
    assert 'at rest short of the target of ee: barrier world' in output.text
    assert 'wall' in output.text and output.limiting_barrier == 'world'
    assert 'wall' in output.limiting_pair
    blocked.outputs.clear()
    blocked.tick(seconds=1.5)
    assert set(codes(blocked)) == {StatusCode.STATIONARY}
    # Ticks without a report of barriers repeat the last report.
    blocked.reports = False
    text = blocked.outputs[-1].text
    blocked.tick(50)
    assert set(codes(blocked)) == {StatusCode.STATIONARY} and blocked.outputs[-1].text == text


def test_it_comes_once_after_the_motion_has_ended(blocked):
    said = codes(blocked)
    assert changes(said) == 1
    first = said.index(StatusCode.STATIONARY)
    way = [np.linalg.norm(o.joint_q - blocked.q) for o in blocked.outputs[first:]]
    assert max(way) < 0.02
    assert StatusCode.HALTED_BY_BARRIER in said[:first]


def test_a_robot_at_rest_may_creep_three_times_as_fast_before_it_moves_again():
    robot = Rig.shared().robot
    standstill = Standstill(robot, 0.01)
    trackers = (SimpleNamespace(target_kind=TargetKind.POSE),)
    still = np.zeros(robot.model.joint_dof_count)
    slow = 5e-3 * 0.01 * np.where(np.isfinite(robot.velocity), robot.velocity, 1.0)

    def said(count, step, achieved):
        output = None
        for _ in range(count):
            report = SimpleNamespace(name='ee', reached=False)
            output = SimpleNamespace(code=StatusCode.OK, text='', tasks=[report])
            standstill.update(output, trackers, step, 1.0, achieved, 0.3)
        return output.code == StatusCode.STATIONARY

    for step, achieved in ((still, 0.06), (1.1 * slow, 0.0)):
        assert not said(100, step, achieved)
    assert not said(49, 0.9 * slow, 0.04) and said(1, 0.9 * slow, 0.04)
    assert said(100, 2.9 * slow, 0.14)
    for step, achieved in ((still, 0.16), (3.1 * slow, 0.0)):
        assert said(50, still, 0.0)
        assert not said(1, step, achieved)


def test_it_ends_as_soon_as_a_way_is_free(blocked):
    blocked.change(obstacles=())
    blocked.outputs.clear()
    blocked.tick(10)
    assert codes(blocked)[-1] == StatusCode.OK
    blocked.tick(seconds=3.0)
    assert blocked.outputs[-1].tasks[0].reached
    assert changes(codes(blocked)) <= 1


def test_another_target_a_hold_and_a_velocity_end_it(blocked):
    home = blocked.moved((-0.2, 0.0, 0.0))
    blocked.aim(home)
    blocked.outputs.clear()
    blocked.tick(3)
    assert codes(blocked)[-1] != StatusCode.STATIONARY
    for mode in (Mode.HOLD, Mode.TWIST):
        blocked.change(mode=mode)
        blocked.tick(seconds=1.0)
        assert codes(blocked)[-1] != StatusCode.STATIONARY
    blocked.change(mode=Mode.AUTO)
    blocked.quiet()
    blocked.aim_twist((0.3, 0.0, 0.0))
    blocked.outputs.clear()
    blocked.tick(seconds=3.0)
    assert StatusCode.STATIONARY not in codes(blocked)
    assert codes(blocked)[-1] == StatusCode.HALTED_BY_BARRIER


@pytest.mark.parametrize(
    ('values', 'seconds'),
    [
        ({'ee__max_linear_speed': 0.001}, 4.0),
        ({'ee__gain': 0.002}, 4.0),
        ({'target_filter_tau': 5.0}, 8.0),
        ({'limits__acceleration_scale': 0.01, 'limits__velocity_scale': 0.01}, 8.0),
        ({'ee__max_linear_acceleration': 0.001}, 4.0),
    ],
)
def test_slow_motion_is_no_rest(values, seconds):
    rig = Rig.shared(**FAR, **values)
    rig.aim(rig.moved((0.02, 0.03, -0.04)))
    rig.tick(seconds=seconds)
    assert StatusCode.STATIONARY not in codes(rig)


def test_a_target_that_is_reached_or_was_reached_all_the_time_is_none():
    rig = Rig.shared()
    rig.aim(rig.pose())
    rig.tick(seconds=1.5)
    rig.aim(rig.moved((0.05, 0.0, 0.0)))
    rig.tick(seconds=3.0)
    assert rig.outputs[-1].tasks[0].reached
    assert StatusCode.STATIONARY not in codes(rig)


def test_out_of_reach_and_between_two_targets_nothing_is_in_the_way():
    rig = Rig.shared(**FAR)
    far = rig.pose()
    far[:3] = [1.5, 0.0, 0.6]
    rig.aim(far)
    # Stretched out, it still creeps for seconds.
    rig.tick(seconds=10.0)
    assert rig.outputs[-1].code == StatusCode.STATIONARY
    assert changes(codes(rig)) == 1
    rig = Rig.shared(frame_tasks=['ee', 'other'], other__frame='panda_hand', **FAR)
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    there = rig.pose(task=1)
    there[1] -= 0.1
    rig.aim(there, task=1)
    rig.tick(seconds=5.0)
    output = rig.outputs[-1]
    assert output.code == StatusCode.STATIONARY, output.text
    assert 'ee, other: no motion of the joints' in output.text


def test_a_joint_at_its_limit_is_named():
    """Pull the arm down until a joint limit stops its folding."""
    rig = Rig.shared(**FAR, barriers__self_collision__enabled=False)
    target = rig.pose()
    target[:3] = [0.05, 0.0, 0.9]
    target[3:] = [0.0, 0.0, 0.0, 1.0]
    rig.aim(target)
    rig.tick(seconds=16.0)
    output = rig.outputs[-1]
    limits = rig.robot.lower + 0.02, rig.robot.upper - 0.02
    dofs, q = rig.robot.group.variable_dof, rig.q[rig.robot.coords]
    room = np.minimum(q - limits[0][dofs], limits[1][dofs] - q)
    assert output.code == StatusCode.STATIONARY
    joint = rig.robot.group.joint_names[int(room.argmin())]
    assert room.min() < 1e-6 and f'joint {joint} is at its position limit' in output.text

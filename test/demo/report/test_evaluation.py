# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The evaluation of the demo detects each kind of fault in a recording."""

import json

import numpy as np
import pytest

from ros_ik.demo.report.evaluation import evaluate
from ros_ik.demo.report.report import last_line
from ros_ik.demo.report.report import succeeded
from ros_ik.demo.report.report import summary
from ros_ik.demo.report.report import table
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.client import PhaseRecord
from ros_ik.demo.scenario.client import Recording
from ros_ik.demo.scenario.phase import Phase
from ros_ik.demo.scenario.phase import Requirement
from ros_ik.demo.scenario.scenario import make_scenario
from ros_ik_interfaces.msg import IkStatus

KEYS = [
    'robot', 'device', 'duration_s', 'control_rate_hz', 'ticks', 'missed_ticks', 'tick_ms_p50',
    'tick_ms_p99', 'targets', 'reached', 'max_reached_error_mm', 'max_reached_error_deg',
    'min_barrier_m', 'min_command_barrier_m', 'min_clearance_m', 'limit_violations',
    'rejected_trajectories',
]  # fmt: skip
PERIOD = 0.01


@pytest.fixture(scope='module')
def robot():
    return DemoRobot.load('panda')


@pytest.fixture(scope='module')
def scenario(robot):
    return make_scenario(robot, seed=0)


@pytest.fixture
def figures(robot, scenario):
    """Return a function that evaluates a recording: its figures, and the evaluation."""

    def figures(recording):
        evaluation = evaluate(robot, scenario, recording)
        assert table(evaluation).count('\n') == 2
        return summary('panda', 'cpu', 100.0, evaluation, recording), evaluation

    return figures


def still(robot, count=50):
    """Return a recording in which the robot stands at home and was asked to be there."""
    pose = robot.tip_poses(robot.home[None])[0]
    recording = Recording(status=IkStatus(ticks=count))
    recording.state_times = [PERIOD * k for k in range(count)]
    recording.velocities = [np.zeros(len(robot.coords)) for _ in range(count)]
    recording.states = [robot.home.copy() for _ in range(count)]
    recording.commands = [robot.home[robot.coords].copy() for _ in range(count)]
    phase = Phase('pose 1', 'reached', 1.0, poses=pose[None], requirement=Requirement.REACH)
    recording.phases = [PhaseRecord(phase, 0.0, PERIOD * count)]
    recording.codes, recording.barriers = [set()], [set()]
    return recording


def test_a_good_run_succeeds_and_has_every_key(robot, figures):
    result, evaluation = figures(still(robot))
    assert list(json.loads(last_line(result))) == KEYS
    assert (result['targets'], result['reached'], result['limit_violations']) == (1, 1, 0)
    assert result['min_barrier_m'] > 0
    assert succeeded(result, evaluation)


def test_a_missed_target_fails(robot, figures):
    recording = still(robot)
    recording.phases[0].phase.poses[0, 0] += 1.1e-3
    result, evaluation = figures(recording)
    assert result['reached'] == 0
    assert result['max_reached_error_mm'] == pytest.approx(1.1, abs=0.01)
    assert not succeeded(result, evaluation)


def test_a_turned_tip_fails(robot, figures):
    recording = still(robot)
    recording.states[-1][6] += np.radians(0.6)
    assert not succeeded(*figures(recording))


def test_leaving_the_box_fails(robot, figures):
    recording = still(robot)
    recording.states[10][1] += 1.0
    result, evaluation = figures(recording)
    assert result['min_barrier_m'] < -0.01 and result['min_command_barrier_m'] > 0.0
    assert 'CUT A CORNER OF THE BOX' in table(evaluation)
    assert not succeeded(result, evaluation)
    # A robot that missed some commands may cut a corner.
    assert succeeded(result | {'missed_ticks': 3}, evaluation)


def test_a_command_outside_the_box_fails_on_a_busy_machine_too(robot, figures):
    recording = still(robot)
    recording.commands[10][1] += 1.0
    result, evaluation = figures(recording)
    assert result['min_barrier_m'] > 0.0 and result['min_command_barrier_m'] < -0.01
    assert not succeeded(result, evaluation)
    assert not succeeded(result | {'missed_ticks': 49}, evaluation)
    recording.states[10][1] += 1.0
    assert 'LEFT THE BOX' in table(figures(recording)[1])


@pytest.mark.parametrize('what', ['states', 'commands'])
def test_leaving_a_position_limit_fails(robot, figures, what):
    recording = still(robot)
    upper = robot.model.limits64()[1]
    getattr(recording, what)[-1][5] = upper[5] + 1e-5
    result, evaluation = figures(recording)
    assert result['limit_violations'] >= 1
    assert not succeeded(result, evaluation)


def test_a_command_too_fast_fails(robot, figures):
    recording = still(robot)
    speed = robot.model.limits64()[2][0]
    recording.velocities[20][0] = speed
    assert figures(recording)[0]['limit_violations'] == 0
    recording.velocities[21][0] = -1.001 * speed
    result, evaluation = figures(recording)
    assert result['limit_violations'] == 1
    assert not succeeded(result, evaluation)


def test_a_refused_trajectory_fails(robot, figures):
    recording = still(robot)
    recording.rejected = 1
    assert not succeeded(*figures(recording))


def ask(recording, **phase):
    """Replace the target of the only phase of a recording."""
    record = recording.phases[0]
    recording.phases[0] = PhaseRecord(Phase('p', 'held', 1.0, **phase), record.start, record.end)


def test_a_box_that_was_never_pressed_fails(robot, figures):
    recording = still(robot)
    ask(recording, poses=recording.phases[0].phase.poses, requirement=Requirement.PRESS_BOX)
    result, evaluation = figures(recording)
    assert result['min_barrier_m'] > 0.05
    assert not succeeded(result, evaluation)


def test_a_limit_that_was_never_pressed_fails(robot, figures):
    recording = still(robot)
    upper = robot.model.limits64()[1][6]
    ask(recording, joints={'panda_joint7': upper + 0.3}, requirement=Requirement.PRESS_LIMIT)
    assert not succeeded(*figures(recording))
    recording.states[-1][6] = upper - 0.02
    result, evaluation = figures(recording)
    assert succeeded(result, evaluation)
    assert evaluation.phases[-1].verdict.endswith(', 0.020 rad before it')


def test_the_distance_from_the_limit_of_a_sliding_joint_is_in_metres():
    robot = DemoRobot.load('tiago')
    recording = still(robot)
    name = 'torso_lift_joint'
    number = robot.group.joint_names.index(name)
    upper = robot.model.limits64()[1][robot.group.variable_dof[number]]
    ask(recording, joints={name: upper + 0.3}, requirement=Requirement.PRESS_LIMIT)
    recording.states[-1][robot.coords[number]] = upper - 0.01
    evaluation = evaluate(robot, make_scenario(robot, seed=0), recording)
    assert evaluation.phases[-1].verdict.endswith(', 0.010 m before it')


def test_a_robot_that_touches_itself_fails(robot, scenario, figures):
    recording = still(robot)
    folded = next(
        phase
        for phase in scenario.phases
        if phase.requirement is Requirement.REFUSE
    )
    starts = robot.model.joint_q_start.numpy()
    for name, value in folded.joints.items():
        recording.states[20][starts[robot.model.joint_index(name)]] = value
    result, evaluation = figures(recording)
    # Hulls that overlap have no depth.
    assert result['min_clearance_m'] == 0.0
    assert not succeeded(result, evaluation)


def test_a_robot_that_does_not_avoid_the_ball_fails(robot, scenario, figures):
    recording = still(robot)
    phase = next(phase for phase in scenario.phases if phase.requirement is Requirement.EVADE)
    recording.phases = [PhaseRecord(phase, 0.0, 0.5)]
    # The ball is at its nearest point, and would touch a robot that does not move.
    nearest = phase.ball[len(phase.ball) * 3 // 4]
    recording.balls = [(0.01 * k, nearest) for k in range(50)]
    result, evaluation = figures(recording)
    assert result['min_clearance_m'] <= 0.0 and not evaluation.phases[0].met
    # The same ball farther away is no danger, but then the run proves nothing.
    recording.balls = [(0.01 * k, phase.ball[0]) for k in range(50)]
    result, evaluation = figures(recording)
    assert result['min_clearance_m'] > 0.05 and not evaluation.phases[0].met


def test_a_fold_that_nothing_stopped_fails(robot, scenario, figures):
    recording = still(robot)
    phase = next(
        phase
        for phase in scenario.phases
        if phase.requirement is Requirement.REFUSE
    )
    recording.phases = [PhaseRecord(phase, 0.0, 0.5)]
    assert not figures(recording)[1].phases[0].met


def test_a_blocked_robot_without_a_report_fails(robot, figures):
    recording = still(robot)
    ask(recording, poses=recording.phases[0].phase.poses, requirement=Requirement.WAIT)
    assert not succeeded(*figures(recording))
    recording.codes[0].add(IkStatus.FOLLOWING_ERROR)
    assert succeeded(*figures(recording))

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal-control requests: costs by Pinocchio, limits and barriers by check_trajectory."""

import dataclasses
import math

import numpy as np
import pytest
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import random_configurations
from support.rigs.planning_rig import Twin
from support.robots.robots import pin
from support.robots.urdf_limits import still_text

from ros_ik.planning import CenterOfMassCost
from ros_ik.planning import check_trajectory
from ros_ik.planning import JointCost
from ros_ik.planning import OptimalRequest
from ros_ik.planning import Point
from ros_ik.planning import PoseCost
from ros_ik.planning import RequestError
from ros_ik.planning import solve_optimal
from ros_ik.solvers import StopReason

TCP, BASE = 'panda_hand_tcp', 'panda_link0'


@pytest.fixture(scope='module')
def planner():
    return make_planner('panda')


@pytest.fixture(scope='module')
def twin(planner):
    return Twin(planner, 'panda')


def reachable(planner, twin, seed=4):
    """Return a reachable pose of the tool."""
    return twin.poses(random_configurations(planner, 1, seed, margin=0.4), TCP, BASE)[0]


def check(planner, answer):
    """Return the report of a motion."""
    points = [
        Point(t, q, v)
        for t, q, v in zip(answer.times, answer.positions, answer.velocities, strict=True)
    ]
    return check_trajectory(planner, answer.joint_names, points)


def end_of(planner, answer):
    """Return the whole configuration at the end."""
    coords = planner.coordinates(answer.joint_names)
    return planner.configurations(coords, answer.positions[-1:])[0]


def center_of_mass(twin, joint_q):
    """Return the centre of mass of the whole robot; Pinocchio leaves out fixed links."""
    robot = twin.robot
    moving = pin.centerOfMass(robot.pin, robot.data, robot.configuration(joint_q))
    fixed, mass = robot.pin.inertias[0], robot.data.mass[0]
    return (mass * moving + fixed.mass * fixed.lever) / (mass + fixed.mass)


def test_a_pose_is_reached_from_the_measured_state_within_limits(planner, twin):
    target = reachable(planner, twin)
    answer = solve_optimal(planner, OptimalRequest(poses=[PoseCost('', TCP, target, 1.0, 0.5)]))
    assert not answer.fault and answer.result.reason is StopReason.STOP_COST
    np.testing.assert_array_equal(answer.positions[0], planner.joint_q[planner.robot.coords])
    distance, angle = twin.errors(end_of(planner, answer), TCP, BASE, target)
    assert distance < 1e-4 and angle < 1e-4
    cost = distance**2 + 0.5 * angle**2
    assert answer.result.feedback.total_cost == pytest.approx(cost, rel=1e-3, abs=1e-12)
    assert not answer.velocities[-1].any()
    assert check(planner, answer).violation is None


def test_costs_of_joints_and_of_the_centre_of_mass_are_those_of_pinocchio(planner, twin):
    wanted = center_of_mass(twin, planner.joint_q) + [0.03, 0.0, 0.02]
    answer = solve_optimal(
        planner,
        OptimalRequest(
            joints=[JointCost('panda_joint3', 0.3, 0.01)],
            center_of_mass=CenterOfMassCost(BASE, wanted.tolist(), 2.0),
        ),
    )
    assert not answer.fault
    end = end_of(planner, answer)
    feedback = answer.result.feedback
    error = np.sum((wanted - center_of_mass(twin, end)) ** 2)
    assert feedback.center_of_mass_cost == pytest.approx(2.0 * error, rel=1e-4, abs=1e-10)
    joint = end[planner.robot.coord_of['panda_joint3']]
    assert feedback.joint_position_costs[0] == pytest.approx(0.01 * (0.3 - joint) ** 2, abs=1e-10)


def test_start_scalings_and_hold_time_are_honoured(planner, twin):
    target = reachable(planner, twin)
    names = planner.robot.group.joint_names
    start = planner.joint_q[planner.robot.coords] + 0.1
    request = OptimalRequest(
        poses=[PoseCost(BASE, TCP, target, 1.0, 0.5)], start_names=names, start_positions=start
    )
    fast = solve_optimal(planner, request)
    slow = solve_optimal(
        planner,
        dataclasses.replace(request, velocity_limit_scaling=0.25, control_hold_time=2.0),
    )
    np.testing.assert_allclose(fast.positions[0], start, atol=1e-12)
    limits = planner.robot.velocity[planner.robot.group.variable_dof]
    assert np.all(np.abs(slow.velocities) <= 0.25 * limits + 1e-9)
    assert np.any(np.abs(fast.velocities) > 0.3 * limits)
    assert slow.times[-1] - slow.times[-2] == pytest.approx(2.0)
    braking = dataclasses.replace(request, start_velocities=0.1 * limits)
    moving = solve_optimal(planner, braking)
    np.testing.assert_allclose(moving.velocities[0], 0.1 * limits)
    assert check(planner, moving).violation is None


def test_settings_of_the_node_bound_the_motion(twin):
    planner = make_planner('panda')
    target = reachable(planner, twin)
    request = OptimalRequest(poses=[PoseCost('', TCP, target, 1.0, 0.5)])
    before = solve_optimal(planner, request)
    planner.apply(dataclasses.replace(planner.settings, limits_velocity_scale=0.2))
    after = solve_optimal(planner, request)
    limits = planner.robot.velocity[planner.robot.group.variable_dof]
    assert np.all(np.abs(after.velocities) <= 0.2 * limits + 1e-9)
    assert np.any(np.abs(before.velocities) > 0.2 * limits + 1e-3)
    assert check(planner, after).violation is None


def test_a_barrier_stops_the_motion_short(twin):
    pose = twin.poses(make_planner('panda').joint_q[None], TCP, BASE)[0]
    low, high = (pose[:3] - 0.3).tolist(), (pose[:3] + [0.3, 0.05, 0.3]).tolist()
    planner = make_planner('panda', **{
        'barriers__position__box__frame': TCP,
        'barriers__position__box__min': low,
        'barriers__position__box__max': high,
    })  # fmt: skip
    beyond = pose.copy()
    beyond[1] += 0.2
    answer = solve_optimal(planner, OptimalRequest(poses=[PoseCost('', TCP, beyond, 1.0, 0.1)]))
    assert not answer.fault
    assert answer.result.reason in (StopReason.LIMIT, StopReason.PATIENCE, StopReason.MINIMUM)
    assert check(planner, answer).violation is None
    end, _ = twin.pose(end_of(planner, answer), TCP, BASE)
    assert end[1] <= high[1] + 1e-6 and end[1] > high[1] - 0.01


POSE = (0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0)
GOOD = PoseCost('', TCP, POSE, 1.0, 1.0)
WRONG = [
    (OptimalRequest(), 'no target'),
    (OptimalRequest(poses=[PoseCost('', 'no_link', POSE, 1.0, 1.0)]), 'costs[0]: .*no_link'),
    (OptimalRequest(poses=[GOOD, PoseCost('no_ref', TCP, POSE, 1.0, 1.0)]), 'costs[1]'),
    (OptimalRequest(poses=[PoseCost('', '', POSE, 1.0, 1.0)]), 'link must name'),
    (OptimalRequest(poses=[PoseCost(TCP, TCP, POSE, 1.0, 1.0)]), 'other than'),
    (OptimalRequest(poses=[PoseCost('', TCP, POSE, -1.0, 1.0)]), 'translation_weight'),
    (OptimalRequest(poses=[PoseCost('', TCP, POSE, 1.0, math.nan)]), 'rotation_weight'),
    (OptimalRequest(poses=[PoseCost('', TCP, (0.0,) * 7, 1.0, 1.0)]), 'quaternion'),
    (OptimalRequest(poses=[PoseCost('', TCP, (math.inf, *POSE[1:]), 1.0, 1.0)]), 'target'),
    (OptimalRequest(poses=[GOOD] * 65), 'at most 64'),
    (OptimalRequest(joints=[JointCost('no_joint', 0.0, 1.0)]), 'joint_costs[0]: .*no_joint'),
    (
        OptimalRequest(joints=[JointCost('panda_finger_joint1', 0.0, 1.0)]),
        '^joint_costs[0]: joint_name: .*does not move',
    ),
    (OptimalRequest(joints=[JointCost('panda_joint1', math.nan, 1.0)]), 'target_position'),
    (OptimalRequest(joints=[JointCost('panda_joint1', 0.0, -1.0)]), 'weight'),
    (OptimalRequest(center_of_mass=CenterOfMassCost('nowhere', (0, 0, 0), 1.0)), 'nowhere'),
    (OptimalRequest(center_of_mass=CenterOfMassCost('', (0, 0, math.nan), 1.0)), 'center_of_mass'),
    (OptimalRequest(poses=[GOOD], velocity_limit_scaling=1.5), '^velocity_limit_scaling must'),
    (OptimalRequest(poses=[GOOD], acceleration_limit_scaling=2.0), 'acceleration_limit_scaling'),
    (OptimalRequest(poses=[GOOD], acceleration_limit_scaling=math.nan), 'acceleration_limit'),
    (OptimalRequest(poses=[GOOD], error_scaling=-1.0), 'error_scaling'),
    (OptimalRequest(poses=[GOOD], stop_cost=-1.0), 'stop_cost'),
    (OptimalRequest(poses=[GOOD], min_delta_cost=math.inf), 'min_delta_cost'),
    (OptimalRequest(poses=[GOOD], control_hold_time=1e9), 'control_hold_time'),
    (OptimalRequest(poses=[GOOD], start_names=['no_joint'], start_positions=[0.0]), 'no_joint'),
    (OptimalRequest(poses=[GOOD], start_names=['panda_joint1']), 'start.position'),
    (
        OptimalRequest(
            poses=[GOOD], start_names=['panda_joint1'], start_positions=[0.0],
            start_velocities=[0.0, 0.0],
        ),
        'start.velocity',
    ),
    (
        OptimalRequest(poses=[GOOD], start_names=['panda_joint1'], start_positions=[math.nan]),
        'start.position',
    ),
]  # fmt: skip


@pytest.mark.parametrize(('request_', 'words'), WRONG)
def test_a_wrong_request_is_refused_naming_the_field(planner, request_, words):
    pattern = words.replace('[', r'\[').replace(']', r'\]')
    with pytest.raises(RequestError, match=pattern):
        solve_optimal(planner, request_)


def test_joints_that_were_not_heard_of_are_named():
    planner = make_planner('panda', measured=False)
    with pytest.raises(RequestError, match='panda_joint1'):
        solve_optimal(planner, OptimalRequest(poses=[GOOD]))


def test_a_joint_that_cannot_move_stays_and_the_others_reach_the_pose():
    planner = make_planner('panda', text=still_text('panda_joint3'))
    twin, coords = Twin(planner, 'panda'), planner.robot.coords
    goal = planner.joint_q.copy()
    goal[coords] += [0.3, -0.2, 0.0, 0.25, -0.3, 0.2, 0.3]
    pose = twin.poses(goal[None], TCP, BASE)[0]
    answer = solve_optimal(
        planner, OptimalRequest(poses=(PoseCost(BASE, TCP, pose.tolist(), 1.0, 1.0),))
    )
    assert answer.fault == ''
    assert np.ptp(answer.positions[:, 2]) == 0.0
    distance, angle = twin.errors(end_of(planner, answer), TCP, BASE, pose)
    assert distance < 1e-4 and angle < 1e-4
    assert check(planner, answer).violation is None

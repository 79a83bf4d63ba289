# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""~/solve_optimal over DDS: the end is judged by Pinocchio, the path by ~/check_trajectory."""

import math

from geometry_msgs.msg import Pose
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import random_configurations
from support.rigs.planning_rig import Twin
from support.rigs.ros_rig import ros_rig
from support.rigs.services_rig import ask
from support.rigs.services_rig import pose_message
from support.rigs.services_rig import start

from ros_ik.demo.controller.trajectory_rules import check_trajectory as controller_rules
from ros_ik.demo.mock_robot import trajectory_from_message
from ros_ik.demo.robots import find_robot
from ros_ik.solvers import StopReason
from ros_ik_interfaces.msg import CartesianCost
from ros_ik_interfaces.msg import JointCost
from ros_ik_interfaces.srv import CheckTrajectory
from ros_ik_interfaces.srv import SolveOptimal

pytestmark = pytest.mark.dds
Response = SolveOptimal.Response


@pytest.fixture(scope='module', params=['panda', 'tiago'])
def rig(request, tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('optimal'), planners=True) as client:
        start(client, request.param)
        planner = make_planner(request.param)
        yield client, find_robot(request.param), planner, Twin(planner, request.param)
        assert client.processes.is_alive('node'), client.processes.text('node')


def cost(link, target, reference='', translation=1.0, rotation=0.3):
    return CartesianCost(
        reference_link=reference, link=link, target=pose_message(target),
        translation_weight=translation, rotation_weight=rotation,
    )  # fmt: skip


def solve(client, **fields):
    return ask(client, SolveOptimal, 'solve_optimal', SolveOptimal.Request(**fields))


def near_target(planner, twin, files, seed):
    rows = planner.joint_q[None].copy()
    rng = np.random.default_rng(seed)
    rows[:, planner.robot.coords] += rng.uniform(-0.2, 0.2, len(planner.robot.coords))
    dofs = planner.robot.group.variable_dof
    low, high = planner.robot.lower[dofs] + 0.05, planner.robot.upper[dofs] - 0.05
    rows[:, planner.robot.coords] = np.clip(rows[:, planner.robot.coords], low, high)
    return twin.poses(planner.model.apply_mimic(rows), files.tip_link, files.base_link)[0]


def test_the_motion_arrives_is_safe_and_a_controller_takes_it(rig):
    client, files, planner, twin = rig
    target = near_target(planner, twin, files, 2)
    answer = solve(client, cartesian_costs=[cost(files.tip_link, target)])
    assert answer.success, answer.message
    assert answer.reason in (Response.STOP_COST, StopReason.MINIMUM)
    trajectory = answer.trajectory
    names = tuple(trajectory.joint_names)
    assert names == tuple(planner.robot.group.joint_names)
    last = np.array([trajectory.points[-1].positions])
    end = planner.configurations(planner.coordinates(names), last)[0]
    distance, angle = twin.errors(end, files.tip_link, files.base_link, target)
    assert distance < 2e-3 and angle < 5e-3
    expected = distance**2 + 0.3 * angle**2
    assert answer.total_cost == pytest.approx(expected, rel=1e-3, abs=1e-10)
    assert list(answer.cartesian_costs) == pytest.approx([answer.total_cost])
    report = ask(
        client, CheckTrajectory, 'check_trajectory', CheckTrajectory.Request(trajectory=trajectory)
    )
    # Without meshes nothing counts as safe; there is no other fault.
    assert report.success and not report.violated, (report.message, report.violated)
    assert report.unmeasured_links == answer.unmeasured_links and not answer.complete
    now = client.node.get_clock().now().nanoseconds
    assert controller_rules(trajectory_from_message(trajectory), names, now) is None


def test_a_target_out_of_reach_is_named_in_the_message(rig):
    client, files, _, _ = rig
    far = [5.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]
    answer = solve(client, cartesian_costs=[cost(files.tip_link, far, files.base_link)])
    assert answer.success and answer.trajectory.points
    assert f'out of reach: {files.tip_link} in {files.base_link} by ' in answer.message


def test_every_kind_of_cost_and_option_together(rig):
    client, files, planner, twin = rig
    target = near_target(planner, twin, files, 3)
    names = planner.robot.group.joint_names
    start_state = JointState(name=[names[-1]])
    begin = float(planner.joint_q[planner.robot.coords[-1]] + 0.1)
    start_state.position = [begin]
    answer = solve(
        client,
        cartesian_costs=[cost(files.tip_link, target, files.base_link)],
        joint_costs=[JointCost(joint=names[0], target=0.1, weight=0.01)],
        use_center_of_mass=True,
        center_of_mass_reference=files.base_link,
        center_of_mass_weight=0.1,
        velocity_limit_scaling=0.5,
        acceleration_limit_scaling=0.5,
        error_scaling=2.0,
        stop_cost=1e-3,
        min_delta_cost=1e-6,
        patience=3,
        control_hold_time=1.5,
        start=start_state,
    )
    assert answer.success, answer.message
    total = sum(answer.cartesian_costs) + sum(answer.joint_costs) + answer.center_of_mass_cost
    assert answer.total_cost == pytest.approx(total)
    assert answer.trajectory.points[0].positions[-1] == pytest.approx(begin)
    times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
             for p in answer.trajectory.points]  # fmt: skip
    assert times[-1] - times[-2] == pytest.approx(1.5)
    speeds = np.array([point.velocities for point in answer.trajectory.points])
    limits = planner.robot.velocity[planner.robot.group.variable_dof]
    assert np.all(np.abs(speeds) <= 0.5 * limits + 1e-9) and not speeds[-1].any()


def test_wrong_requests_are_refused_with_the_field(rig):
    client, files, planner, twin = rig
    target = twin.poses(random_configurations(planner, 1, 1), files.tip_link, files.base_link)[0]
    good = cost(files.tip_link, target)
    for fields, words in (
        ({}, 'no target'),
        ({'cartesian_costs': [cost('no_link', target)]}, 'cartesian_costs[0]'),
        ({'cartesian_costs': [good, cost(files.tip_link, target, 'none')]}, 'cartesian_costs[1]'),
        ({'cartesian_costs': [cost(files.tip_link, np.zeros(7))]}, 'quaternion'),
        ({'cartesian_costs': [good] * 65}, 'at most 64'),
        ({'joint_costs': [JointCost(joint='no_joint', weight=1.0)]}, 'joint_costs[0]'),
        ({'joint_costs': [JointCost(joint='x', weight=1.0)] * 1025}, 'at most 1024'),
        ({'cartesian_costs': [good], 'velocity_limit_scaling': 1.1}, 'velocity_limit_scaling'),
        ({'cartesian_costs': [good], 'acceleration_limit_scaling': -1.0}, 'acceleration_limit'),
        ({'cartesian_costs': [good], 'error_scaling': math.nan}, 'error_scaling'),
        ({'cartesian_costs': [good], 'stop_cost': -1.0}, 'stop_cost'),
        ({'cartesian_costs': [good], 'min_delta_cost': -1.0}, 'min_delta_cost'),
        ({'cartesian_costs': [good], 'control_hold_time': 1e6}, 'control_hold_time'),
        ({'cartesian_costs': [good], 'start': JointState(name=['no_joint'])}, 'no_joint'),
        ({'cartesian_costs': [good], 'use_center_of_mass': True,
          'center_of_mass_reference': 'none'}, 'center_of_mass'),
    ):  # fmt: skip
        answer = solve(client, **fields)
        assert not answer.success and words in answer.message, (words, answer.message)
        assert answer.reason == Response.FAILED
        assert not answer.trajectory.points
    assert solve(client, cartesian_costs=[good]).message is not None
    assert isinstance(good.target, Pose)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Planners' services over DDS: every solution and pose is verified by Pinocchio."""

import math
from xml.etree import ElementTree

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import random_configurations
from support.rigs.planning_rig import robot_text
from support.rigs.planning_rig import ROBOTS
from support.rigs.planning_rig import Twin
from support.rigs.ros_rig import ros_rig
from support.rigs.services_rig import ask
from support.rigs.services_rig import points
from support.rigs.services_rig import pose_message
from support.rigs.services_rig import solve
from support.rigs.services_rig import start
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.demo.robots import find_robot
from ros_ik.model.conventions.poses import multiply
from ros_ik.node.control.command_messages import duration
from ros_ik_interfaces.msg import JointCost
from ros_ik_interfaces.srv import CheckTrajectory
from ros_ik_interfaces.srv import SolveFk
from ros_ik_interfaces.srv import SolveIk
from ros_ik_interfaces.srv import SolveOptimal

pytestmark = pytest.mark.dds


@pytest.fixture(scope='module', params=ROBOTS)
def robot(request, tmp_path_factory):
    """Return the name of a robot, a client of its node, its planner and its model here."""
    with ros_rig(tmp_path_factory.mktemp('services'), planners=True) as client:
        start(client, request.param)
        planner = make_planner(request.param)
        yield request.param, client, planner, Twin(planner, request.param)
        assert client.processes.is_alive('node'), client.processes.text('node')


def links_with_collision_meshes(name):
    """Return the names of links with a collision mesh in the description."""
    links = ElementTree.fromstring(robot_text(name)).iter('link')
    return {link.get('name') for link in links if link.find('collision/geometry/mesh') is not None}


def test_solutions_and_poses_are_verified_by_pinocchio(robot):
    name, client, planner, twin = robot
    files = find_robot(name)
    rows = random_configurations(planner, 50, seed=1)
    names = list(planner.robot.group.joint_names)[::-1]
    coords = planner.coordinates(names)
    forward = SolveFk.Request(joint_names=names, configurations=points(rows[:, coords]))
    found = ask(client, SolveFk, 'solve_fk', forward)
    assert found.success and len(found.poses) == 50, found.message
    targets = twin.poses(rows, files.tip_link, files.base_link)
    for row, pose in zip(rows, found.poses, strict=True):
        p, q = pose.position, pose.orientation
        errors = twin.errors(
            row, files.tip_link, files.base_link, [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
        )
        np.testing.assert_allclose(errors, 0.0, atol=1e-9)
    answer = solve(client, poses=[pose_message(row) for row in targets], max_solutions=2)
    assert answer.success and not answer.message
    assert list(answer.codes) == [SolveIk.Response.CONVERGED] * 50
    assert len(answer.solutions) == len(answer.pose_index) >= 50
    solved = planner.coordinates(answer.joint_names)
    for index, point, distance, angle in zip(
        answer.pose_index, answer.solutions, answer.position_errors, answer.rotation_errors,
        strict=True,
    ):  # fmt: skip
        joint_q = planner.configurations(solved, np.array([point.positions]))[0]
        errors = twin.errors(joint_q, files.tip_link, files.base_link, targets[index])
        np.testing.assert_allclose([distance, angle], errors, atol=1e-8)
        assert errors[0] <= 1e-3 + 1e-9 and errors[1] <= 1e-2 + 1e-9


def test_a_trajectory_is_checked(robot):
    name, client, planner, _ = robot
    names = list(planner.robot.group.joint_names)
    home = planner.joint_q[planner.robot.coords]
    ends = JointTrajectory(joint_names=names, points=points([home, home]))
    ends.points[0].velocities = [1.0] + [0.0] * (len(names) - 1)
    ends.points[1].velocities = [0.0] * len(names)
    ends.points[1].time_from_start = duration(1.0)
    report = ask(
        client, CheckTrajectory, 'check_trajectory', CheckTrajectory.Request(trajectory=ends)
    )
    assert report.success, report.message
    # Tiago's first joint is its torso, which is slow.
    limit = planner.robot.velocity[planner.robot.group.variable_dof[0]]
    assert report.violated == ('' if limit >= 1.0 else f'velocity limit of {names[0]}')
    # The node does not find the meshes, so an unmeasured trajectory must not be called safe.
    assert not report.safe and not report.complete
    missing = links_with_collision_meshes(name)
    assert set(report.unmeasured_links) == missing
    distances = dict(zip(report.barriers, report.minimum_values, strict=True))
    assert math.isnan(distances['world'])


def test_links_without_their_meshes_are_named_wherever_distances_are_told(robot):
    name, client, planner, _ = robot
    missing = links_with_collision_meshes(name)
    pose = pose_message([0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
    answer = solve(client, poses=[pose], check_collisions=True)
    assert not answer.success and not answer.complete and not answer.solutions
    assert set(answer.unmeasured_links) == missing and 'are missing' in answer.message
    plain = solve(client, poses=[pose])
    assert plain.success and not plain.complete and set(plain.unmeasured_links) == missing
    costs = [JointCost(joint=planner.robot.group.joint_names[0], target=0.1, weight=1.0)]
    motion = ask(client, SolveOptimal, 'solve_optimal', SolveOptimal.Request(joint_costs=costs))
    assert motion.success and not motion.complete, motion.message
    assert set(motion.unmeasured_links) == missing
    assert set(client.statuses[-1].unmeasured_links) == missing
    client.diagnostics.clear()
    client.wait_for(
        lambda: any(entry.name.endswith(': model') for entry in client.diagnostics), 'an entry'
    )
    (entry, *_) = [entry for entry in client.diagnostics if entry.name.endswith(': model')]
    assert entry.level == DiagnosticStatus.WARN and 'collision shapes' in entry.message
    values = {pair.key: pair.value for pair in entry.values}
    assert set(values['links not measured'].split(', ')) == missing
    assert 'meshes that were not found' in client.processes.text('node')


def test_lines_for_an_srdf_name_links_that_always_touch(robot):
    name, client, planner, _ = robot
    answer = ask(client, Trigger, 'srdf_lines', Trigger.Request())
    assert answer.success
    lines = [ElementTree.fromstring(line) for line in answer.message.splitlines()]
    links = {link.get('name') for link in ElementTree.fromstring(robot_text(name)).iter('link')}
    found = {(line.get('link1'), line.get('link2')): line.get('reason') for line in lines}
    assert {name for pair in found for name in pair} <= links
    assert set(found.values()) <= {'Adjacent', 'Always'} and len(found) == len(lines)
    always = {pair for pair, reason in found.items() if reason == 'Always'}
    assert always == set(planner.robot.shapes.near)
    told = 'shapes that touch at nearly all configurations' in client.processes.text('node')
    assert told == bool(always) and (name != 'tiago' or len(always) > 10)
    with_lines = make_planner(name, srdf=f'<robot name="{name}">{answer.message}</robot>')
    assert not with_lines.robot.shapes.near and not with_lines.robot.srdf_lines


def test_a_wrong_request_is_answered_with_what_is_wrong(robot):
    _, client, planner, _ = robot
    pose = pose_message([0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
    seed = JointState(name=['no_such_joint'], position=[0.0])
    for fields, reason in (
        ({'poses': [pose], 'link': 'no_such_link'}, "'no_such_link'"),
        ({'poses': [pose], 'reference_frame': 'no_such_frame'}, "'no_such_frame'"),
        ({'poses': [pose], 'seeds': [seed]}, "'no_such_joint'"),
        ({'poses': [pose], 'timeout': -1.0}, 'timeout'),
        ({'poses': []}, 'poses'),
    ):
        answer = solve(client, **fields)
        assert not answer.success and reason in answer.message
    bad = CheckTrajectory.Request(trajectory=JointTrajectory(joint_names=['no_such_joint']))
    answer = ask(client, CheckTrajectory, 'check_trajectory', bad)
    assert not answer.success and "'no_such_joint'" in answer.message
    names = [planner.robot.group.joint_names[0]]
    short = SolveFk.Request(joint_names=names, configurations=[JointTrajectoryPoint()])
    answer = ask(client, SolveFk, 'solve_fk', short)
    assert not answer.success and 'configuration 0' in answer.message


def test_a_bad_pose_costs_no_other_pose(robot):
    name, client, planner, twin = robot
    files = find_robot(name)
    rows = random_configurations(planner, 3, seed=2)
    targets = twin.poses(rows, files.tip_link, files.base_link)
    targets[1, 2] = math.nan
    targets = np.vstack([targets, [3.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0], np.zeros(7)])
    answer = solve(client, poses=[pose_message(row) for row in targets])
    kinds = SolveIk.Response
    assert list(answer.codes) == [
        kinds.CONVERGED, kinds.NON_FINITE_INPUT, kinds.CONVERGED, kinds.UNREACHABLE,
        kinds.NON_FINITE_INPUT,
    ]  # fmt: skip
    assert list(answer.pose_index) == [0, 2, 3]
    assert all(math.isfinite(v) for point in answer.solutions for v in point.positions)


def test_a_goal_set_is_reached_within_its_tolerances_from_where_the_base_stands(robot):
    name, client, planner, twin = robot
    files = find_robot(name)
    rows = random_configurations(planner, 6, seed=3)
    targets = twin.poses(rows, files.tip_link, files.base_link)
    base = np.array([2.0, -1.0, 0.5, 0.0, 0.0, math.sin(0.7), math.cos(0.7)])
    given = [pose_message(multiply(base, row)) for row in targets]
    names = list(planner.robot.group.joint_names)
    near = [2, 3]
    seeds = [
        JointState(name=names, position=rows[k, planner.robot.coords].tolist()) for k in near
    ]
    turning = [1e-2, 1e-2, math.inf]
    fields = {'poses': given, 'n_goals': 3, 'base_poses': [pose_message(base)], 'seeds': seeds}
    answer = solve(client, **fields, rotation_tolerances=turning, tolerance_frame='tool')
    assert answer.success and not answer.message
    assert list(answer.codes) == [SolveIk.Response.CONVERGED] * 2
    assert list(answer.pose_index) == near
    solved = planner.coordinates(answer.joint_names)
    for index, point in zip(answer.pose_index, answer.solutions, strict=True):
        joint_q = planner.configurations(solved, np.array([point.positions]))[0]
        distance, _ = twin.errors(joint_q, files.tip_link, files.base_link, targets[index])
        assert distance <= 1e-3 + 1e-9
    middle = solve(client, **fields, preference='middle', max_solutions=2)
    assert middle.success and len(middle.solutions) == 4
    assert not set(map(tuple, _positions(middle))) & set(map(tuple, _positions(answer)))


def _positions(answer):
    return [point.positions for point in answer.solutions]


def test_the_field_of_a_goal_that_is_wrong_is_named(robot):
    _, client, _, _ = robot
    pose = pose_message([0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
    for fields, reason in (
        ({'n_goals': 2}, 'n_goals'),
        ({'position_tolerances': [0.1]}, 'position_tolerances'),
        ({'rotation_tolerances': [0.1, -0.1, 0.1]}, 'rotation_tolerances'),
        ({'tolerance_frame': 'base'}, 'tolerance_frame'),
        ({'base_poses': [pose, pose]}, 'base_poses'),
        ({'preference': 'elbow'}, 'preference'),
        ({'joint_group': 'nothing'}, "'nothing'"),
        ({'poses': [pose] * 7000, 'preference': 'middle'}, 'services.max_poses'),
    ):
        answer = solve(client, **{'poses': [pose], **fields})
        assert not answer.success and reason in answer.message, answer.message
    nowhere = pose_message([math.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    answer = solve(client, poses=[pose], base_poses=[nowhere])
    assert list(answer.codes) == [SolveIk.Response.NON_FINITE_INPUT]
    assert 'base_poses[0]' in answer.message


@pytest.mark.parametrize('value', [math.nan, math.inf, 1e300])
def test_the_message_names_a_seed_that_is_not_finite(robot, value):
    _, client, planner, _ = robot
    names = list(planner.robot.group.joint_names)
    seeds = [JointState(name=names, position=[0.0] * len(names)) for _ in range(2)]
    seeds[1].position[2] = value
    pose = pose_message([0.3, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0])
    answer = solve(client, poses=[pose, pose], seeds=seeds)
    assert answer.success and answer.codes[1] == SolveIk.Response.NON_FINITE_INPUT
    assert 'seeds[1]' in answer.message and repr(names[2]) in answer.message

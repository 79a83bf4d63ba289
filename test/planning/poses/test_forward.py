# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batches of forward kinematics against Pinocchio."""

import math

import numpy as np
import pytest
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import random_configurations
from support.rigs.planning_rig import ROBOTS
from support.rigs.planning_rig import shared_planner
from support.rigs.planning_rig import Twin

from ros_ik.demo.robots import find_robot
from ros_ik.planning import Budget
from ros_ik.planning import RequestError
from ros_ik.planning import solve_fk


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('reference', ['', 'tip'])
def test_poses_are_those_of_pinocchio(name, reference):
    planner, files = shared_planner(name), find_robot(name)
    reference = files.tip_link if reference else ''
    links = list(planner.model.body_label[1::5])
    rows = random_configurations(planner, 10, seed=1)
    names = planner.robot.group.joint_names
    poses = solve_fk(planner, names, rows[:, planner.robot.coords], links, reference)
    assert poses.shape == (10, len(links), 7)
    twin = Twin(planner, name)
    for row, pose in zip(rows, poses, strict=True):
        for link, found in zip(links, pose, strict=True):
            errors = twin.errors(row, link, reference or files.base_link, found)
            # float64 on both sides.
            np.testing.assert_allclose(errors, 0.0, atol=1e-9)


def test_other_joints_are_as_measured():
    planner, files = shared_planner('panda'), find_robot('panda')
    poses = solve_fk(planner, ['panda_joint4'], np.array([[-1.0]]), [files.tip_link])
    joint_q = planner.joint_q.copy()
    joint_q[planner.robot.coord_of['panda_joint4']] = -1.0
    errors = Twin(planner, 'panda').errors(joint_q, files.tip_link, files.base_link, poses[0, 0])
    np.testing.assert_allclose(errors, 0.0, atol=1e-9)


def test_without_links_the_frames_of_the_tasks_with_their_offsets_come():
    planner = make_planner('panda', ee__offset_xyz=[0.0, 0.1, 0.0])
    tip = find_robot('panda').tip_link
    frame, link = (solve_fk(planner, [], np.zeros((1, 0)), links)[0, 0] for links in ((), [tip]))
    assert np.linalg.norm(frame[:3] - link[:3]) == pytest.approx(0.1)


def test_joints_that_do_not_matter_need_no_measurement():
    planner = make_planner('panda', measured=False)
    names = planner.robot.group.joint_names
    solve_fk(planner, names[:2], np.zeros((1, 2)), ['panda_link2'])
    with pytest.raises(RequestError, match='panda_joint3'):
        solve_fk(planner, names[:2], np.zeros((1, 2)), ['panda_link3'])


@pytest.mark.parametrize(
    ('names', 'positions', 'links', 'reference', 'reason'),
    [
        (['elbow'], [[0.0]], [], '', "'elbow'"),
        (['panda_joint1'], [[0.0]], ['elbow'], '', "'elbow'"),
        (['panda_joint1'], [[0.0]], [], 'map', "'map'"),
        (['panda_joint1'], [[0.0]], ['panda_hand', ''], '', 'names'),
        (['panda_joint1', 'panda_joint1'], [[0.0, 0.0]], [], '', 'twice'),
        (['panda_joint1'], [[0.0], [math.nan]], [], '', r'configurations\[1\]'),
        (['panda_finger_joint2'], [[0.0]], [], '', "follows 'panda_finger_joint1'"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(names, positions, links, reference, reason):
    with pytest.raises(RequestError, match=reason):
        solve_fk(shared_planner('panda'), names, np.array(positions), links, reference)


def test_the_time_bounds_it():
    with pytest.raises(RequestError, match='time limit has passed'):
        solve_fk(shared_planner('panda'), ['panda_joint1'], np.zeros((3, 1)), budget=Budget(0.0))

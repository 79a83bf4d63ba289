# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cached solvers give the answers of new ones, and are shared only between equal requests."""

import dataclasses

import numpy as np
import pytest
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import random_configurations

from ros_ik.planning import IkRequest
from ros_ik.planning import solve_ik
from ros_ik.planning.context.chain_solver_cache import ChainSolvers
from ros_ik.planning.context.chain_solver_cache import ChainTask
from ros_ik.servo.motion.pose_math import IDENTITY
from ros_ik.solvers import inverse_kinematics

TCP = 'panda_hand_tcp'


@pytest.fixture(scope='module')
def planner():
    return make_planner('panda')


@pytest.fixture(scope='module')
def targets(planner):
    return planner.body_poses(random_configurations(planner, 40, seed=5))[:, planner.link(TCP)]


@pytest.fixture
def task(planner):
    model = planner.bounded_model
    return ChainTask(
        model=model,
        link=TCP,
        offset=IDENTITY,
        group=model.joint_group(planner.robot.group.joint_names),
        locked_joint_q=planner.locked_joint_q(planner.link(TCP)),
        position_tolerance=1e-3,
        rotation_tolerance=1e-2,
        n_solutions=2,
        check_collisions=False,
        threads=1,
    )


@pytest.mark.parametrize('n', [1, 2, 16, 40])
def test_a_batch_that_is_filled_up_gets_the_answers_of_one_that_is_not(planner, task, targets, n):
    found = ChainSolvers().solve(task, targets[:n], planner.joint_q[None])
    alone = inverse_kinematics(
        task.model, TCP, targets[:n], planner.joint_q, n_solutions=2, joint_group=task.group,
        joint_q=task.locked_joint_q, n_threads=1,
    )  # fmt: skip
    np.testing.assert_array_equal(found.status, alone.status)
    np.testing.assert_array_equal(found.n_found, alone.n_found)
    np.testing.assert_allclose(found.joint_q, alone.joint_q, atol=1e-12)
    np.testing.assert_allclose(found.position_error, alone.position_error, atol=1e-12)


def test_solvers_are_kept_by_what_they_solve_and_their_number_is_bounded(planner, task, targets):
    solvers = ChainSolvers()
    for _ in range(3):
        solvers.solve(task, targets[:3], planner.joint_q[None])
    assert len(solvers) == 1
    moved = task.locked_joint_q.copy()
    moved[task.group_coordinates()] += 0.1
    other = dataclasses.replace(task, locked_joint_q=moved)
    solvers.solve(other, targets[:3], planner.joint_q[None])
    assert len(solvers) == 1  # the positions of joints that the solver moves make no difference
    others = [{'position_tolerance': 1e-4}, {'n_solutions': 3}, {'link': 'panda_hand'}]
    for number, change in enumerate(others, 2):
        solvers.solve(dataclasses.replace(task, **change), targets[:3], planner.joint_q[None])
        assert len(solvers) == number
    for tolerance in np.linspace(1e-4, 1e-3, 20):
        other = dataclasses.replace(task, rotation_tolerance=float(tolerance))
        solvers.solve(other, targets[:1], planner.joint_q[None])
    assert len(solvers) <= 8


def test_the_memory_of_a_batch_is_bounded(task):
    sizes = [
        ChainSolvers.most_poses(dataclasses.replace(task, n_solutions=n)) for n in (1, 64, 10**6)
    ]
    assert sizes == [8192, 1024, 1]
    assert ChainSolvers.most_poses(dataclasses.replace(task, check_collisions=True)) == 1024


def test_requests_share_solvers_until_a_setting_or_a_held_joint_changes(targets):
    planner = make_planner('panda')
    for _ in range(3):
        solve_ik(planner, IkRequest(targets))
    kept = len(planner.chains)
    state = planner.joint_q.copy()
    state[planner.robot.coord_of['panda_finger_joint1']] += 0.01
    planner.measure(state, planner.known)
    # Fingers move nothing that the pose of the tool depends on.
    solve_ik(planner, IkRequest(targets))
    assert len(planner.chains) == kept
    planner.apply(dataclasses.replace(planner.settings, limits_position_margin=(0.1,)))
    found = solve_ik(planner, IkRequest(targets))
    assert len(planner.chains) > kept
    dofs = planner.robot.group.variable_dof
    assert np.all(found.positions[found.codes[found.pose_index] == 0] >= planner.robot.lower[dofs]
                  + 0.1 - 1e-9)  # fmt: skip

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Goal sets, tolerances by axis, bases and preferences of planners, verified by Pinocchio."""

import numpy as np
import pytest
from support.rigs.planning_rig import random_configurations
from support.rigs.planning_rig import rotation_matrix
from support.rigs.planning_rig import shared_planner
from support.rigs.planning_rig import Twin

from ros_ik.demo.robots import find_robot
from ros_ik.model.conventions.poses import multiply
from ros_ik.planning import IkRequest
from ros_ik.planning import PoseCode
from ros_ik.planning import RequestError
from ros_ik.planning import solve_ik
from ros_ik.planning.context.chain_solver_cache import ChainSolvers

PANDA = find_robot('panda')
FRAMES = PANDA.tip_link, PANDA.base_link
FAR = np.array([3.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
GOOD = np.array([[0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]] * 4)


@pytest.fixture(scope='module')
def planner():
    return shared_planner('panda')


@pytest.fixture(scope='module')
def twin(planner):
    return Twin(planner, 'panda')


def reachable(planner, twin, n, seed):
    """Return poses of the tool that can be reached, and configurations of them."""
    rows = random_configurations(planner, n, seed)
    return twin.poses(rows, *FRAMES), rows


def configurations(planner, answer):
    """Return the whole configurations of the solutions."""
    return planner.configurations(planner.coordinates(answer.joint_names), answer.positions)


def errors_by_axis(twin, joint_q, target, frame):
    """Return the errors along and about the axes of the target or the tool, [6]."""
    position, rotation = twin.pose(joint_q, *FRAMES)
    goal = rotation_matrix(target[3:])
    turn = goal @ rotation.T
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    angle = np.arctan2(np.linalg.norm(skew), np.trace(turn) - 1.0)
    axis = skew / max(np.linalg.norm(skew), 1e-300)
    seen_from = (goal if frame == 'target' else rotation).T
    return np.concatenate([seen_from @ (target[:3] - position), seen_from @ (angle * axis)])


def test_the_goal_that_is_nearest_to_the_seed_is_reached(planner, twin):
    targets, rows = reachable(planner, twin, 12, seed=1)
    targets[3] = FAR  # of the second set of three, which leaves two
    near = [1, 5, 6, 10]
    names = planner.robot.group.joint_names
    seeds = [(names, rows[k, planner.robot.coords]) for k in near]
    answer = solve_ik(planner, IkRequest(targets, n_goals=3, seeds=seeds))
    np.testing.assert_array_equal(answer.codes, [PoseCode.CONVERGED] * 4)
    np.testing.assert_array_equal(answer.pose_index, near)
    # A search that starts at a solution stays there.
    np.testing.assert_allclose(answer.positions, rows[near][:, planner.robot.coords], atol=1e-6)
    assert (answer.position_errors <= 1e-3).all()


def test_solutions_of_a_set_are_those_of_its_poses_in_one_order(planner, twin):
    targets, _ = reachable(planner, twin, 6, seed=2)
    answer = solve_ik(planner, IkRequest(targets, n_goals=3, max_solutions=5))
    alone = solve_ik(planner, IkRequest(targets, max_solutions=5))
    home = planner.joint_q[planner.robot.coords]
    for number in range(2):
        of_set = answer.pose_index // 3 == number
        found = np.linalg.norm(answer.positions[of_set] - home, axis=1)
        every = alone.positions[alone.pose_index // 3 == number]
        least = np.sort(np.linalg.norm(every - home, axis=1))[:5]
        np.testing.assert_allclose(found, least, atol=1e-9)
    for joint_q, pose in zip(configurations(planner, answer), answer.pose_index, strict=True):
        assert twin.errors(joint_q, *FRAMES, targets[pose])[0] <= 1e-3 + 1e-9


def test_a_set_out_of_reach_gives_the_goal_that_comes_nearest(planner, twin):
    reached, _ = reachable(planner, twin, 2, seed=3)
    sets = np.stack([FAR + [1, 0, 0, 0, 0, 0, 0], FAR, *reached, *np.full((2, 7), np.nan)])
    answer = solve_ik(planner, IkRequest(sets, n_goals=2))
    wanted = [PoseCode.UNREACHABLE, PoseCode.CONVERGED, PoseCode.NON_FINITE_INPUT]
    np.testing.assert_array_equal(answer.codes, wanted)
    assert answer.pose_index[0] == 1 and answer.pose_index[1] in (2, 3)
    assert len(answer.pose_index) == 2


def test_a_set_larger_than_a_batch_is_solved_in_parts(planner, twin, monkeypatch):
    targets, rows = reachable(planner, twin, 10, seed=4)
    monkeypatch.setattr(ChainSolvers, 'most_poses', staticmethod(lambda _: 4))
    seed = (planner.robot.group.joint_names, rows[7, planner.robot.coords])
    answer = solve_ik(planner, IkRequest(targets, n_goals=10, seeds=[seed]))
    np.testing.assert_array_equal(answer.pose_index, [7])


@pytest.mark.parametrize('frame', ['target', 'tool'])
def test_errors_stay_inside_the_tolerances_of_their_axes(planner, twin, frame):
    targets, _ = reachable(planner, twin, 20, seed=5)
    wide = [0.1, 1e-3, 1e-3], [1e-2, 1e-2, np.inf]
    answer = solve_ik(
        planner,
        IkRequest(
            targets, position_tolerances=wide[0], rotation_tolerances=wide[1],
            tolerance_frame=frame,
        ),
    )  # fmt: skip
    np.testing.assert_array_equal(answer.codes, PoseCode.CONVERGED)
    errors = np.array(
        [
            errors_by_axis(twin, joint_q, target, frame)
            for joint_q, target in zip(configurations(planner, answer), targets, strict=True)
        ]
    )
    assert (np.abs(errors) <= np.concatenate(wide) + 1e-8).all()
    # The freedom is used: the turn about z and the way along x are not zero.
    assert np.abs(errors[:, 5]).max() > 0.1 and np.abs(errors[:, 0]).max() > 2e-3


def test_poses_are_seen_from_where_the_base_stands(planner, twin):
    targets, _ = reachable(planner, twin, 4, seed=6)
    bases = np.array([[2.0, -1.0, 0.3, 0.0, 0.0, np.sin(k), np.cos(k)] for k in range(2)])
    given = np.vstack([multiply(bases[k // 2], targets[k : k + 1]) for k in range(4)])
    plain = solve_ik(planner, IkRequest(targets, n_goals=2))
    moved = solve_ik(planner, IkRequest(given, n_goals=2, base_poses=bases))
    np.testing.assert_array_equal(moved.pose_index, plain.pose_index)
    np.testing.assert_allclose(moved.positions, plain.positions, atol=1e-9)
    one = solve_ik(planner, IkRequest(given[:2], base_poses=bases[:1]))
    np.testing.assert_array_equal(one.codes, PoseCode.CONVERGED)
    assert (solve_ik(planner, IkRequest(given)).codes != PoseCode.CONVERGED).any()


def test_a_preference_chooses_among_solutions(planner, twin):
    targets, _ = reachable(planner, twin, 10, seed=7)
    group, robot = planner.robot.group, planner.robot
    low, high = robot.lower[group.variable_dof], robot.upper[group.variable_dof]

    def away_from_middle(answer):
        return np.linalg.norm((answer.positions - (low + high) / 2) / ((high - low) / 2), axis=1)

    nearest = solve_ik(planner, IkRequest(targets))
    middle = solve_ik(planner, IkRequest(targets, preference='middle'))
    assert (away_from_middle(middle) <= away_from_middle(nearest) + 1e-9).all()
    assert away_from_middle(middle).sum() < 0.9 * away_from_middle(nearest).sum()
    several = solve_ik(planner, IkRequest(targets, preference='middle', max_solutions=3))
    assert np.bincount(several.pose_index).max() == 3
    np.testing.assert_array_equal(several.positions[np.unique(several.pose_index,
                                  return_index=True)[1]], middle.positions)  # fmt: skip


def test_only_the_joints_of_a_group_move(planner, twin):
    rows = random_configurations(planner, 5, seed=8)
    rows[:, planner.robot.coord_of['panda_joint1']] = planner.joint_q[
        planner.robot.coord_of['panda_joint1']
    ]
    targets = twin.poses(rows, *FRAMES)
    answer = solve_ik(planner, IkRequest(targets, joint_group='panda_link1:panda_hand_tcp'))
    assert 'panda_joint1' not in answer.joint_names and len(answer.joint_names) == 6
    for joint_q, target in zip(configurations(planner, answer), targets, strict=True):
        assert twin.errors(joint_q, *FRAMES, target)[0] <= 1e-3 + 1e-9


@pytest.mark.parametrize(
    ('fields', 'reason'),
    [
        ({'n_goals': 3}, 'n_goals: 4 poses are not a multiple of 3'),
        ({'n_goals': 2, 'seeds': [((), ())] * 4}, r'seeds must be .* goal set \(2\), got 4'),
        ({'position_tolerances': [1e-3, 1e-3]}, 'position_tolerances must be none or 3'),
        ({'position_tolerances': [1e-3, 0.0, 1e-3]}, 'position_tolerances must be none or 3'),
        ({'rotation_tolerances': [np.nan, 1.0, 1.0]}, 'rotation_tolerances must be none or 3'),
        ({'position_tolerances': [np.inf] * 3, 'rotation_tolerances': [np.inf] * 3}, 'both be'),
        ({'tolerance_frame': 'world'}, "tolerance_frame must be .* got 'world'"),
        ({'base_poses': GOOD[:3]}, r'base_poses must be none, one, or one per .* \(4\), got 3'),
        ({'preference': 'elbow_up'}, "preference must be .*, manipulability, got 'elbow_up'"),
        ({'joint_group': 'no_such_group'}, "'no_such_group'"),
    ],
)
def test_the_field_that_is_wrong_is_named(planner, fields, reason):
    with pytest.raises(RequestError, match=reason):
        solve_ik(planner, IkRequest(GOOD, **fields))

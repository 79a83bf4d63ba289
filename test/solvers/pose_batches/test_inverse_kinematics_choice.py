# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Goal sets, preferences, bases of problems, progress of long batches."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.robots.arms import ARMS
from support.robots.arms import reachable
from support.robots.arms import robot
from support.robots.arms import ROUNDING
from support.robots.arms import SOME_ARMS
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik import all_solutions
from ros_ik import inverse_kinematics
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.model import JointType
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.analytic.structure.structure import joint_axes
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings

PANDA, TIP = ARMS[0]
SOLVED = SolveStatus.CONVERGED


def far(n):
    """Return poses that no robot reaches."""
    return np.tile([50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (n, 1))


def distances(name, link, joint_q, poses):
    """Return distances and angles to poses by Pinocchio, [n, 2]."""
    oracle = PinocchioRobot(urdf_text(name), robot(name))
    out = []
    for q, pose in zip(joint_q, poses, strict=True):
        p, R = oracle.pose(q, link)
        target = pin.Quaternion(pose[3:]).toRotationMatrix()
        out.append((np.linalg.norm(p - pose[:3]), np.linalg.norm(pin.log3(target @ R.T))))
    return np.array(out)


@pytest.mark.parametrize(('arm', 'method'), in_turn(either(SOME_ARMS, ARMS), ['search', 'auto']))
def test_the_one_pose_of_a_set_that_is_reached_is_told(arm, method):
    name, link = arm
    n, n_goals = 24, 3
    poses, seeds = reachable(robot(name), link, n)
    goal = np.random.default_rng(0).integers(0, n_goals, n)
    sets = far(n * n_goals).reshape(n, n_goals, 7)
    sets[np.arange(n), goal] = poses
    result = inverse_kinematics(robot(name), link, sets, seeds, method=method)
    assert np.all(result.status == SOLVED) and np.array_equal(result.goal, goal)
    assert result.joint_q.shape == seeds.shape and result.n_found.shape == (n,)
    distance, angle = distances(name, link, result.joint_q, poses).T
    assert np.all(distance <= 1e-3 + ROUNDING) and np.all(angle <= 1e-2 + ROUNDING)


def test_of_a_set_the_solution_nearest_to_the_seed_comes_first():
    n, n_goals = 40, 4
    poses, _ = reachable(robot(PANDA), TIP, n * n_goals)
    seeds = robot(PANDA).random_joint_q(n, np.random.default_rng(5))
    sets = poses.reshape(n, n_goals, 7)
    result = inverse_kinematics(robot(PANDA), TIP, sets, seeds, n_solutions=5)
    assert result.goal.shape == (n, 5) and len(np.unique(result.goal[:, 0])) == n_goals
    alone = inverse_kinematics(
        robot(PANDA), TIP, poses, np.repeat(seeds, n_goals, axis=0), n_solutions=5
    )
    for k in range(n):
        every = [
            (np.linalg.norm(q - seeds[k]), goal)
            for goal in range(n_goals)
            for q in alone.joint_q[k * n_goals + goal, : alone.n_found[k * n_goals + goal]]
        ]
        expected = sorted(every)[:5]
        found = result.joint_q[k, : result.n_found[k]]
        assert result.n_found[k] == len(expected)
        np.testing.assert_allclose(
            np.linalg.norm(found - seeds[k], axis=1), [distance for distance, _ in expected]
        )
        assert [goal for _, goal in expected] == list(result.goal[k, : len(expected)])


def is_apart(joint_q, others, separation):
    """Return True if a configuration differs from all others in some joint."""
    return all(np.abs(joint_q - other).max() >= separation for other in others)


@pytest.mark.parametrize('preference', ['seed', 'middle', lambda q: np.abs(q[:, 0])])
@pytest.mark.parametrize(('method', 'separation'), [('search', 0.1), ('closed_form', 1e-5)])
@pytest.mark.parametrize('between', [0.0, 2e-4, 0.05])
def test_solutions_are_distinct_in_the_whole_set(between, method, separation, preference):
    n, n_goals, wanted = 30, 3, 12
    model = robot('ur5_robot')
    poses, seeds = reachable(model, 'tool0', n)
    sets = np.repeat(poses[:, None], n_goals, axis=1)
    sets[:, :, 2] += between * np.arange(n_goals)
    given = {'method': method, 'n_solutions': wanted, 'preference': preference}
    result = inverse_kinematics(model, 'tool0', sets, seeds, **given)
    each = inverse_kinematics(
        model, 'tool0', sets.reshape(-1, 7), np.repeat(seeds, n_goals, axis=0),
        **{**given, 'n_solutions': 16},
    )  # fmt: skip
    for k in np.flatnonzero(result.status == SOLVED):
        found, goal = result.joint_q[k, : result.n_found[k]], result.goal[k]
        for i in range(len(found)):
            others = [found[j] for j in range(i) if goal[j] != goal[i]]
            assert is_apart(found[i], others, separation)
        if len(found) < wanted and method == 'closed_form':
            # Nothing that is distinct was left out.
            for row in range(k * n_goals, (k + 1) * n_goals):
                for q in each.joint_q[row, : each.n_found[row]]:
                    assert not is_apart(q, found, separation)
    if between == 0.0 and method == 'closed_form':
        alone = inverse_kinematics(model, 'tool0', poses, seeds, **given)
        np.testing.assert_array_equal(result.joint_q[:, 0], alone.joint_q[:, 0])
        np.testing.assert_array_equal(result.n_found, alone.n_found)


def test_a_set_out_of_reach_tells_which_pose_was_nearest():
    sets = far(6).reshape(2, 3, 7)
    sets[:, 1, 0] = 2.0
    sets[1, 0] = np.nan
    result = inverse_kinematics(robot(PANDA), TIP, sets)
    assert list(result.goal) == [1, 1] and not np.any(result.n_found)
    assert np.all(np.isin(result.status, [SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS]))
    sets[:] = np.nan
    result = inverse_kinematics(robot(PANDA), TIP, sets)
    assert np.all(result.status == SolveStatus.NON_FINITE_INPUT)
    assert np.isfinite(result.joint_q).all()


@pytest.mark.parametrize(
    ('arm', 'method'), in_turn(either(SOME_ARMS, ARMS[:5]), ['search', 'auto'])
)
def test_robots_stand_where_their_bases_are(arm, method):
    name, link = arm
    poses, seeds = reachable(robot(name), link, 20)
    rng = np.random.default_rng(6)
    bases = [pin.SE3.Random() for _ in range(20)]
    for base in bases:
        base.translation = rng.uniform(-20.0, 20.0, 3)
    placed = np.array(
        [pin.SE3ToXYZQUAT(b * pin.XYZQUATToSE3(p)) for b, p in zip(bases, poses, strict=True)]
    )
    rows = np.array([pin.SE3ToXYZQUAT(base) for base in bases])
    result = inverse_kinematics(robot(name), link, placed, seeds, base_poses=rows, method=method)
    assert np.all(result.status == SOLVED)
    distance, angle = distances(name, link, result.joint_q, poses).T
    assert np.all(distance <= 1e-3 + ROUNDING) and np.all(angle <= 1e-2 + ROUNDING)
    one = inverse_kinematics(robot(name), link, placed[:1], seeds[:1], base_poses=rows[0])
    sets = inverse_kinematics(
        robot(name), link, np.stack([far(20), placed], axis=1), seeds, base_poses=rows
    )
    assert np.all(one.status == SOLVED) and np.all(sets.status == SOLVED)
    assert np.all(sets.goal == 1)


class Judge:
    """Costs of configurations, by NumPy and Pinocchio."""

    def __init__(self, name, link):
        self.model, self.link = robot(name), link
        self.oracle = PinocchioRobot(urdf_text(name), self.model)
        self.chain, _ = folded_chain(self.model, link, None, None, None)
        assert self.model.joint_coord_count == self.model.joint_dof_count
        slope = self.oracle.jacobian(self.model.random_joint_q(1, 0)[0], link)
        self.coordinates = np.flatnonzero(np.abs(slope).max(axis=0))
        kinds = np.repeat(self.model.joint_type.numpy(), np.diff(self.model.joint_q_start.numpy()))
        self.slides = kinds[self.coordinates] == JointType.PRISMATIC

    def middle(self, joint_q):
        """Return the distance to the middle of the limits over half their ranges."""
        lower, upper = (limit[self.coordinates] for limit in self.model.limits64()[:2])
        lower = np.where(np.isfinite(lower), lower, -np.pi)
        upper = np.where(np.isfinite(upper), upper, np.pi)
        q = joint_q[:, self.coordinates]
        return np.linalg.norm((2.0 * q - lower - upper) / (upper - lower), axis=1)

    def manipulability(self, joint_q):
        """Return the negative product of singular values, with lengths over the reach.

        Of configurations that differ by whole turns of joints, all have the cost of the first.
        """
        reach, costs = joint_axes(self.chain).reach, []
        for k, q in enumerate(joint_q):
            jacobian = self.oracle.jacobian(q, self.link)[:, self.coordinates].copy()
            jacobian[:3] /= reach
            jacobian[:, self.slides] *= reach
            gaps = joint_q[:k, self.coordinates] - q[self.coordinates]
            turns = np.where(self.slides, 0.0, 2.0 * np.pi * np.rint(gaps / (2.0 * np.pi)))
            same = np.flatnonzero(np.abs(gaps - turns).max(axis=1, initial=0.0) < 0.1)
            own = -np.prod(np.linalg.svd(jacobian, compute_uv=False)[: len(self.coordinates)])
            costs.append(costs[same[0]] if len(same) else own)
        return np.array(costs)


@pytest.mark.parametrize(
    ('arm', 'preference'), in_turn(either(SOME_ARMS, ARMS), ['middle', 'manipulability'])
)
def test_the_preferred_of_all_candidates_come_first(arm, preference):
    name, link = arm
    model, judge = robot(name), Judge(name, link)
    poses, seeds = reachable(model, link, 20)
    every = inverse_kinematics(model, link, poses, seeds, n_solutions=8)
    request = {'preference': preference, 'n_candidates': 8}
    best = inverse_kinematics(model, link, poses, seeds, **request)
    three = inverse_kinematics(model, link, poses, seeds, n_solutions=3, **request)
    again = inverse_kinematics(model, link, poses, seeds, n_solutions=3, **request)
    assert best.joint_q.shape == seeds.shape and not hasattr(best, 'goal')
    np.testing.assert_array_equal(three.joint_q, again.joint_q)
    others = 0
    for k in range(20):
        found = every.joint_q[k, : every.n_found[k]]
        order = np.argsort(getattr(judge, preference)(found), kind='stable')[:3]
        assert three.n_found[k] == len(order) and best.n_found[k] == min(1, len(order))
        np.testing.assert_array_equal(three.joint_q[k, : len(order)], found[order])
        np.testing.assert_array_equal(best.joint_q[k], three.joint_q[k, 0])
        np.testing.assert_array_equal(
            three.position_error[k, : len(order)], every.position_error[k, order]
        )
        others += order[0] != 0
    assert others > 1 and np.all(best.status == SOLVED)


@pytest.mark.parametrize(
    'given', [{'settings': ChainIKSettings(separation=0.02)}, {'method': 'closed_form'}]
)
def test_solutions_closer_than_those_of_the_default_have_costs_of_their_own(given):
    judge = Judge(PANDA, TIP)
    poses, seeds = reachable(judge.model, TIP, 10, seed=4)
    seeds[:, 7:] = 0.0
    result = inverse_kinematics(
        judge.model, TIP, poses, seeds, n_solutions=32, preference='manipulability', **given
    )
    close = 0
    for q, count in zip(result.joint_q, result.n_found, strict=True):
        costs = [judge.manipulability(each[None])[0] for each in q[:count]]
        # Solutions of a search are not exact, and no joint of a Panda makes a whole turn.
        assert np.all(np.diff(costs) >= -1e-9)
        gaps = np.abs(q[:count, None] - q[None, :count]).max(axis=2)
        close += np.sum(gaps[np.triu_indices(count, 1)] < 0.1)
    assert close > 10


def test_the_preferred_by_a_function_of_the_user_comes_first():
    poses, seeds = reachable(robot(PANDA), TIP, 40)
    every = inverse_kinematics(robot(PANDA), TIP, poses, seeds, n_solutions=8)

    def cost(joint_q):
        # It may solve by the same solver.
        inverse_kinematics(robot(PANDA), TIP, poses[::-1], seeds, n_solutions=8)
        return np.where(joint_q[:, 3] > -0.5, np.nan, np.abs(joint_q[:, 3] + 1.0))

    best = inverse_kinematics(robot(PANDA), TIP, poses, seeds, preference=cost, n_candidates=8)
    undesired = 0
    for k in range(40):
        costs = cost(every.joint_q[k, : every.n_found[k]])
        costs[np.isnan(costs)] = np.inf
        undesired += np.isinf(costs).sum()
        np.testing.assert_array_equal(best.joint_q[k], every.joint_q[k, np.argmin(costs)])
    assert undesired > 10


@pytest.mark.parametrize('preference', ['seed', 'middle', 'manipulability'])
def test_sets_are_chosen_from_in_batches(preference, monkeypatch):
    model, n, n_goals, size = robot(PANDA), 7, 3, 2
    poses, _ = reachable(model, TIP, n * n_goals)
    _, seeds = reachable(model, TIP, n)
    sets = poses.reshape(n, n_goals, 7)
    sets[2] = far(n_goals)
    request = {'n_solutions': 2, 'preference': preference, 'n_candidates': 4}
    alone = [
        inverse_kinematics(model, TIP, sets[k : k + size], seeds[k : k + size], **request)
        for k in range(0, n, size)
    ]
    told = []
    # As many solutions as two sets have.
    solutions = request['n_solutions' if preference == 'seed' else 'n_candidates']
    monkeypatch.setattr(
        'ros_ik.solvers.pose_batches.batch.MAX_BATCH', size * n_goals * solutions + 1
    )
    found = inverse_kinematics(
        model, TIP, sets, seeds, on_progress=lambda *numbers: told.append(numbers), **request
    )
    assert told == [(6, 21), (12, 21), (18, 21), (21, 21)]
    for name, values in vars(found).items():
        expected = np.concatenate([getattr(part, name) for part in alone])
        np.testing.assert_array_equal(values, expected, err_msg=name)
    assert found.n_found[2] == 0 and np.all(np.delete(found.n_found, 2) == 2)


def test_progress_is_told_and_can_end_a_call():
    model = robot('ur5_robot')
    poses, _ = reachable(model, 'tool0', 50)
    many = np.tile(poses, (1400, 1))
    told = []
    result = inverse_kinematics(
        model, 'tool0', many, on_progress=lambda done, total: told.append((done, total))
    )
    assert told == [(65_536, 70_000), (70_000, 70_000)]
    told.clear()
    inverse_kinematics(model, 'tool0', poses, on_progress=lambda *numbers: told.append(numbers))
    assert told == [(50, 50)]
    assert len(result.status) == 70_000 and np.all(result.status == SOLVED)

    class EnoughError(Exception):
        pass

    def stop(done, total):
        raise EnoughError

    with pytest.raises(EnoughError):
        inverse_kinematics(model, 'tool0', many, on_progress=stop)


def test_progress_in_closed_form_is_told_and_can_end_a_call(monkeypatch):
    model, told = robot('ur5_robot'), []
    poses, seeds = reachable(model, 'tool0', 30)
    request = {'method': 'closed_form'}
    expected = inverse_kinematics(model, 'tool0', poses, seeds, **request)
    monkeypatch.setattr('ros_ik.solvers.analytic.batch._MAX_BATCH', 12)

    def tell(done, total):
        told.append((done, total))
        if len(told) == 5:
            raise KeyboardInterrupt

    found = inverse_kinematics(model, 'tool0', poses, seeds, on_progress=tell, **request)
    assert told == [(12, 30), (24, 30), (30, 30)]
    np.testing.assert_array_equal(found.joint_q, expected.joint_q)
    with pytest.raises(KeyboardInterrupt):
        inverse_kinematics(model, 'tool0', poses, seeds, on_progress=tell, **request)
    assert told[3:] == [(12, 30), (24, 30)]
    again = inverse_kinematics(model, 'tool0', poses, seeds, **request)
    np.testing.assert_array_equal(again.joint_q, expected.joint_q)
    with pytest.raises(ArgumentError, match='on_progress must be a function, got 3'):
        all_solutions(model, 'tool0', poses, on_progress=3)


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'preference': 'elbow'}, 'preference must be one of seed, middle, manipulability'),
        ({'preference': 3}, 'preference'),
        ({'preference': lambda q: np.zeros(3)}, 'preference must return one number'),
        ({'preference': lambda q: 'low'}, 'preference'),
        ({'preference': 'middle', 'n_candidates': 0}, 'n_candidates'),
        ({'on_progress': 'print'}, "on_progress must be a function, got 'print'"),
        ({'check_collisions': 'no'}, 'check_collisions must be True or False'),
        ({'check_collisions': np.zeros(2)}, 'check_collisions must be True or False'),
        ({'base_poses': np.zeros((3, 7))}, 'base_poses'),
        ({'base_poses': [0.0, 1.0]}, 'base_poses'),
        ({'base_poses': 'here'}, 'base_poses'),
        ({'poses': np.zeros((2, 0, 7))}, 'poses'),
        ({'poses': np.zeros((2, 3, 6))}, 'poses'),
        ({'poses': np.zeros((2, 2, 2, 7))}, 'poses'),
        ({'poses': np.zeros((2, 3, 7)), 'seeds': np.zeros((6, 9))}, r'seeds .*\(2\)'),
    ],
)
def test_a_wrong_request_is_named(given, words):
    given = {'poses': reachable(robot(PANDA), TIP, 2)[0], **given}
    with pytest.raises(ArgumentError, match=words):
        inverse_kinematics(robot(PANDA), TIP, **given)


@pytest.mark.parametrize('name', ['ur5_robot', 'kinova'])
def test_of_whole_turns_the_nearest_to_the_seed_is_the_most_manipulable(name):
    link = dict(ARMS)[name]
    poses, _ = reachable(robot(name), link, 100)
    home = robot(name).neutral_joint_q()
    joint_q = inverse_kinematics(
        robot(name), link, poses, home, preference='manipulability'
    ).joint_q
    lower, upper, _, _ = robot(name).limits64()
    turn = 2.0 * np.pi
    nearer = np.where(joint_q > home, joint_q - turn, joint_q + turn)
    inside = (nearer >= lower) & (nearer <= upper)
    assert not np.any(inside & (np.abs(nearer - home) < np.abs(joint_q - home) - 1e-9))


def test_of_all_turns_the_nearest_to_the_seed_is_the_most_manipulable():
    name, link = 'ur5_robot', dict(ARMS)['ur5_robot']
    poses, seeds = reachable(robot(name), link, 60)
    request = {'order': 'manipulability', 'max_solutions': 1}
    every = all_solutions(robot(name), link, poses, seeds, all_turns=True, **request)
    nearest = all_solutions(robot(name), link, poses, seeds, **request)
    np.testing.assert_allclose(every.joint_q, nearest.joint_q, atol=1e-9)

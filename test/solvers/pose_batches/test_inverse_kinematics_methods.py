# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""inverse_kinematics by search, in closed form, and by automatic choice."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik import all_solutions
from ros_ik import ChainIKSettings
from ros_ik import inverse_kinematics
from ros_ik import solve_path
from ros_ik import SolveStatus
from ros_ik.demo.robots import find_robot
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.model import Model


def reachable(name, link, n=20):
    """Return a model, configurations and their poses of a link."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    model = load(path)
    q = model.random_joint_q(n, np.random.default_rng(0))
    body_q = np.zeros((n, model.body_count, 7))
    eval_fk(model, q, body_q)
    return model, q, body_q[:, model.body_index(link)].copy()


def test_the_closed_form_gives_the_nearest_solutions():
    model, q, poses = reachable('ur5_robot', 'tool0')
    every = all_solutions(model, 'tool0', poses, q)
    for method in ('closed_form', 'auto'):
        one = inverse_kinematics(model, 'tool0', poses, q, method=method)
        assert one.joint_q.shape == q.shape and np.allclose(one.joint_q, q, atol=1e-6)
        assert one.position_error.shape == (20,) and one.position_error.max() < 1e-10
    several = inverse_kinematics(model, 'tool0', poses, q, n_solutions=4, method='closed_form')
    assert np.array_equal(several.joint_q, every.joint_q[:, :4])
    assert np.array_equal(several.n_found, np.minimum(every.n_found, 4))


@pytest.mark.parametrize(('separation', 'n'), [(0.4, 8), (3.0, 2), (3.0, 8)])
def test_solutions_of_the_closed_form_lie_apart(separation, n):
    model, q, poses = reachable('ur5_robot', 'tool0', 200)
    every = all_solutions(model, 'tool0', poses, q)
    settings = ChainIKSettings(separation=separation)
    some = inverse_kinematics(
        model, 'tool0', poses, q, n_solutions=n, settings=settings, method='auto'
    )
    left_out = 0
    for k in range(len(poses)):
        kept = []
        for row in every.joint_q[k, : every.n_found[k]]:
            if all(np.abs(row - other).max() >= separation for other in kept):
                kept.append(row)
        left_out += every.n_found[k] - len(kept)
        kept = kept[:n]
        assert some.n_found[k] == len(kept)
        assert np.array_equal(some.joint_q[k, : len(kept)], kept)
        assert np.all(some.joint_q[k, len(kept) :] == kept[0])
    assert left_out >= 10


def test_what_the_closed_form_leaves_goes_to_the_search():
    model, q, poses = reachable('ur5_robot', 'tool0')
    # The first is out of reach by half of the tolerance, the second by a metre.
    straight = np.zeros((1, 6))
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, straight, body_q)
    poses[:2] = body_q[0, model.body_index('tool0')]
    shoulder = body_q[0, model.body_index('shoulder_link'), :3]
    away = poses[0, :3] - shoulder
    poses[0, :3] += 5e-4 * away / np.linalg.norm(away)
    poses[1, :3] += away / np.linalg.norm(away)
    poses[2, 0] = np.nan
    search = inverse_kinematics(model, 'tool0', poses, q)
    auto = inverse_kinematics(model, 'tool0', poses, q, method='auto')
    exact = inverse_kinematics(model, 'tool0', poses, q, method='closed_form')
    assert np.array_equal(auto.status, search.status)
    assert auto.status[2] == SolveStatus.NON_FINITE_INPUT
    assert auto.status[0] == SolveStatus.CONVERGED and auto.position_error[0] < 1e-3
    assert exact.status[0] == SolveStatus.UNREACHABLE


def test_many_poses_out_of_reach_are_searched_in_their_rows():
    model, _, poses = reachable('ur5_robot', 'tool0', 1500)
    away = np.arange(1500) % 5 != 0
    poses[away, :3] += [3.0, 0.0, 0.0]
    settings = ChainIKSettings(max_attempts=2)
    found = inverse_kinematics(model, 'tool0', poses, settings=settings, method='auto')
    assert np.array_equal(found.status == SolveStatus.CONVERGED, ~away)
    body_q = np.zeros((1500, model.body_count, 7))
    eval_fk(model, found.joint_q, body_q)
    reached = body_q[:, model.body_index('tool0'), :3]
    errors = np.linalg.norm(reached - poses[:, :3], axis=1)
    np.testing.assert_allclose(found.position_error, errors, atol=1e-9)


def test_requests_that_do_not_fit_are_searched_or_refused():
    model, q, poses = reachable('panda', 'panda_hand_tcp')
    auto = inverse_kinematics(model, 'panda_hand_tcp', poses, q, method='auto')
    search = inverse_kinematics(model, 'panda_hand_tcp', poses, q)
    assert np.array_equal(auto.joint_q, search.joint_q)
    ur5, _, poses = reachable('ur5_robot', 'tool0')
    with pytest.raises(ArgumentError, match='tolerance is infinite'):
        inverse_kinematics(ur5, 'tool0', poses, None, np.inf, method='closed_form')
    with pytest.raises(ArgumentError, match='method must be one of'):
        inverse_kinematics(ur5, 'tool0', poses, method='guess')


def test_poses_that_the_closed_form_leaves_are_searched_from_their_own_seeds():
    model, seeds, poses = reachable('ur5_robot', 'tool0', 6)
    poses[3:, 0] += 5.0
    settings = ChainIKSettings(max_attempts=1)
    found = inverse_kinematics(model, 'tool0', poses, seeds, method='auto', settings=settings)
    assert np.all(found.n_found == [1, 1, 1, 0, 0, 0])
    for k in range(3, 6):
        alone = inverse_kinematics(
            model, 'tool0', poses[k], seeds[k], method='auto', settings=settings
        )
        np.testing.assert_array_equal(found.joint_q[k], alone.joint_q[0])


def test_rounded_quaternions_of_locked_joints_are_scaled():
    """As the numbers of poses are; with seven digits no closed form had passed its check."""
    path = find_robot('six_axis').urdf_path
    model = Model.from_urdf(path, device='cpu', floating=True)
    joint_q = model.random_joint_q(1, np.random.default_rng(4))[0]
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], body_q)
    pose, arm = body_q[0, model.body_index('tool0')], [f'joint_{k + 1}' for k in range(6)]
    rounded = joint_q.copy()
    rounded[3:7] *= 1.004
    request = {'joint_group': arm, 'joint_q': rounded}
    for found in (
        inverse_kinematics(model, 'tool0', pose, joint_q, **request),
        inverse_kinematics(model, 'tool0', pose, joint_q, method='closed_form', **request),
        all_solutions(model, 'tool0', pose, joint_q, max_solutions=1, **request),
        solve_path(model, 'tool0', pose[None], rounded, joint_group=arm),
    ):
        answer = found.joint_q.reshape(-1)
        np.testing.assert_allclose(answer, joint_q, atol=2e-2)
        np.testing.assert_allclose(answer[:7], joint_q[:7], atol=1e-15)
    rounded[3:7] *= 1.1
    words = r'coordinates 3 to 6: the norm of the quaternion must be in \[0.99, 1.01\]'
    with pytest.raises(ArgumentError, match=f'joint_q: {words}'):
        inverse_kinematics(model, 'tool0', pose, **request)
    with pytest.raises(ArgumentError, match=f'joint_q: {words}'):
        all_solutions(model, 'tool0', pose, **request)
    with pytest.raises(ArgumentError, match=f'start: {words}'):
        solve_path(model, 'tool0', pose[None], rounded, joint_group=arm)

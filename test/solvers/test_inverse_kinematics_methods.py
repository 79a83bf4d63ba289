# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""inverse_kinematics by search, in closed form, and by whichever fits."""

import numpy as np
import pytest
from support.robots import ALL_URDFS
from support.robots import load

from ros_ik import all_solutions
from ros_ik import inverse_kinematics
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk


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
        several = inverse_kinematics(model, 'tool0', poses, q, n_solutions=4, method=method)
        assert np.array_equal(several.joint_q, every.joint_q[:, :4])
        assert np.array_equal(several.n_found, np.minimum(every.n_found, 4))


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

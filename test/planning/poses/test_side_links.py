# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers of ``~/solve_ik`` keep the limits of mimic joints on side links."""

import numpy as np
import pytest
from support.solvers.followers import Follower
from support.solvers.followers import is_inside
from support.solvers.followers import positions_by_name
from support.solvers.followers import with_followers

from ros_ik.kinematics.link_poses import link_poses
from ros_ik.planning import check_trajectory
from ros_ik.planning import IkRequest
from ros_ik.planning import Planner
from ros_ik.planning import Point
from ros_ik.planning import PoseCode
from ros_ik.planning import solve_ik
from ros_ik.settings import read_settings

ARM = """<robot name="arm"><link name="l0"/><link name="l1"/><link name="l2"/>
<joint name="a" type="revolute"><parent link="l0"/><child link="l1"/><origin xyz="0 0 0.1"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<joint name="b" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0.5 0 0"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint></robot>"""


def make_planner(follower, measured=True):
    text = with_followers(ARM, [follower], 'l0')
    settings = read_settings({'ee.frame': 'l2', 'base_frame': 'l0'})
    planner = Planner(text, '', settings, (), 'cpu')
    if measured:
        joint_q = planner.model.neutral_joint_q()
        planner.measure(joint_q, np.ones(len(joint_q), dtype=bool))
    return planner, text


def poses_at(planner, a, b):
    """Return the poses [n, 7] of the tip with the joint a at each of some positions."""
    rows = np.array([planner.model.neutral_joint_q({'a': x, 'b': b}) for x in a])
    return link_poses(planner.model, rows)[:, planner.model.body_index('l2')]


# q = 0.3 - 2 v inside [-1, 0.5], so that the joint a stays in [-0.1, 0.65].
FOLLOWER = Follower('f', 'a', -2.0, 0.3, -1.0, 0.5)


@pytest.mark.parametrize('n_solutions', [1, 4])
def test_answers_keep_the_limits_of_a_side_link(n_solutions):
    planner, text = make_planner(FOLLOWER)
    a = np.linspace(-2.5, 2.5, 41)
    answer = solve_ik(planner, IkRequest(poses_at(planner, a, 0.4), max_solutions=n_solutions))
    rows = planner.configurations(planner.coordinates(answer.joint_names), answer.positions)
    at = positions_by_name(planner.model, rows)
    assert is_inside(text, at, 1e-6).all()
    reachable = (a > -0.07) & (a < 0.62)
    assert np.all(answer.codes[reachable] == PoseCode.CONVERGED)
    assert not np.any(answer.codes[(a < -0.13) | (a > 0.68)] == PoseCode.CONVERGED)


def test_a_motion_to_an_answer_is_safe():
    planner, _ = make_planner(FOLLOWER)
    answer = solve_ik(planner, IkRequest(poses_at(planner, [0.6], 0.4)))
    points = [Point(0.0, [0.0, 0.0]), Point(5.0, answer.positions[0].tolist())]
    assert answer.codes[0] == PoseCode.CONVERGED
    assert check_trajectory(planner, answer.joint_names, points).safe


def test_joints_that_were_not_measured_start_in_the_middle_of_what_is_left():
    planner, _ = make_planner(FOLLOWER, measured=False)
    answer = solve_ik(planner, IkRequest(poses_at(planner, [0.5], 0.4)))
    assert answer.codes[0] == PoseCode.CONVERGED


@pytest.mark.parametrize(
    ('factor', 'ends'), [(1.0, (3.09, 5.0)), (-0.7, (-1.993, -4.0)), (0.0, (0.0, 1.0))]
)
def test_a_margin_wider_than_what_is_left_keeps_the_limits(factor, ends):
    # The limits leave 0.01 rad, and the margin is 0.02 rad.
    planner, text = make_planner(Follower('f', 'a', factor, 0.1, *sorted(ends)))
    answer = solve_ik(planner, IkRequest(poses_at(planner, [2.995, 0.5], 0.4)))
    rows = planner.configurations(planner.coordinates(answer.joint_names), answer.positions)
    assert is_inside(text, positions_by_name(planner.model, rows), 1e-6).all()
    # Without a factor its limits have no effect.
    expected = [PoseCode.CONVERGED, PoseCode.UNREACHABLE]
    np.testing.assert_array_equal(answer.codes, expected if factor else expected[::-1])

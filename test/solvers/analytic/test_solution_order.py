# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solutions by their manipulability, judged by Pinocchio's Jacobians."""

import numpy as np
import pytest
from support.robots.chain_judge import ChainJudge
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik import all_solutions
from ros_ik import Model
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.solvers.analytic.manipulability import manipulability as chain_manipulability
from ros_ik.solvers.analytic.structure.completion import tool_jacobians
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.analytic.structure.form import free_axes
from ros_ik.solvers.analytic.structure.structure import joint_axes

ARMS = {
    'ur5_robot': ('tool0', None, ''),
    'panda': ('panda_hand_tcp', None, ''),
    'pr2': ('r_wrist_flex_link', [
        'torso_lift_joint', 'r_shoulder_pan_joint', 'r_shoulder_lift_joint',
        'r_upper_arm_roll_joint', 'r_elbow_flex_joint', 'r_forearm_roll_joint',
    ], ''),
    'z1': ('gripperStator', ['joint1', 'joint2', 'joint3'], 'xyz'),
}  # fmt: skip


def manipulability(judge, q):
    """Return Yoshikawa's measure of configurations of the chain, those of the free part only."""
    rows = slice(3) if judge.free == 'xyz' else slice(6)
    jacobians = [judge.jacobian(row)[rows] for row in q]
    return np.array([np.sqrt(np.linalg.det(J @ J.T)) for J in jacobians])


@pytest.mark.parametrize('name', ARMS)
def test_the_most_manipulable_come_first(name):
    judge = ChainJudge(urdf_text(name), *ARMS[name])
    poses = judge.poses(judge.random(4))
    options = {'joint_group': judge.joints, 'free_rotation': judge.free, 'redundant_values': 16}
    every = all_solutions(judge.model, judge.link, poses, max_solutions=300, **options)
    best = all_solutions(
        judge.model, judge.link, poses, max_solutions=3, order='manipulability', **options
    )
    assert np.all(best.status == SolveStatus.CONVERGED)
    np.testing.assert_array_equal(best.n_exist, every.n_exist)
    for k in range(len(poses)):
        known = np.sort(manipulability(judge, judge.own(every.joint_q[k, : every.n_found[k]])))
        count = best.n_found[k]
        assert count == min(3, len(known))
        ours = manipulability(judge, judge.own(best.joint_q[k, :count]))
        np.testing.assert_allclose(ours, known[::-1][:count], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize('name', ['panda', 'z1', 'tiago'])
@pytest.mark.parametrize('free', ['', 'z', 'xyz'])
def test_manipulability_is_the_product_of_singular_values(name, free):
    link, group = {'panda': ('panda_hand_tcp', None), 'tiago': ('arm_tool_link', None),
                   'z1': ('gripperStator', ['joint1', 'joint2', 'joint3'])}[name]  # fmt: skip
    model = Model.from_urdf(urdf_text(name), device='cpu')
    chain, _ = folded_chain(model, link, group, None, None)
    joint_q = model.random_joint_q(200, 0)
    axes = joint_axes(chain)
    q = joint_q[:, chain.coordinates] / np.where(chain.slides, axes.reach, 1.0)
    values = np.linalg.svd(tool_jacobians(axes, q, free_axes(free)), compute_uv=False)
    expected = np.prod(values[:, : 6 - len(free)], axis=1)
    assert np.max(expected) > 0.01
    # Relative to the largest; rounding of some hundred operations.
    found = chain_manipulability(chain, joint_q, free)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


COUPLED = """<robot name="coupled"><link name="base"/><link name="a"/><link name="b"/>
<link name="c"/><link name="d"/><link name="tip"/>
<joint name="first" type="revolute"><parent link="base"/><child link="a"/>
<origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
<joint name="second" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="0.2 0 0.1"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
<joint name="third" type="revolute"><parent link="b"/><child link="c"/>
<origin xyz="0 0.1 0.4"/><axis xyz="0.6 0 0.8"/>
<limit lower="-3" upper="3" velocity="1" effort="1"/>
<mimic joint="second" multiplier="-0.7" offset="0.2"/></joint>
<joint name="slide" type="prismatic"><parent link="c"/><child link="d"/>
<origin xyz="0.3 0 0"/><axis xyz="1 0 0"/>
<limit lower="0" upper="0.5" velocity="1" effort="1"/></joint>
<joint name="last" type="prismatic"><parent link="d"/><child link="tip"/>
<origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>
<limit lower="0" upper="1" velocity="1" effort="1"/>
<mimic joint="slide" multiplier="2" offset="0.1"/></joint></robot>"""


def test_manipulability_of_mimic_joints_is_that_of_their_drivers():
    model = Model.from_urdf(COUPLED, device='cpu')
    chain, _ = folded_chain(model, 'tip', None, None, None)
    reach, oracle = joint_axes(chain).reach, PinocchioRobot(COUPLED, model)
    joint_q = model.apply_mimic(model.random_joint_q(20, 0))
    expected = []
    for q in joint_q:
        columns = oracle.jacobian(q, 'tip')
        turn, bend, follower, slide, last = columns.T
        jacobian = np.array([turn, bend - 0.7 * follower, reach * (slide + 2.0 * last)]).T
        jacobian[:3] /= reach
        expected.append(np.prod(np.linalg.svd(jacobian, compute_uv=False)))
    np.testing.assert_allclose(chain_manipulability(chain, joint_q), expected, rtol=1e-9)


def test_the_nearest_come_first_unless_something_else_is_wanted():
    judge = ChainJudge(urdf_text('ur5_robot'), 'tool0', None, '')
    poses = judge.poses(judge.random(4))
    judge.assert_true(all_solutions(judge.model, 'tool0', poses, order='distance'), poses)
    with pytest.raises(ArgumentError, match="order must be 'distance' or 'manipulability'"):
        all_solutions(judge.model, 'tool0', poses, order='speed')

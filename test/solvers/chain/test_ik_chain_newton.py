# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Chains of a finalized newton.Model; the oracle is the same robot as a model of ours."""

import re
import warnings

import numpy as np
import pytest
from support.robots.robots import urdf_text
from support.solvers.ik_problems import bare_model
from support.solvers.ik_problems import newton
from support.solvers.ik_problems import newton_model
from support.solvers.ik_problems import newton_poses
from support.solvers.ik_problems import random_newton_q
from support.solvers.ik_problems import solve

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.newton.named_model import named_model
from ros_ik.model import Model
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DlsSolver
from ros_ik.solvers import IkChain
from ros_ik.solvers.batch_ik.solver import IKSolver
from ros_ik.solvers.status import SolveStatus

pytestmark = pytest.mark.oracle

_FINGER = """
<robot name="finger">
  <link name="palm"/>
  {links}
  <joint name="a" type="revolute"><parent link="palm"/><child link="l1"/><axis xyz="0 0 1"/>
    <origin xyz="0.1 0 0"/><limit lower="-1" upper="1.5" velocity="1" effort="1"/></joint>
  <joint name="b" type="revolute"><parent link="l1"/><child link="l2"/><axis xyz="0 1 0"/>
    <origin xyz="0.3 0 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="c" type="revolute"><parent link="l2"/><child link="l3"/><axis xyz="0 1 0"/>
    <origin xyz="0.2 0 0"/><mimic joint="b" multiplier="0.7" offset="0.1"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="d" type="prismatic"><parent link="l3"/><child link="l4"/><axis xyz="1 0 0"/>
    <origin xyz="0.1 0 0"/><limit lower="0" upper="0.2" velocity="1" effort="1"/></joint>
</robot>""".format(
    links=''.join(
        f'<link name="l{k}"><inertial><mass value="1"/><origin xyz="0.05 0.02 0.01"/>'
        '<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial></link>'
        for k in range(1, 5)
    )
)


def both(text):
    """Return the model of a description, and Newton's of the same joints in the same order."""
    text = re.sub(r'<\?xml.*?\?>', '', re.sub(r'(?s)<(visual|collision)\b.*?</\1>', '', text))
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        builder.add_urdf(text)
        theirs = builder.finalize('cpu', skip_validation_inertia=True)
    return Model.from_urdf(text, device='cpu'), theirs


@pytest.mark.parametrize(('text', 'link'), [('panda', 'panda_hand'), (_FINGER, 'l4')])
def test_a_chain_of_a_newton_model_is_that_of_ours(text, link):
    ours, theirs = both(urdf_text(text) if text == 'panda' else text)
    chain, reference = IkChain(theirs, link), IkChain(ours, link)
    assert chain.num_dof_pos == reference.num_dof_pos
    q = ours.random_joint_q(5, np.random.default_rng(0))
    for function, atol in (
        # Newton keeps its description in float32.
        ('get_end_effector_pose', 1e-6), ('get_end_effector_jac', 1e-6), ('joint_q', 1e-7),
        ('get_inertia_matrix', 1e-5), ('get_bias_force', 1e-4), ('get_dof_pos', 1e-7),
    ):  # fmt: skip
        mine, expected = (getattr(each, function)(q) for each in (chain, reference))
        np.testing.assert_allclose(mine, expected, atol=atol, err_msg=function)
    np.testing.assert_allclose(chain.path.lower, reference.path.lower, atol=1e-6)
    np.testing.assert_allclose(chain.path.upper, reference.path.upper, atol=1e-6)
    targets = reference.get_end_effector_pose(q)
    solver = DlsSolver(tolerance=1e-5)
    rows = solver.solve(chain, q + 0.05, targets)
    assert np.all(solver.status == SolveStatus.CONVERGED)
    np.testing.assert_allclose(rows, DlsSolver(tolerance=1e-5).solve(reference, q + 0.05, targets),
                               atol=1e-4)  # fmt: skip


def test_links_are_named_by_index_label_or_its_last_part():
    ours, theirs = both(urdf_text('panda'))
    index = theirs.body_label.index('panda/panda_hand')
    q = ours.random_joint_q(1, np.random.default_rng(1))
    pose = IkChain(ours, 'panda_hand').get_end_effector_pose(q)
    for model, names in (
        (theirs, ('panda/panda_hand', 'panda_hand', index, np.int32(index))),
        (ours, ('panda_hand', ours.body_index('panda_hand'))),
        (bare_with_gravity(theirs), (index, f'body_{index}')),
    ):
        for name in names:
            chain = IkChain(model, name)
            np.testing.assert_allclose(chain.get_end_effector_pose(q), pose, atol=1e-6)
    assert IkChain(theirs, 'panda_hand', 'panda_link3').num_dof_pos == 5
    assert IkChain(theirs, index, theirs.body_label.index('panda/panda_link3')).num_dof_pos == 5
    assert IkChain(theirs, index).get_link(0).name == 'panda/panda_link0'


def bare_with_gravity(model):
    """Return a namespace with the joint arrays of a model and no labels."""
    bare = bare_model(model)
    bare.gravity = model.gravity
    return bare


def test_links_that_are_not_there_are_named():
    ours, theirs = both(urdf_text('panda'))
    for link, message in (
        ('panda_hnd', "end_link: the model has no link 'panda_hnd'; closest: panda"),
        (99, r'end_link must lie in \[0, 13\), got 99'), (-1, 'end_link must lie in'),
        (3.5, 'end_link must be the integer index of a body, got 3.5'), (None, 'end_link'),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=message):
            IkChain(theirs, link)
        with pytest.raises(ArgumentError, match='end_link'):
            IkChain(ours, link)
    two = newton.ModelBuilder()
    for prefix in ('left', 'right'):
        body = two.add_link(mass=1.0, label=f'{prefix}/hand')
        two.add_articulation([two.add_joint_revolute(-1, body)])
    with pytest.raises(ArgumentError, match="several links are called 'hand': 'left/hand', 'ri"):
        IkChain(two.finalize('cpu', skip_validation_inertia=True), 'hand')
    for model in (None, 'panda.urdf'):
        with pytest.raises(ArgumentError, match='model must be a Model'):
            IkChain(model, 'panda_hand')


def test_a_loop_of_newton_does_not_break_its_chain():
    builder = newton.ModelBuilder()
    links = [builder.add_link(mass=1.0, label=f'l{k}') for k in range(3)]
    arm = [
        builder.add_joint_revolute(
            parent, child, axis=(0.0, 1.0, 0.0), parent_xform=wp_offset(0.4)
        )
        for parent, child in zip([-1, *links[:2]], links, strict=True)
    ]
    builder.add_articulation(arm)
    builder.add_joint_revolute(-1, links[2], axis=(0.0, 1.0, 0.0))
    model = builder.finalize('cpu', skip_validation_joints=True, skip_validation_inertia=True)
    chain = IkChain(model, 'l2')
    assert chain.num_dof_pos == 3
    pose = chain.get_end_effector_pose(np.zeros(model.joint_coord_count))
    np.testing.assert_allclose(pose[:3], [0.0, 0.0, 1.2], atol=1e-6)


def wp_offset(z):
    """Return a pose along z."""
    return (0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0)


def test_the_batch_solver_honours_mimic_joints_of_newtons_importer():
    """They are kept beside the joints and not as constraints."""
    ours, theirs = both(_FINGER)
    assert named_model(theirs).mimic_driver.keys() == ours.mimic_driver.keys()
    link = theirs.body_label.index('finger/l4')
    q = ours.random_joint_q(8, np.random.default_rng(3)).astype(np.float32)
    targets = newton_poses(theirs, q, link)[:, :3]
    objective = IKObjectivePosition(link, np.zeros(3), targets)
    solver = IKSolver(theirs, 8, [objective], jacobian_mode='analytic')
    found = solve(solver, np.clip(q + 0.1, -1.0, 0.9), iterations=40)
    b, c = (int(theirs.joint_q_start.numpy()[k]) for k in (2, 3))
    np.testing.assert_allclose(found[:, c], 0.1 + 0.7 * found[:, b], atol=1e-6)
    assert np.mean(solver.status.numpy() == SolveStatus.CONVERGED) > 0.8


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_chains_of_models_built_with_newton(kind):
    model = newton_model(kind)
    q = random_newton_q(model, 4, np.random.default_rng(2))
    pose = IkChain(model, 3).get_end_effector_pose(q)
    expected = newton_poses(model, q, 3)
    np.testing.assert_allclose(pose[:, :3], expected[:, :3], atol=2e-6)

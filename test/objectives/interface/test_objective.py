# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The base class: a user-defined objective, and the contracts of its methods."""

import numpy as np
from objectives import rig
import pytest
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKJacobianType
from ros_ik.objectives import IKObjective
from ros_ik.objectives import IKObjectiveJointLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePosition
from ros_ik.objectives.interface.ownership import Layout


@wp.kernel
def _height_and_reach(
    body_q: wp.array2d(dtype=wp.transform),
    link: int,
    start: int,
    residuals: wp.array2d(dtype=wp.float32),
):
    row = wp.tid()
    p = wp.transform_get_translation(body_q[row, link])
    residuals[row, start] = wp.sin(p[2])
    residuals[row, start + 1] = wp.length_sq(p)


class HeightAndReach(IKObjective):
    """The least that a user has to write."""

    def __init__(self, link):
        super().__init__()
        self.link = link

    def residual_dim(self):
        return 2

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            _height_and_reach,
            dim=body_q.shape[0],
            inputs=[body_q, self.link, start_idx],
            outputs=[residuals],
            device=self.device,
        )


@pytest.mark.parametrize('name', ['panda', 'talos floating'])
def test_an_objective_of_two_methods_has_a_jacobian(name):
    rng = np.random.default_rng(1)
    model, (link, _) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(3, rng)
    objective = HeightAndReach(link)
    assert not objective.supports_analytic()
    got = rig.autodiff(objective, model, joint_q)
    position = IKObjectivePosition(link, np.zeros(3), np.zeros(3))
    p = -rig.residuals(position, model, joint_q)
    dp = -rig.analytic(position, model, joint_q)
    height = np.cos(p[:, 2])[:, None] * dp[:, 2]
    reach = 2 * np.einsum('na,nad->nd', p, dp)
    # float32: 6e-8 relative, over a chain of ten joints and squares of a few metres.
    np.testing.assert_allclose(got, np.stack([height, reach], axis=1), atol=5e-5)


def test_one_pass_for_all_rows_equals_one_pass_for_each():
    model = rig.robot('talos floating')
    joint_q = model.random_joint_q(3, np.random.default_rng(2))
    dofs = model.joint_dof_count
    for made in (
        lambda: IKObjectiveJointPosition(model, model.neutral_joint_q(), weight=2.0),
        lambda: IKObjectiveJointLimit(np.full(dofs, -0.1), np.full(dofs, 0.1)),
    ):
        quick, plain = made(), made()
        plain.compute_jacobian_autodiff = lambda *args, o=plain: (
            IKObjective.compute_jacobian_autodiff(o, *args)
        )
        np.testing.assert_array_equal(
            rig.autodiff(quick, model, joint_q), rig.autodiff(plain, model, joint_q)
        )


def test_an_objective_belongs_to_one_solver_as_long_as_that_lives():
    objective, one, two = HeightAndReach(0), rig.Owner(), rig.Owner()
    assert objective.claim(one)
    assert not objective.claim(one)
    with pytest.raises(ArgumentError, match='HeightAndReach already belongs'):
        objective.claim(two)
    one.itself = one  # a cycle: only the collector finds that it is gone
    del one
    assert objective.claim(two)


def test_solvers_that_set_up_again_pass_an_objective_on():
    model = object()
    objective, owners = HeightAndReach(0), [rig.Owner() for _ in range(3)]
    layouts = [Layout(model, 'cpu', (2, 0, n), renews=True) for n in (4, 8, 8)]
    assert objective.claim(owners[0], layouts[0])
    assert objective.claim(owners[1], layouts[1])
    assert not objective.claim(owners[2], layouts[2])
    assert [layout.is_current for layout in layouts] == [False, True, True]
    again = Layout(model, 'cpu', (2, 0, 4), renews=True)
    assert objective.claim(owners[0], again)
    assert [layout.is_current for layout in layouts] == [False, False, False]
    # Another device is refused: the targets would be copied, and change for one of them only.
    with pytest.raises(ArgumentError, match='device'):
        objective.claim(owners[1], Layout(model, 'cuda:0', (2, 0, 8), renews=True))
    assert again.is_current


def test_the_base_class_says_what_is_missing():
    objective = IKObjective()
    with pytest.raises(NotImplementedError):
        objective.residual_dim()
    with pytest.raises(NotImplementedError):
        objective.compute_residuals(None, None, None, None, 0)
    with pytest.raises(NotImplementedError):
        objective.compute_jacobian_analytic(None, None, None, None, None, 0)
    assert HeightAndReach(0).residual_blocks() == (2,)


def test_set_up_has_no_order():
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    objective = IKObjectivePosition(link, np.zeros(3), np.zeros(3))
    objective.bind_device('cpu')
    objective.init_buffers(model)
    objective.set_batch_layout(7, 2, 3)
    assert (objective.total_residuals, objective.residual_offset, objective.n_batch) == (7, 2, 3)
    assert objective.device == wp.get_device('cpu')


def test_jacobian_types_are_their_values():
    assert IKJacobianType.MIXED == 'mixed'
    assert IKJacobianType('analytic') is IKJacobianType.ANALYTIC
    assert IKJacobianType.AUTODIFF != IKJacobianType.ANALYTIC
    assert {IKJacobianType.MIXED: 1}['mixed'] == 1

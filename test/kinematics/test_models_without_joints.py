# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Models without joints: links that stand still, or none."""

import numpy as np
import pytest

from ros_ik import CollisionChecker
from ros_ik import eval_bias_force
from ros_ik import eval_com
from ros_ik import eval_fk
from ros_ik import eval_jacobian
from ros_ik import eval_mass_matrix
from ros_ik import ModelBuilder

LINK = '<robot name="r"><link name="a"/></robot>'
POSE = [1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 0.0]


def loose_link(builder):
    builder.add_link('a', xform=POSE, com=(0.0, 0.0, 1.0), mass=2.0)


BUILDERS = {
    'collapsed': (lambda builder: builder.add_urdf(text=LINK, collapse_fixed_joints=True), 0),
    'loose link': (loose_link, 1),
    'empty': (lambda builder: None, 0),
}


@pytest.mark.parametrize('scalar', [np.float32, np.float64])
@pytest.mark.parametrize('name', BUILDERS)
def test_evaluation_without_joints(name, scalar):
    fill, count = BUILDERS[name]
    builder = ModelBuilder()
    fill(builder)
    model = builder.finalize(device='cpu')
    assert (model.joint_count, model.body_count) == (0, count)
    assert model.joint_dof_dim.shape == (0, 2)
    rows = np.zeros((3, 0), scalar)
    body_q = np.full((3, count, 7), np.nan, scalar)
    eval_fk(model, rows, body_q)
    np.testing.assert_array_equal(body_q, np.broadcast_to(POSE, (3, count, 7)))
    eval_mass_matrix(model, rows, np.zeros((3, 0, 0), scalar))
    eval_bias_force(model, rows, rows, np.zeros((3, 0), scalar))
    CollisionChecker(model, 3)
    if count:
        eval_jacobian(model, rows, 0, np.zeros((3, 6, 0), scalar))
        com = np.zeros((3, 3), scalar)
        eval_com(model, rows, com)
        np.testing.assert_allclose(com, np.broadcast_to([1.0, 2.0, 4.0], (3, 3)))

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that write into arrays of the caller take every ordinary type of Warp and NumPy."""

import numpy as np
import pytest
from support.solvers.ik_problems import panda
import warp as wp

from ros_ik import eval_bias_force
from ros_ik import eval_com
from ros_ik import eval_fk
from ros_ik import eval_jacobian
from ros_ik import eval_mass_matrix
from ros_ik.errors import ArgumentError

N = 3
SCALARS = {np.float32: wp.float32, np.float64: wp.float64}
# Types of one element, None for plain numbers, and their components.
VECTORS = {
    'transform': {
        np.float32: (wp.transform, wp.transformf, wp.types.transformation(wp.float32)),
        np.float64: (wp.transformd, wp.types.transformation(wp.float64)),
    },
    'vec3': {
        np.float32: (wp.vec3, wp.vec3f, wp.types.vector(3, wp.float32)),
        np.float64: (wp.vec3d, wp.types.vector(3, wp.float64)),
    },
}


@pytest.fixture(scope='module')
def model():
    return panda()


def functions(model):
    """Return the function to call, the shape of its output, its type and its width."""
    dofs = model.joint_dof_count
    still = np.zeros((N, dofs))

    def bias(model, q, force):
        given = q.numpy() if isinstance(q, wp.array) else q
        velocity = still.astype(given.dtype)
        if isinstance(q, wp.array):
            velocity = wp.array(velocity, dtype=q.dtype, device='cpu')
        eval_bias_force(model, q, velocity, force)

    return {
        'eval_fk': (eval_fk, (N, model.body_count), 'transform', 7),
        'eval_com': (eval_com, (N,), 'vec3', 3),
        'eval_jacobian': (
            lambda m, q, out: eval_jacobian(m, q, m.body_count - 1, out), (N, 6, dofs), None, 1
        ),
        'eval_com jacobian': (
            lambda m, q, out: eval_com(m, q, jacobian=out), (N, 3, dofs), None, 1
        ),
        'eval_mass_matrix': (eval_mass_matrix, (N, dofs, dofs), None, 1),
        'eval_bias_force': (bias, (N, dofs), None, 1),
    }  # fmt: skip


NAMES = (
    'eval_fk', 'eval_com', 'eval_jacobian', 'eval_com jacobian', 'eval_mass_matrix',
    'eval_bias_force',
)  # fmt: skip


@pytest.mark.parametrize('scalar', SCALARS, ids=['float32', 'float64'])
@pytest.mark.parametrize('name', NAMES)
def test_every_type_gives_the_same_numbers(model, name, scalar):
    function, shape, kind, width = functions(model)[name]
    q = model.random_joint_q(N, 0)
    whole = shape if kind is None else (*shape, width)
    expected = np.zeros(whole)
    function(model, q, expected)  # NumPy, float64
    assert np.any(expected)
    close = {'rtol': 0.0, 'atol': 1e-4 if scalar is np.float32 else 1e-12}
    coordinates = q.astype(scalar), wp.array(q, dtype=SCALARS[scalar], device='cpu')
    outputs = [np.zeros(whole, dtype=scalar)]
    outputs.append(wp.zeros(whole, dtype=SCALARS[scalar], device='cpu'))
    for vector in VECTORS.get(kind, {}).get(scalar, ()):
        outputs.append(wp.zeros(shape, dtype=vector, device='cpu'))
        outputs.append(wp.zeros((2 * N, *shape[1:]), dtype=vector, device='cpu')[::2])
    for given in coordinates:
        for out in outputs:
            function(model, given, out)
            found = out.numpy() if isinstance(out, wp.array) else out
            np.testing.assert_allclose(found.reshape(whole), expected, **close)


def test_other_types_are_refused(model):
    q = model.random_joint_q(N, 0)
    for wrong in (
        wp.zeros((N, model.body_count), dtype=wp.transform, device='cpu'),  # float32
        wp.zeros((N, model.body_count - 1), dtype=wp.transformd, device='cpu'),
        wp.zeros((N, model.body_count), dtype=wp.vec3d, device='cpu'),
        wp.zeros((N, model.body_count, 8), dtype=wp.float64, device='cpu'),
        wp.zeros((N, model.body_count, 7), dtype=wp.float32, device='cpu'),
        wp.zeros((N, model.body_count, 14), dtype=wp.float32, device='cpu')[:, :, ::2],
        wp.zeros((N, model.body_count, 12), dtype=wp.float64, device='cpu')[:, :, ::2],
    ):
        with pytest.raises(ArgumentError, match=r'body_q must .* 7\] of float64 or ') as caught:
            eval_fk(model, q, wrong)
        assert 'wp.transformd, got' in str(caught.value) and '_t' not in str(caught.value)


def test_a_capture_repeats_views_of_arrays_and_refuses_copies(model):
    """It repeats nothing that the host does."""
    expected = np.zeros((N, model.body_count, 7))
    joint_q = np.random.default_rng(5).uniform(-1.0, 1.0, (N, model.joint_coord_count))
    eval_fk(model, joint_q, expected)
    q, body_q = np.zeros_like(joint_q), np.zeros_like(expected)
    with_gaps = np.zeros((N, model.body_count, 14))[:, :, ::2]
    there = wp.array(joint_q, device=model.device)
    with wp.ScopedCapture(device=model.device) as capture:
        if there.device.is_cpu:
            eval_fk(model, q, body_q)
        with pytest.raises(ArgumentError, match='^body_q would be copied between host and'):
            eval_fk(model, there, with_gaps)
    if there.device.is_cpu:
        q[:] = joint_q
        wp.capture_launch(capture.graph)
        np.testing.assert_array_equal(body_q, expected)

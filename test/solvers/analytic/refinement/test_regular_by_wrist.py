# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The bound on the least singular value by three joints, against singular values of NumPy."""

import numpy as np
import pytest
import warp as wp

from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.polish import refinement_struct
from ros_ik.solvers.analytic.refinement.regular_by_wrist import regular_by_wrist_function

N, LENGTH, SINGULAR = 4000, 0.3, 1e-5


def judged(wrist, axes, pivots, p):
    """Return which configurations the function calls regular, [n]."""
    functions, is_regular = polish_functions(6, False, False), regular_by_wrist_function(wrist)
    matn3 = functions.matn3

    @wp.kernel(module='unique', enable_backward=False)
    def judge(
        chain: functions.Chain,
        refinement: functions.Refinement,
        axes: wp.array(dtype=matn3),
        pivots: wp.array(dtype=matn3),
        p: wp.array(dtype=wp.vec3d),
        result: wp.array(dtype=wp.int32),
    ):
        k = wp.tid()
        regular = is_regular(chain, refinement, axes[k], pivots[k], p[k])
        result[k] = wp.where(regular, 1, 0)

    refinement = refinement_struct()()
    refinement.length, refinement.singular_value = LENGTH, SINGULAR
    result = wp.zeros(len(axes), dtype=wp.int32, device='cpu')
    values = [
        wp.array(axes, dtype=matn3, device='cpu'), wp.array(pivots, dtype=matn3, device='cpu'),
        wp.array(p, dtype=wp.vec3d, device='cpu'),
    ]  # fmt: skip
    wp.launch(
        judge, dim=len(axes), inputs=[functions.Chain(), refinement, *values], outputs=[result],
        device='cpu',
    )  # fmt: skip
    return result.numpy() > 0


def singular_values(axes, pivots, p):
    """Return the singular values of J with rotations in units of LENGTH, [n, 6]."""
    linear = np.cross(axes, p[:, None] - pivots)
    return np.linalg.svd(np.concatenate([linear, LENGTH * axes], axis=2), compute_uv=False)


def near_singular(wrist, rng):
    """Return axes, pivots and tool with a first other joint nearly that of the wrist."""
    axes = rng.normal(size=(N, 6, 3))
    axes /= np.linalg.norm(axes, axis=2, keepdims=True)
    pivots, p = rng.uniform(-0.5, 0.5, (N, 6, 3)), rng.uniform(-1.0, 1.0, (N, 3))
    other = next(joint for joint in range(6) if joint not in wrist)
    apart = 10.0 ** rng.uniform(-9.0, 0.0, (N, 1))
    axes[:, other] = axes[:, wrist[1]] + apart * axes[:, other]
    axes[:, other] /= np.linalg.norm(axes[:, other], axis=1, keepdims=True)
    pivots[:, other] = pivots[:, wrist[1]] + apart * pivots[:, other]
    return axes, pivots, p


@pytest.mark.parametrize('wrist', [(3, 4, 5), (0, 1, 2), (0, 3, 5)])
def test_the_result_is_that_of_singular_values(wrist):
    axes, pivots, p = near_singular(wrist, np.random.default_rng(0))
    regular = judged(wrist, axes, pivots, p)
    values = singular_values(axes, pivots, p)
    squares = values**2
    bound = np.prod(squares, axis=1) * (5.0 / np.sum(squares, axis=1)) ** 5
    wanted = bound > (10.0 * SINGULAR * LENGTH) ** 2
    in_plane = np.linalg.det(axes[:, wrist]) ** 2 <= 1e-6
    assert 100 < wanted.sum() < N - 100 and in_plane.sum() < N // 100
    np.testing.assert_array_equal(regular[~in_plane], wanted[~in_plane])
    assert not regular[in_plane].any()
    assert values[regular, -1].min() > 10.0 * SINGULAR * LENGTH


def test_a_wrist_in_a_plane_is_not_regular():
    axes, pivots, p = near_singular((3, 4, 5), np.random.default_rng(1))
    axes[:, 5] = axes[:, 3]
    assert not judged((3, 4, 5), axes, pivots, p).any()

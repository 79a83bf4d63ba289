# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Jacobians by automatic differentiation: backward passes of a tape, from residuals to the step.

The tape records step -> q (+) step -> link poses -> residuals, at step 0. The problems of a batch
are independent. A backward pass that is seeded with 1 in row i of every problem therefore gives
row i of dr/dstep of every problem, as the gradient of the step.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch


@no_type_check
@functools.cache
def _row_kernels(scalar: type) -> SimpleNamespace:
    @compiled_kernel()
    def seed_rows(
        total: int,
        first: int,
        last: int,
        seed: wp.array(dtype=scalar),  # [n_batch * total]
    ):
        k = wp.tid()
        row = k % total
        value = scalar(0.0)
        if row >= first and row < last:
            value = scalar(1.0)
        seed[k] = value

    @compiled_kernel()
    def copy_row(
        gradient: wp.array2d(dtype=scalar),  # [n_batch, joint_dof_count]
        row: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        problem, dof = wp.tid()
        jacobian[problem, row, dof] = gradient[problem, dof]

    @compiled_kernel()
    def copy_diagonal(
        gradient: wp.array2d(dtype=scalar),  # [n_batch, joint_dof_count]
        first: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        problem, dof = wp.tid()
        jacobian[problem, first + dof, dof] = gradient[problem, dof]

    return SimpleNamespace(seed_rows=seed_rows, copy_row=copy_row, copy_diagonal=copy_diagonal)


class TapeReader:
    """Writer of Jacobian rows from a tape; it keeps one seed array per batch size."""

    def __init__(self) -> None:
        """Start without an array, as objectives with an analytic Jacobian need none."""
        # Graphs of several solvers may refer to an array, so none is ever replaced.
        self._seeds: dict[tuple, wp.array] = {}

    def rows(
        self, tape: wp.Tape, jacobian: wp.array, start: int, count: int, dq_dof: wp.array
    ) -> None:
        """Fill ``jacobian[:, start:start + count]`` with one backward pass per row.

        Args:
            tape: The tape; ``tape.outputs[0]`` are the residuals, [n_batch, total_residuals] or
                flat.
            jacobian: Output, shape [n_batch, total_residuals, joint_dof_count].
            start: First row.
            count: Number of rows.
            dq_dof: The step at the start of the tape, shape [n_batch, joint_dof_count].
        """
        kernels = _row_kernels(jacobian.dtype)
        for row in range(start, start + count):
            gradient = self._backward(tape, jacobian, row, row + 1, dq_dof)
            self._launch(kernels.copy_row, jacobian, gradient, row)
            tape.zero()

    def diagonal(self, tape: wp.Tape, jacobian: wp.array, start: int, dq_dof: wp.array) -> None:
        """Fill ``jacobian[:, start + dof, dof]`` for every dof with one backward pass.

        Each residual must depend on its own degree of freedom only. Arguments are as in
        :meth:`rows`.
        """
        last = start + jacobian.shape[2]
        gradient = self._backward(tape, jacobian, start, last, dq_dof)
        self._launch(_row_kernels(jacobian.dtype).copy_diagonal, jacobian, gradient, start)
        tape.zero()

    def _backward(
        self, tape: wp.Tape, jacobian: wp.array, first: int, last: int, dq_dof: wp.array
    ) -> wp.array:
        """Return the gradient of the sum of some rows with respect to the step."""
        total = jacobian.shape[1]
        size = jacobian.shape[0] * total
        key = size, jacobian.dtype, str(jacobian.device)
        if key not in self._seeds:
            self._seeds[key] = wp.zeros(size, dtype=jacobian.dtype, device=jacobian.device)
        seed = self._seeds[key]
        launch(
            _row_kernels(jacobian.dtype).seed_rows,
            dim=size,
            inputs=[total, first, last],
            outputs=[seed],
            device=jacobian.device,
        )
        residuals = tape.outputs[0]  # type: ignore[attr-defined]  # solvers set it
        tape.backward(grads={residuals: seed.reshape(residuals.shape)})
        return tape.gradients[dq_dof]

    @staticmethod
    def _launch(kernel: wp.Kernel, jacobian: wp.array, gradient: wp.array, row: int) -> None:
        launch(
            kernel,
            dim=(jacobian.shape[0], jacobian.shape[2]),
            inputs=[gradient, row],
            outputs=[jacobian],
            device=jacobian.device,
        )

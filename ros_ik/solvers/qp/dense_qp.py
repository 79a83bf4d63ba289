# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batch of small dense quadratic programs with hard bounds and rows that may be relaxed.

    minimise 1/2 x' H x + c' x   subject to   lower <= x <= upper,   A x <= b

:mod:`ros_ik.solvers.qp.dense_qp_kernel` describes the relaxation.
"""

import warp as wp

from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import MAX_ITERATIONS
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.qp.dense_qp_kernel import qp_kernel
from ros_ik.solvers.qp.workspace import make_workspace


class DenseQP:
    """Batch of strictly convex quadratic programs of one size, solved by one kernel launch.

    Fill the input arrays, call :meth:`launch`, and read the output arrays. The launch allocates
    nothing and can be captured in a graph.

    Attributes:
        H: Hessians, shape [batch, n, n], symmetric positive definite.
        c: Linear costs, shape [batch, n].
        lower: Hard lower bounds, shape [batch, n]; -inf for none.
        upper: Hard upper bounds, shape [batch, n]; inf for none.
        A: Row coefficients, shape [batch, rows, n].
        b: Row bounds, shape [batch, rows]; inf disables a row.
        x: Solutions, shape [batch, n].
        status: :class:`SolveStatus` codes, shape [batch].
        iterations: Number of constraints added and dropped, shape [batch].
        bound_multiplier: Shape [batch, n]; positive at an upper bound, negative at a lower one.
        row_multiplier: Shape [batch, rows]; positive if a row is active.
        workspace: Argument of ``qp_function`` for your own kernels.
    """

    @shares_launch_lock
    def __init__(
        self,
        batch: int,
        n_variables: int,
        n_rows: int,
        *,
        max_iterations: int = 200,
        tolerance: float = 1e-10,
        scalar: type = wp.float64,
        device: wp.DeviceLike = None,
    ) -> None:
        """Allocate every array.

        Args:
            batch: Number of programs.
            n_variables: Number of variables n.
            n_rows: Number of rows of A; may be 0.
            max_iterations: Bound on constraints added and dropped in one solution. A program whose
                rows must be relaxed is solved several times.
            tolerance: Largest violation of a bound, or of a row scaled to unit length, in units of
                x.
            scalar: ``wp.float32`` or ``wp.float64``.
            device: Warp device; None for the current one.

        Raises:
            ArgumentError: A size or a number of iterations out of range.
        """
        for name, value, least in (
            ('batch', batch, 1), ('n_variables', n_variables, 1), ('n_rows', n_rows, 0),
            ('max_iterations', max_iterations, 1),
        ):  # fmt: skip
            checked_count(name, value, least, MAX_ITERATIONS)
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self._kernel = qp_kernel(scalar)

        def zeros(*shape: int, dtype: type = scalar) -> wp.array:
            return wp.zeros((batch, *shape), dtype=dtype, device=device)

        n, rows = n_variables, n_rows
        self.H, self.c, self.A, self.b = zeros(n, n), zeros(n), zeros(rows, n), zeros(rows)
        self.lower = wp.full((batch, n), -wp.inf, dtype=scalar, device=device)
        self.upper = wp.full((batch, n), wp.inf, dtype=scalar, device=device)
        self.x, self.bound_multiplier, self.row_multiplier = zeros(n), zeros(n), zeros(rows)
        self.status, self.iterations = zeros(dtype=wp.int32), zeros(dtype=wp.int32)
        self.workspace = make_workspace(scalar, batch, n, rows, device)

    def launch(self) -> None:
        """Solve every program; results are in the output arrays."""
        launch(
            self._kernel,
            dim=self.c.shape[0],
            inputs=[
                self.H, self.c, self.lower, self.upper, self.A, self.b,
                self.max_iterations, self.tolerance, self.workspace,
            ],
            outputs=[
                self.x, self.status, self.iterations, self.bound_multiplier, self.row_multiplier,
            ],
            device=self.c.device,
        )  # fmt: skip

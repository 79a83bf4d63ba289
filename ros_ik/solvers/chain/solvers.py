# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Damped least squares and Gauss-Newton on a chain, with the interface of ``motrixsim.ik``.

Both minimise |e|, the length of the combined error of position [m] and rotation [rad], within the
joint limits. A kernel launch in float64 solves a whole batch. A solver keeps the arrays of its
last batch, so use a separate one in each thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.kinematics.runtime.arguments import MAX_ITERATIONS
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.solvers.chain.batch import ChainBatch
from ros_ik.solvers.chain.ik_chain import ChainData
from ros_ik.solvers.chain.ik_chain import IkChain


class _ChainSolver:
    """Base of the two solvers.

    The arguments of the constructor are attributes, which may be set between solves; the next
    solve checks them.

    Attributes:
        status: :class:`SolveStatus` codes of the last solve, int32 with the leading dimensions of
            its result; empty before the first.
    """

    def __init__(self, max_iter: int, step_size: float, tolerance: float) -> None:
        self.max_iter, self.step_size, self.tolerance = max_iter, step_size, tolerance
        self.status: np.ndarray = np.empty(0, dtype=np.int32)
        self._rules()
        self._batch: ChainBatch | None = None  # of the last solve, for reuse

    def solve(
        self,
        ik_model: IkChain,
        data: ChainData,
        target_pose: np.ndarray | Sequence[float],
    ) -> np.ndarray:
        """Solve for every state and target.

        Args:
            ik_model: The chain.
            data: Seeds, coordinates of the whole model, shape [*, joint_coord_count], or a
                :class:`JointState`. Seeds outside the limits are moved to the limits. Joints
                outside the chain keep their positions.
            target_pose: Target poses of the end effector in the world, x y z [m], quaternion
                i j k w of any length, shape [*, 7]. Leading dimensions of ``data`` and
                ``target_pose`` are broadcast.

        Returns:
            float64 [*, 2 + num_dof_pos]: number of iterations, residual [m and rad], positions.
            The positions are the best found, always finite and within the joint limits; ``status``
            tells whether they reach the tolerance. A row with NaN or infinity in its seed or
            target, or a zero quaternion, has no iterations, an infinite residual and the positions
            of its seed, clamped to the limits, with 0 instead of NaN.

        Raises:
            ArgumentError: Wrong shapes, or an attribute out of range.
        """
        if not isinstance(ik_model, IkChain):
            raise ArgumentError(f'ik_model must be an IkChain, got {type(ik_model).__name__}')
        rules = self._rules()
        joint_q = ik_model.joint_q(data)
        targets = checked_numbers('target_pose', target_pose)
        if targets.ndim == 0 or targets.shape[-1] != 7:
            raise ArgumentError(f'target_pose must have shape [*, 7], got {list(targets.shape)}')
        leading = joint_q.shape[:-1]
        if targets.shape[:-1] != leading:
            try:
                leading = np.broadcast_shapes(leading, targets.shape[:-1])
            except ValueError:
                raise ArgumentError(
                    f'the leading dimensions of data and target_pose must broadcast, got '
                    f'{list(joint_q.shape)} and {list(targets.shape)}'
                ) from None
        seeds, poses = _rows(joint_q, leading), _rows(targets, leading)
        if not len(seeds):
            self.status = np.empty(leading, dtype=np.int32)
            return np.empty((*leading, 2 + ik_model.num_dof_pos))
        if self._batch is None or (self._batch.chain, self._batch.size) != (ik_model, len(seeds)):
            self._batch = ChainBatch(ik_model, len(seeds))
        rows, status = self._batch.solve(seeds, poses, **rules)
        self.status = status.reshape(leading)
        return rows.reshape(*leading, rows.shape[-1])

    def _rules(self) -> dict[str, Any]:
        """Return the settings for the kernel from the current attributes, or raise."""
        return {
            'max_iterations': checked_count('max_iter', self.max_iter, 1, MAX_ITERATIONS),
            'step_size': checked_number('step_size', self.step_size, positive=True),
            'tolerance': checked_number('tolerance', self.tolerance),
            'damping': 0.0,
            'is_adaptive': False,
        }


class DlsSolver(_ChainSolver):
    """Damped least-squares solver, whose steps minimise |J d - e|^2 + damping^2 |d|^2 within
    limits.

    With ``adaptive_damping`` this is the Levenberg-Marquardt method, with full steps, a damping
    that depends on how well the linear model predicts the error, and no steps that increase the
    error. It ends at the tolerance, at a stationary configuration, or after ``max_iter``
    iterations. A joint moves at most 1 rad or 1 m in one iteration.
    """

    def __init__(
        self,
        max_iter: int = 100,
        step_size: float = 0.5,
        tolerance: float = 1e-3,
        damping: float = 1e-3,
        adaptive_damping: bool = True,
    ) -> None:
        """Create the solver.

        Args:
            max_iter: Maximum number of iterations, at least 1.
            step_size: Fraction of each step that is taken, with fixed damping.
            tolerance: Residual up to which a problem is solved [m and rad].
            damping: Damping, or initial damping if adaptive. It enters squared, as in motrixsim.
            adaptive_damping: True to adapt the damping and take full steps; ``step_size`` is
                then not used.

        Raises:
            ArgumentError: A number out of range.
        """
        self.damping, self.adaptive_damping = damping, adaptive_damping
        super().__init__(max_iter, step_size, tolerance)

    def _rules(self) -> dict[str, Any]:
        rules, damping = super()._rules(), checked_number('damping', self.damping)
        is_adaptive = checked_flag('adaptive_damping', self.adaptive_damping)
        rules['damping'], rules['is_adaptive'] = damping * damping, is_adaptive
        if is_adaptive:
            rules['step_size'] = 1.0
        return rules


class GaussNewtonSolver(_ChainSolver):
    """Gauss-Newton solver, with the shortest steps that minimise |J d - e|^2 within the limits.

    Near a singularity, where such a step can be arbitrarily long, a joint moves at most 1 rad or
    1 m in one iteration.
    """

    def __init__(
        self, max_iter: int = 100, step_size: float = 0.5, tolerance: float = 1e-3
    ) -> None:
        """Create the solver.

        Args:
            max_iter: Maximum number of iterations, at least 1.
            step_size: Fraction of each step that is taken.
            tolerance: Residual up to which a problem is solved [m and rad].

        Raises:
            ArgumentError: A number out of range.
        """
        super().__init__(max_iter, step_size, tolerance)


def _rows(values: np.ndarray, leading: tuple[int, ...]) -> np.ndarray:
    """Broadcast the leading dimensions and return the last ones as rows."""
    if values.shape[:-1] != leading:
        values = np.broadcast_to(values, (*leading, values.shape[-1]))
    return values.reshape(-1, values.shape[-1])

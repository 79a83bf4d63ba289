# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of a batch of problems of one chain, allocated once for all solves."""

from __future__ import annotations

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import root_pose
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.chain.functions import chain_structs
from ros_ik.solvers.chain.ik_chain import IkChain
from ros_ik.solvers.chain.kernel import chain_kernel
from ros_ik.solvers.qp.workspace import make_workspace


class ChainBatch:
    """Batch of n problems of a chain with m variables, float64, on the device of the chain.

    Attributes:
        chain: The chain.
        size: Number of problems n.
    """

    @shares_launch_lock
    def __init__(self, chain: IkChain, size: int) -> None:
        """Allocate every array."""
        self.chain = chain
        self.size = size
        n, m, device = size, chain.num_dof_pos, chain.tree.device

        def zeros(*shape: int) -> wp.array:
            return batch_zeros(shape, wp.float64, device)

        transform = spatial_functions(wp.float64).transform
        self._joint_q = HostBuffer((n, chain.tree.joint_coord_count), wp.float64, device)
        self._target_pose = HostBuffer((n,), transform, device)
        self._rows = HostBuffer((n, 2 + m), wp.float64, device)
        self._status = HostBuffer((n,), wp.int32, device)
        iterates = chain_structs(wp.float64).Iterates()
        iterates.q, iterates.error = zeros(2 * n, m), zeros(2 * n, 6)
        iterates.jacobian = zeros(2 * n, 6, m)
        program = make_workspace(wp.float64, n, m, 0, device)
        bounds_rows_solution = zeros(n, m), zeros(n, m), zeros(n, 0, m), zeros(n, m)
        self._scratch = [iterates, program, *bounds_rows_solution]
        self._chain_arrays = _chain_arrays(chain)
        self._rules: tuple[int, float, float, float, bool] | None = None

    @shares_launch_lock
    def solve(
        self,
        joint_q: np.ndarray,
        target_pose: np.ndarray,
        *,
        max_iterations: int,
        step_size: float,
        tolerance: float,
        damping: float,
        is_adaptive: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve every problem by one kernel launch.

        Args:
            joint_q: Seeds and the other joints of the model, shape [n, joint_coord_count].
            target_pose: Targets in the world, x y z i j k w, shape [n, 7].
            max_iterations: Maximum number of iterations.
            step_size: Fraction of each step that is taken.
            tolerance: Length of the error up to which a problem is solved [m and rad].
            damping: Weight of |d|^2 relative to |J d - e|^2; the initial one if it is adaptive.
            is_adaptive: True to adapt the damping and reject steps that increase the error.

        Returns:
            Rows of iterations, residual, positions, shape [n, 2 + m], and
            :class:`SolveStatus` codes, int32 [n].
        """
        self._joint_q.host[:] = joint_q
        self._target_pose.host[:] = target_pose
        rules = max_iterations, step_size, tolerance, damping, is_adaptive
        if rules != self._rules:
            self._command, self._rules = self._recorded(rules), rules
        self._joint_q.upload()
        self._target_pose.upload()
        self._command.launch()
        self._rows.download()
        self._status.download()
        wait_for(self.chain.tree.device)
        # A copy, which the next solve does not change.
        return self._rows.host.copy(), self._status.host.copy()

    def _recorded(self, rules: tuple[int, float, float, float, bool]) -> wp.Launch:
        """Return the recorded launch with these numbers."""
        return launch(
            chain_kernel(wp.float64),
            dim=self.size,
            inputs=[
                self.chain.tree.arrays, self._chain_arrays, self._joint_q.array,
                self._target_pose.array, *rules, *self._scratch,
            ],
            outputs=[self._rows.array, self._status.array],
            device=self.chain.tree.device,
            record_cmd=True,
        )  # fmt: skip


def _chain_arrays(chain: IkChain) -> object:
    """Return the struct of a chain on its device."""
    path, device = chain.path, chain.tree.device
    arrays = chain_structs(wp.float64).Chain()
    for name in ('base_joints', 'joints', 'joint_variable', 'coordinates'):
        values = np.asarray(getattr(path, name), dtype=np.int32)
        setattr(arrays, name, wp.array(values, dtype=wp.int32, device=device))
    for name in ('coef0', 'coef1', 'lower', 'upper'):
        setattr(arrays, name, wp.array(getattr(path, name), dtype=wp.float64, device=device))
    transform = spatial_functions(wp.float64).transform
    root = root_pose(chain.model, (*path.base_joints, *path.joints))
    arrays.root = wp.array(root.reshape(1, 7), dtype=transform, device=device)
    arrays.offset = wp.array(chain.offset.reshape(1, 7), dtype=transform, device=device)
    return arrays

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Choice among the solutions of one or several poses, by a preference.

The solutions stay on their device, unless the preference is a function of the user.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import TYPE_CHECKING
from typing import TypeAlias

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.batch_arrays import cast_into
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.numbers import real_array
from ros_ik.solvers.analytic.manipulability import ChainManipulability
from ros_ik.solvers.pose_batches.choice_kernels import choose_solutions_kernel
from ros_ik.solvers.pose_batches.choice_kernels import distance_cost_kernel
from ros_ik.solvers.pose_batches.choice_kernels import measure_cost_kernel
from ros_ik.solvers.pose_ik.interface.result import ChainIKResult
from ros_ik.solvers.pose_ik.interface.result import GoalSetResult

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain
    from ros_ik.model import Model

# A name, or a function that returns costs [n] of configurations [n, joint_coord_count].
Preference: TypeAlias = 'str | Callable[[np.ndarray], np.ndarray]'
PREFERENCES = ('seed', 'middle', 'manipulability')
# Default number of solutions of a pose for preferences other than the seed.
N_CANDIDATES = 16
# Weight of a radian [m] in the choice of the nearest of several unreachable poses.
_RADIAN = 0.2


def checked_preference(preference: Preference) -> Preference:
    """Check and return a preference.

    Raises:
        ArgumentError: An unknown name, or neither a name nor a function.
    """
    is_name = isinstance(preference, str) and preference in PREFERENCES
    if not (is_name or callable(preference)):
        raise ArgumentError(
            f'preference must be one of {", ".join(PREFERENCES)} or a function, got {preference!r}'
        )
    return preference


class SolutionChoice:
    """Choice of the best solutions of problems with one or several poses each."""

    @shares_launch_lock
    def __init__(
        self, preference: Preference, chain: SerialChain, model: Model, separation: float
    ) -> None:
        """Copy the constants of the costs to the device.

        Args:
            preference: 'seed' for the least distance to the seed, 'middle' for the least distance
                to the middle of the limits relative to half their ranges, 'manipulability' for the
                largest :func:`manipulability`; or a function.
            chain: The chain.
            model: The model, on whose device the choice is made.
            separation: Smallest distance of distinct solutions [rad or m], in the joint that
                differs most, also of those of different poses of a problem.
        """
        self._preference, self._device = preference, wp.get_device(model.device)
        low, high = chain.sampling_range()
        half = np.maximum(0.5 * (high - low), 1e-9)
        self._coordinate = self._array(chain.coordinates, wp.int32)
        self._unit = self._array(half if preference == 'middle' else np.ones_like(half))
        middle = np.zeros((1, model.joint_coord_count))
        middle[0, chain.coordinates] = 0.5 * (low + high)
        self._middle = self._array(middle)
        if preference == 'manipulability':
            self._turn = self._array(chain.turn_lengths())
            self._manipulability = ChainManipulability(chain, device=self._device)
        self._separation = separation
        self._size: tuple[int, ...] = ()

    @shares_launch_lock
    def best(
        self,
        found: ChainIKResult,
        seeds: Any = None,
        n_goals: int = 1,
        n_solutions: int = 1,
        *,
        on_device: bool = False,
    ) -> GoalSetResult:
        """Return the best solutions of problems.

        Args:
            found: Solutions of all poses, problem by problem, [n * n_goals] or [n * n_goals, s],
                in arrays of NumPy or Warp.
            seeds: Their seeds, [n * n_goals, joint_coord_count]; None for the middle of the
                limits.
            n_goals: Number of alternative poses of a problem.
            n_solutions: Number of solutions to return.
            on_device: True to return Warp arrays, without waiting.

        Returns:
            The distinct solutions, sorted by cost; the next call overwrites their arrays. For a
            problem without a solution, the best configuration of the nearest pose, with its
            status.

        Raises:
            ArgumentError: A function did not return a number for each configuration.
        """
        found = found.with_solution_axis()
        joint_q, n_found = self._array(found.joint_q), self._array(found.n_found, wp.int32)
        self._allocate(joint_q.shape, n_goals, n_solutions)
        launch(
            choose_solutions_kernel(),
            dim=joint_q.shape[0] // n_goals,
            inputs=[
                n_goals, wp.float64(_RADIAN), self._costs(joint_q, n_found, seeds), joint_q,
                self._array(found.status, wp.int32), n_found, self._coordinate,
                wp.float64(self._separation), self._array(found.position_error),
                self._array(found.rotation_error),
            ],
            outputs=self._outputs,
            device=self._device,
        )  # fmt: skip
        if on_device:
            return GoalSetResult(*[buffer.array.reshape(s) for buffer, s in self._buffers])
        for buffer, _ in self._buffers:
            buffer.download()
        wait_for(self._device)
        return self._on_host

    def _allocate(self, shape: tuple[int, ...], n_goals: int, n_solutions: int) -> None:
        """Allocate the arrays of a choice, unless they have the size already.

        Args:
            shape: Shape of the configurations, [n * n_goals, s, joint_coord_count].
            n_goals: Number of alternative poses of a problem.
            n_solutions: Number of solutions to return.
        """
        (rows, s, coords), size = shape, (*shape, n_goals, n_solutions)
        if size == self._size:
            return
        self._size, n, most = size, rows // n_goals, min(n_solutions, n_goals * s)
        several = (most,) if n_solutions > 1 else ()
        self._cost = wp.empty((rows, s), dtype=wp.float64, device=self._device)
        fields: list[tuple[tuple[int, ...], tuple[int, ...], type]] = [
            ((n, most, coords), (n, *several, coords), wp.float64),
            ((n,), (n,), wp.int32),
            ((n,), (n,), wp.int32),
            ((n, most), (n, *several), wp.float64),
            ((n, most), (n, *several), wp.float64),
            ((n, most), (n, *several), wp.int32),
        ]
        self._buffers = [
            (HostBuffer(shape, kind, self._device), shown) for shape, shown, kind in fields
        ]
        self._outputs = [buffer.array for buffer, _ in self._buffers]
        self._on_host = GoalSetResult(*[b.host.reshape(shown) for b, shown in self._buffers])

    def _costs(self, joint_q: wp.array, n_found: wp.array, seeds: Any) -> wp.array:
        """Return the costs of configurations [n, s, joint_coord_count], as an array [n, s]."""
        n, s, coords = joint_q.shape
        inputs: list[Any]
        if callable(self._preference):
            return self._array(self._own_costs(joint_q.numpy(), n_found.numpy()))
        if self._preference == 'manipulability':
            measure = self._manipulability.launch(joint_q.reshape((n * s, coords)))
            kernel = measure_cost_kernel()
            separation = wp.float64(self._separation)
            inputs = [joint_q, self._coordinate, self._turn, separation, measure]
        else:
            is_near = self._preference == 'seed' and seeds is not None
            center = self._array(seeds) if is_near else self._middle
            kernel = distance_cost_kernel()
            inputs = [joint_q, self._coordinate, self._unit, center]
        launch(kernel, dim=(n, s), inputs=inputs, outputs=[self._cost], device=self._device)
        return self._cost

    def _own_costs(self, joint_q: np.ndarray, n_found: np.ndarray) -> np.ndarray:
        """Return the costs of solutions by the user's function, inf for entries without one."""
        there = np.arange(joint_q.shape[1]) < n_found[:, None]
        count = np.count_nonzero(there)
        assert callable(self._preference)
        own = real_array('preference', self._preference(joint_q[there]))
        if own.shape != (count,):
            raise ArgumentError(
                f'preference must return one number for each configuration, shape [{count}], '
                f'got {list(own.shape)}'
            )
        cost: np.ndarray = np.full(there.shape, np.inf)
        cost[there] = np.where(np.isnan(own), np.inf, own)
        return cost

    def _array(self, values: Any, dtype: type = wp.float64) -> wp.array:
        """Return an array of NumPy or Warp on the device, copied only if necessary."""
        if isinstance(values, wp.array):
            given = values.to(self._device)
            if given.dtype is dtype:
                return given
            cast = wp.empty(given.shape, dtype=dtype, device=self._device)
            cast_into(cast, given)
            return cast
        scalar = np.float64 if dtype is wp.float64 else np.int32
        rows = np.ascontiguousarray(values, dtype=scalar)
        return wp.array(rows, dtype=dtype, device=self._device, copy=False)

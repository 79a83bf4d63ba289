# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of collision barriers: values and rows for pairs of a scene.

    h_i = d_i - d_min,   i over the n closest pairs, closest first

Pairs farther apart than d_max are inactive: h = d_max - d_min with a zero Jacobian. The rows
of a step are those of the closest pairs or, with ``ranks_rows``, of the most urgent ones. Checks
of steps do not use rows but evaluate every pair of the scene.
"""

from __future__ import annotations

from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.barriers.barrier import Barrier
from ros_ik.barriers.barrier import StepBox
from ros_ik.barriers.collision_scene import CollisionScene
from ros_ik.barriers.pair_measurement import PairMeasurement
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dofs_of_links
from ros_ik.kinematics.collision.pairs.pair_functions import FAR
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState
    from ros_ik.kinematics.stepping.stop_path import PathCheck


class CollisionBarrier(Barrier):
    """Base of barriers over pairs of primitives of a scene.

    Attributes:
        scene: The primitives.
        n_collision_pairs: Number of rows; None for one per pair.
        d_min: Distance [m] where h = 0.
        d_max: Distance [m] beyond which a pair is inactive; None: all are active.
        ranks_rows: True if the rows of a step go to the pairs that it could bring too close, most
            urgent first, with as many more rows for violated pairs. Otherwise the closest pairs
            get the rows, as in roboplan. It has no effect without ``n_collision_pairs``. Set it
            before the first solve.
    """

    read_once = Barrier.read_once | {
        'scene', 'n_collision_pairs', 'd_min', 'd_max', 'ranks_rows',
    }  # fmt: skip
    ranks_rows = False
    splits = sweeps = follows = True

    _pair_view: np.ndarray | None = None

    def __init__(
        self,
        scene: CollisionScene,
        *,
        n_collision_pairs: int | None,
        d_min: float,
        d_max: float | None,
        **parameters: Any,
    ) -> None:
        """Check and keep the parameters.

        Args:
            scene: The primitives.
            n_collision_pairs: Number of rows; None for one per pair.
            d_min: Distance [m] where h = 0, not negative.
            d_max: Distance [m] beyond which a pair is inactive, above d_min, or None.
            **parameters: gain, margin, safe_displacement_gain, name of :class:`Barrier`.

        Raises:
            ArgumentError: A value outside its range.
        """
        super().__init__(**parameters)
        self.scene = scene
        self.d_min = checked_number('d_min', d_min)
        self.d_max = None if d_max is None else checked_number('d_max', d_max)
        if self.d_max is not None and not self.d_min < self.d_max <= FAR:
            raise ArgumentError(
                f'd_max must be above d_min = {d_min} and at most {FAR:g} m, or None, got {d_max}'
            )
        rows = n_collision_pairs
        self.n_collision_pairs = (
            None if rows is None else checked_count('n_collision_pairs', rows, 1)
        )

    @property
    def row_count(self) -> int:
        """Number of closest pairs that get a row, or the largest possible number of pairs."""
        return self.n_collision_pairs or self.max_pairs

    @property
    def max_pairs(self) -> int:
        """Largest number of pairs that the barrier can have."""
        raise NotImplementedError

    def current_pairs(self) -> np.ndarray:
        """Return the current pairs, as rows of the scene, int [n, 2]."""
        raise NotImplementedError

    def links(self) -> set[int] | None:
        """Return the links that have primitives; None if any link may carry an object."""
        if self.scene.max_attached:
            return None
        return {int(body) for body in self.scene.geometry.body}

    def launch_values(self, body_q: wp.array, values: wp.array, start_idx: int) -> None:
        """Write the least distances less d_min; see :meth:`Barrier.launch_values`."""
        self._measurement.launch_values(body_q, self._work(body_q), values, start_idx)

    @property
    def check_row_count(self) -> int:
        """Largest number of pairs; see :meth:`Barrier.check_row_count`."""
        return self.max_pairs if self._has_own_values else self.row_count

    def launch_check_values(self, body_q: wp.array, values: wp.array, start_idx: int) -> None:
        """Write the distance of each pair less d_min; see :meth:`Barrier.launch_check_values`."""
        if self._has_own_values:
            self._measurement.launch_each(body_q, values, start_idx, self._work(body_q))
        else:
            super().launch_check_values(body_q, values, start_idx)

    @property
    def _has_own_values(self) -> bool:
        """True unless a derived class computes other values."""
        return type(self).launch_values is CollisionBarrier.launch_values

    def launch_sweep(self, travel: wp.array, may_fall: wp.array) -> None:
        """Mark robots with pairs that may come too close; see :meth:`Barrier.launch_sweep`."""
        body_q = self._state.body_q
        self._measurement.launch_sweep(body_q, self._motion, travel, self._work(body_q), may_fall)

    def launch_follow(self, check: PathCheck, column: int) -> None:
        """Check every pair along the paths; see :meth:`Barrier.launch_follow`."""
        body_q = self._state.body_q
        self._measurement.launch_follow(body_q, self._motion, self._work(body_q), check, column)

    def launch_jacobian(self, jacobian: wp.array, start_idx: int) -> None:
        """Write the derivatives of the values that were last written for the state's poses."""
        work = self._work(self._state.body_q)
        self._measurement.launch_jacobian(self._motion, work, jacobian, start_idx)

    @property
    def step_row_count(self) -> int:
        """Number of rows of a step; twice as many if ranked, half of them for violated pairs."""
        return self.row_count * (2 if self._ranks else 1)

    def launch_rows(self, box: StepBox, values: wp.array, jacobian: wp.array, start: int) -> None:
        """Write the rows of the closest or ranked pairs; see :meth:`Barrier.launch_rows`."""
        if not self._ranks:
            super().launch_rows(box, values, jacobian, start)
            return
        state = self._state
        self._measurement.launch_rows(
            state.body_q,
            self._motion,
            [*box, self.margin, self.recovery_speed, state.dt],
            self._chosen(state.body_q),
            values,
            jacobian,
            start,
            state.scratch,
        )

    @property
    def _ranks(self) -> bool:
        """True if the rows of a step go to the most urgent pairs; see ``ranks_rows``."""
        return self.ranks_rows and self.n_collision_pairs is not None

    def closest_pairs(self) -> list[list[tuple[str, str]]]:
        """Return the pairs that had rows in the last step, for each robot.

        A pair is two names of links, carried objects or obstacles. Inactive rows are omitted.
        After obstacles or carried objects have appeared or disappeared, there are none until the
        next step.
        """
        numbers = self._pair_numbers()
        found = [[self._named(number) for number in numbers_of_one] for numbers_of_one in numbers]
        return [[pair for pair in pairs if pair is not None] for pairs in found]

    def closest_pair(self, row: int, robot: int = 0) -> tuple[str, str] | None:
        """Return the pair of one row of the last step; None if the row was inactive."""
        return self._named(self._pair_numbers().item(robot, row))

    def closest_rows(self, row: int, robot: int = 0) -> tuple[int, int] | None:
        """Return the rows of the scene of :meth:`closest_pair`."""
        number, pairs = self._pair_numbers().item(robot, row), self._measurement.pairs
        return tuple(pairs[number].tolist()) if 0 <= number < len(pairs) else None

    def _pair_numbers(self) -> np.ndarray:
        """Return the number of the pair of each row of the last step, -1 for none."""
        if self._pair_view is None:
            pair = self._measurement.work(*self._own_work).pair
            if not pair.device.is_cpu:
                return pair.numpy()
            self._pair_view = pair.numpy()  # the same memory
        return self._pair_view

    def _named(self, number: int) -> tuple[str, str] | None:
        """Return the two names of a pair, by its number."""
        pairs = self._measurement.pairs
        if not 0 <= number < len(pairs):
            return None
        first, second = pairs[number].tolist()
        return self.scene.row_name(first), self.scene.row_name(second)

    def refresh(self) -> None:
        """Collect the pairs again and copy them to the device."""
        if self._is_bound:
            self._measurement.set_pairs(self._moving(self.current_pairs()))

    def bind(self, state: StepState) -> None:
        """Allocate arrays and collect the pairs; see :meth:`Barrier.bind`."""
        if self._is_bound and self._state is state:
            return
        super().bind(state)
        self.scene.add_listener(self)
        self.refresh()

    def _allocate(self, state: StepState) -> None:
        """Copy primitives and degrees of freedom to the device.

        Raises:
            ArgumentError: The scene belongs to another model.
        """
        scene, model, device = self.scene, state.model, state.device
        if scene.model is not model:
            raise ArgumentError('its scene belongs to another model')
        self._pair_view, self._own_work = None, _own_work(state.body_q)
        group = state.group
        active = np.flatnonzero(group.dof_variable >= 0)
        # Degrees of freedom of the step that move each link; row 0 is the world and has none.
        self._moves_host = np.zeros((model.body_count + 1, len(active)), dtype=np.int32)
        for body, dofs in enumerate(dofs_of_links(model, range(model.body_count))):
            self._moves_host[body + 1] = np.isin(active, dofs)
        self._driven = {
            name: wp.array(values, dtype=wp.int32, device=device)
            for name, values in (
                ('dofs', active), ('variable', group.dof_variable[active]),
                ('moves', self._moves_host), ('leader', self._first_links_of_groups()),
            )
        }  # fmt: skip
        scale = group.dof_scale[active]
        self._driven['scale'] = wp.array(scale, dtype=state.scalar, device=device)
        self._measurement = PairMeasurement(
            scene.rows,
            scene.table(state.scalar, device),
            state.scalar,
            device,
            max_pairs=self.max_pairs,
            n_closest=self.n_collision_pairs,
            d_min=self.d_min,
            d_max=self.d_max,
            convex=scene.needs_gjk,
        )

    def _first_links_of_groups(self) -> list[int]:
        """Return for each link the first link with primitives that the same variables move."""
        count = len(self._moves_host) - 1
        carries = np.isin(np.arange(count), self.scene.geometry.body)
        first: dict[bytes, int] = {}
        for body in (*np.flatnonzero(carries), *np.flatnonzero(~carries)):
            first.setdefault(self._moves_host[body + 1].tobytes(), int(body))
        return [first[moved.tobytes()] for moved in self._moves_host[1:]]

    @property
    def _motion(self) -> Any:
        """Struct of how the variables move the links at the poses of the state."""
        motion = pair_structs(self._state.scalar).PairMotion()
        motion.joint_S_s = self._state.joint_S_s
        for name, values in self._driven.items():
            setattr(motion, name, values)
        return motion

    def _work(self, body_q: wp.array) -> Any:
        """Return the work space for link poses: of the state, of a part of it, or others."""
        n, own = body_q.shape[0], self._state.body_q
        if body_q.ptr == own.ptr:
            return self._measurement.work(*_own_work(own), owner=self._state.scratch)
        shared = self._work(own) if n == own.shape[0] else None
        return self._measurement.work(n, n, hints_of=shared)

    def _chosen(self, body_q: wp.array) -> Any:
        """Return the work space for the rows of a step."""
        n = body_q.shape[0]
        key = 'rows', body_q.ptr, n
        scratch = self._state.scratch
        return self._measurement.work(key, n, n_rows=self.step_row_count, owner=scratch)

    def _moving(self, pairs: np.ndarray) -> np.ndarray:
        """Return the pairs whose relative pose some variable of the step changes."""
        moves = self._moves_host[self.scene.rows.body[pairs] + 1]  # [n, 2, dofs]
        return pairs[np.any(moves[:, 0] != moves[:, 1], axis=1)]


def _own_work(body_q: wp.array) -> tuple[tuple[int, int], int]:
    """Return name and number of robots of the work space for the link poses of a state."""
    n = body_q.shape[0]
    return (body_q.ptr, n), n

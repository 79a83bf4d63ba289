# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances of pairs of primitives on a device, in arrays that are allocated once."""

from __future__ import annotations

from typing import Any
import weakref

import numpy as np
import warp as wp

from ros_ik.barriers.collision_table import CollisionRows
from ros_ik.barriers.collision_table import CollisionTable
from ros_ik.kinematics.collision.pairs.pair_functions import FAR
from ros_ik.kinematics.collision.pairs.pair_functions import pair_structs
from ros_ik.kinematics.collision.pairs.pair_kernels import pair_kernels
from ros_ik.kinematics.collision.pairs.pair_rows import rank_work_struct
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.stepping.stop_path import PathCheck
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.joint_type import GeoType

_ROUND = (int(GeoType.SPHERE), int(GeoType.CAPSULE))
_PLANE = int(GeoType.PLANE)


class _WorkSpaces:
    """Work spaces by name, and those in which the pairs of one of them are ranked."""

    def __init__(self) -> None:
        """Start empty."""
        self.works: dict[Any, Any] = {}
        self.ranks: dict[int, Any] = {}


class PairMeasurement:
    """Launches of the kernels that measure pairs of primitives.

    Attributes:
        pairs: The pairs as rows of the table, int [n, 2]. Pairs of spheres come first, then pairs
            of other round shapes, then the rest. A half-space is the second of its pair.
        arrays: Struct that kernels read; see :func:`pair_structs`.
        n_rows: Number of values.
    """

    @shares_launch_lock
    def __init__(
        self,
        rows: CollisionRows,
        table: CollisionTable,
        scalar: type,
        device: wp.DeviceLike,
        *,
        max_pairs: int,
        n_closest: int | None,
        d_min: float,
        d_max: float | None,
        convex: bool,
    ) -> None:
        """Allocate.

        Args:
            rows: The primitives on the host.
            table: The primitives on the device.
            scalar: Floating-point type.
            device: Device of the arrays.
            max_pairs: Largest number of pairs at a time.
            n_closest: Number of closest pairs that get a value; None for all.
            d_min: Distance [m] that is subtracted from each distance.
            d_max: Distance [m] beyond which a pair is inactive; None: all are active.
            convex: True if there can be shapes other than spheres, capsules and half-spaces.
        """
        self._rows, self._scalar, self._device = rows, scalar, device
        self._kernels = pair_kernels(scalar, convex)
        self._max_pairs = max_pairs
        self._max_convex = max_pairs if convex else 0
        self._every = n_closest is None
        self.n_rows = n_closest or max_pairs
        # CUDA: a thread for each row. A CPU copies the structs for each thread, which takes longer
        # than the distance of two spheres.
        self._is_cuda = wp.get_device(device).is_cuda
        self._threads_of_rows = self.n_rows if self._is_cuda else 1
        self.arrays = pair_structs(scalar).Pairs()
        for name in ('shapes', 'cores', 'center', 'axis'):
            setattr(self.arrays, name, getattr(table, name))
        self.arrays.used = wp.zeros(len(rows.kind), dtype=wp.int32, device=device)
        self.arrays.pairs = wp.zeros(max(max_pairs, 1), dtype=wp.vec2i, device=device)
        self.arrays.counts = wp.zeros(4, dtype=wp.int32, device=device)
        self.arrays.d_min = scalar(d_min)
        self.arrays.d_max = scalar(FAR if d_max is None else d_max)
        self._spaces = _WorkSpaces()
        # Names include addresses of link poses, so they hold while the owner of these lives.
        self._spaces_of: weakref.WeakKeyDictionary[object, _WorkSpaces] = (
            weakref.WeakKeyDictionary()
        )
        self._travels: dict[int, wp.array] = {}
        self._body_q: dict[int, wp.array] = {}
        self.pairs = np.zeros((0, 2), dtype=int)

    @shares_launch_lock
    def set_pairs(self, pairs: np.ndarray) -> None:
        """Set the pairs to measure, int [n, 2], n <= max_pairs."""
        kind = self._rows.kind[pairs]
        swap = kind[:, :1] == _PLANE
        pairs, kind = np.where(swap, pairs[:, ::-1], pairs), np.where(swap, kind[:, ::-1], kind)
        spheres = np.all(kind == _ROUND[0], axis=1)
        is_round = np.isin(kind[:, 0], _ROUND) & np.isin(kind[:, 1], (*_ROUND, _PLANE))
        order = np.argsort(np.where(spheres, 0, np.where(is_round, 1, 2)), kind='stable')
        self.pairs = pairs[order]
        used = np.unique(pairs)
        counts = np.array([len(used), spheres.sum(), is_round.sum(), len(pairs)])
        _write_first(self.arrays.used, used)
        _write_first(self.arrays.pairs, self.pairs)
        _write_first(self.arrays.counts, counts)
        for spaces in (self._spaces, *self._spaces_of.values()):
            for work in spaces.works.values():
                work.hint.zero_()  # they belong to other pairs
                work.pair.fill_(-1)

    @shares_launch_lock
    def work(
        self,
        key: Any,
        n: int,
        hints_of: Any = None,
        n_rows: int | None = None,
        owner: object | None = None,
    ) -> Any:
        """Return a named work space for n robots, allocated at its first use.

        Args:
            key: Name of the work space.
            n: Number of robots.
            hints_of: Work space for the same number of robots; both share their warm starts.
                Searches at nearby poses then find the same separating directions.
            n_rows: Number of rows, None for ``n_rows`` of the measurement.
            owner: Object with which the work space is dropped; None for this measurement.
        """
        works = self._spaces_with(owner).works
        if key not in works:
            vec3, device = spatial_functions(self._scalar).vec3, self._device
            work = pair_structs(self._scalar).PairWork()
            for name, count in (
                ('center', len(self._rows.kind)), ('axis', len(self._rows.kind)),
                ('normal', self._max_convex), ('point', self._max_convex),
            ):  # fmt: skip
                setattr(work, name, wp.zeros((n, count), dtype=vec3, device=device))
            work.hint = hints_of.hint if hints_of is not None else wp.zeros_like(work.normal)
            rows = n, n_rows or self.n_rows
            work.pair = wp.full(rows, -1, dtype=wp.int32, device=device)
            work.distance = wp.zeros(rows, dtype=self._scalar, device=device)
            works[key] = work
        return works[key]

    def _spaces_with(self, owner: object | None) -> _WorkSpaces:
        return self._spaces if owner is None else self._spaces_of.setdefault(owner, _WorkSpaces())

    def launch_values(self, body_q: wp.array, work: Any, values: wp.array, start: int) -> None:
        """Write distances less d_min; the closest first, or those of all pairs in order.

        Args:
            body_q: Link poses in the world, [n, body_count].
            work: Work space for n robots; its column ``pair`` gets the pair of each value.
            values: Output, [n, total_rows].
            start: First column of ``n_rows``.
        """
        self._launch_distances(body_q, work, values, start, each=self._every)

    def launch_each(self, body_q: wp.array, values: wp.array, start: int, hints_of: Any) -> None:
        """Write distances less d_min of all pairs in order, max_pairs values of each robot.

        Args:
            body_q: Link poses in the world, [n, body_count].
            values: Output, [n, total_rows].
            start: First column of ``max_pairs``.
            hints_of: Work space for as many robots that shares its warm starts, or None.
        """
        n = body_q.shape[0]
        work = self.work(('each', n), n, hints_of=hints_of, n_rows=self._max_pairs)
        self._launch_distances(body_q, work, values, start, each=True)

    def _launch_distances(
        self, body_q: wp.array, work: Any, values: wp.array, start: int, *, each: bool
    ) -> None:
        threads = work.pair.shape[1] if each and self._is_cuda else 1
        self._launch_place(body_q, work)
        launch(
            self._kernels.distances,
            (body_q.shape[0], threads),
            inputs=[body_q, self.arrays, each, start, threads],
            outputs=[work, values],
            device=self._device,
        )

    def launch_rows(
        self,
        body_q: wp.array,
        motion: Any,
        step: list[Any],
        work: Any,
        values: wp.array,
        jacobian: wp.array,
        start: int,
        owner: object | None,
    ) -> None:
        """Write distances less d_min, and their derivatives, of the pairs that need a row.

        Args:
            body_q: Link poses in the world, [n, body_count].
            motion: Struct ``PairMotion``.
            step: Box and gains of the step, number of the barrier, margin, recovery speed,
                duration.
            work: Work space for n robots; half of its rows are for violated pairs.
            values: Output, [n, total_rows].
            jacobian: Output, [n, total_rows, n_variables].
            start: First row.
            owner: Owner of ``work``, see :meth:`work`.
        """
        key, free = work.pair.ptr, work.pair.shape[1] // 2
        ranks = self._spaces_with(owner).ranks
        if key not in ranks:
            ranks[key] = self._rank_work(body_q.shape, 2 * free, jacobian.shape[2])
        self._launch_place(body_q, work)
        launch(
            self._kernels.choose,
            body_q.shape[0],
            inputs=[body_q, motion, *step, self.arrays, free, start],
            outputs=[work, ranks[key], values, jacobian],
            device=self._device,
        )

    def _rank_work(self, links: tuple[int, ...], n_rows: int, n_variables: int) -> Any:
        shapes, vec3 = len(self._rows.kind), spatial_functions(self._scalar).vec3
        n = links[0]
        work = rank_work_struct(self._scalar)()
        for name, shape, dtype in (
            ('link', (*links, 3), vec3), ('drift', (n, shapes), vec3),
            ('extra', (n, shapes), self._scalar), ('key', (n, n_rows), self._scalar),
            ('slopes', (n, 1, n_variables), self._scalar),
        ):  # fmt: skip
            setattr(work, name, wp.zeros(shape, dtype=dtype, device=self._device))
        return work

    def launch_sweep(
        self, body_q: wp.array, motion: Any, travel: wp.array, work: Any, may_meet: wp.array
    ) -> None:
        """Mark the robots with pairs that may fall below d_min; see the kernel.

        Args:
            body_q: Link poses in the world, [n, body_count].
            motion: Struct ``PairMotion``.
            travel: Bounds of the motion of each degree of freedom, [n, joint_dof_count].
            work: Work space for n robots.
            may_meet: Output, int32 [n].
        """
        n = body_q.shape[0]
        self._launch_place(body_q, work)
        launch(
            self._kernels.sweep,
            n,
            inputs=[body_q, motion, travel, self.arrays],
            outputs=[work, self._allocate_paths(n), may_meet],
            device=self._device,
        )

    def launch_follow(
        self, body_q: wp.array, motion: Any, now: Any, check: PathCheck, column: int
    ) -> None:
        """Check every pair along the path of its robot; see the kernel.

        Args:
            body_q: Link poses at the start of the paths, [n, body_count].
            motion: Struct ``PairMotion`` for these poses.
            now: Work space for these poses.
            check: The paths and the output arrays.
            column: Column of ``check.unsafe``.
        """
        n = body_q.shape[0]
        if n not in self._body_q:
            self._body_q[n] = wp.zeros_like(body_q)
        self._launch_place(body_q, now)
        launch(
            self._kernels.follow,
            n,
            inputs=[
                check.path.arrays, motion, self.arrays, now, check.tolerance, check.between,
                column,
            ],
            outputs=[
                self.work(('path', n), n, hints_of=now), self._body_q[n], self._allocate_paths(n),
                check.unsafe, check.cut,
            ],
            device=self._device,
        )  # fmt: skip

    def launch_jacobian(self, motion: Any, work: Any, jacobian: wp.array, start: int) -> None:
        """Write the derivatives of the values that :meth:`launch_values` last computed.

        Args:
            motion: Struct ``PairMotion``.
            work: The work space of that launch.
            jacobian: Output, [n, total_rows, n_variables].
            start: First row of ``n_rows``.
        """
        launch(
            self._kernels.jacobian,
            (jacobian.shape[0], self._threads_of_rows),
            inputs=[motion, self.arrays, start, self._threads_of_rows, work],
            outputs=[jacobian],
            device=self._device,
        )

    def _allocate_paths(self, n: int) -> wp.array:
        if n not in self._travels:
            shape = n, len(self._rows.kind)
            self._travels[n] = wp.zeros(shape, dtype=self._scalar, device=self._device)
        return self._travels[n]

    def _launch_place(self, body_q: wp.array, work: Any) -> None:
        launch(
            self._kernels.place,
            body_q.shape[0],
            inputs=[body_q, self.arrays],
            outputs=[work],
            device=self._device,
        )


def needs_gjk(kinds: np.ndarray) -> bool:
    """Return True if there are shapes whose distances need GJK.

    Spheres, capsules and half-spaces have closed forms.
    """
    return not bool(np.all(np.isin(kinds, (*_ROUND, _PLANE))))


def _write_first(array: wp.array, values: np.ndarray) -> None:
    """Write the first entries of a device array."""
    whole = array.numpy()
    whole[: len(values)] = values
    if not wp.get_device(array.device).is_cpu:
        array.assign(whole)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision checks of many configurations of a model at once.

A pair of shapes collides if their distance, see :mod:`ros_ik.kinematics.collision.distance.gjk`,
does not exceed a margin. A pair is also reported as colliding if rounding makes this uncertain, or
if coordinates are not finite. Pairs whose bounding spheres are farther apart are skipped.
"""

from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.collision.checks.collision_arguments import checked_margins
from ros_ik.kinematics.collision.checks.collision_arguments import checked_pairs
from ros_ik.kinematics.collision.checks.collision_kernels import collision_kernels
from ros_ik.kinematics.collision.checks.lasting_contact import always_in_contact
from ros_ik.kinematics.collision.checks.lasting_contact import often_in_contact
from ros_ik.kinematics.collision.distance.gjk import shape_arrays
from ros_ik.kinematics.runtime.array_exchange import check_device
from ros_ik.kinematics.runtime.array_exchange import exchanged
from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.batch_arrays import cast_into
from ros_ik.kinematics.runtime.batch_arrays import type_name
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.model_argument import require_model
from ros_ik.model.shapes.collision_shapes import convex_shapes
from ros_ik.numbers import real_array

if TYPE_CHECKING:
    from ros_ik.model.model import Model


class CollisionChecker(ReadOnce):
    """Checker of up to n configurations of a model in one launch.

    Meshes are replaced by their convex hulls, planes by half-spaces; see :class:`ConvexShapes`. A
    configuration is one row of coordinates, with those of mimic joints filled in (see
    :meth:`Model.apply_mimic`).

    Attributes:
        model: The model.
        n: Largest number of configurations in one launch.
        margin: Distance [m] up to which each pair collides, [n_pairs].
        scalar: Floating-point type, ``wp.float32`` or ``wp.float64``.
        pairs: Pairs of shapes that are checked, as indices into the model, int [n_pairs, 2].
        ignored_pairs: Pairs that are not checked, because a shape has no geometry (a mesh whose
            file was not found) or because both are planes, int [n, 2].
        ignored_shapes: Names of the shapes without geometry.
        shapes: The shapes of the checked pairs.
    """

    read_once = frozenset(('model', 'n', 'scalar', 'pairs', 'margin', 'shapes'))

    @shares_launch_lock
    def __init__(
        self,
        model: 'Model',
        n: int,
        *,
        margin: float | np.ndarray = 0.0,
        pairs: Any = None,
        scalar: type = wp.float32,
    ) -> None:
        """Collect the shapes and allocate.

        Args:
            model: The model.
            n: Largest number of configurations in one launch.
            margin: Distance [m] up to which a pair collides, 0 or more; one for all pairs, or one
                for each, [n_pairs].
            pairs: Pairs of shapes, int [n_pairs, 2]; None for ``model.shape_contact_pairs``.
            scalar: Floating-point type. For shapes of a metre, float32 distances have errors of
                1e-6 m, and are up to 1e-5 m too large between two curved shapes. Errors never hide
                a collision.

        Raises:
            ArgumentError: An argument of another type or shape, out of range, or a pair of
                unknown shapes or of one body.
        """
        if not any(scalar is known for known in (wp.float32, wp.float64)):
            raise ArgumentError(f'scalar must be wp.float32 or wp.float64, got {scalar!r}')
        self.model, self.scalar = require_model(model), scalar
        self.n = checked_index('n', n, np.iinfo(np.int32).max, least=1)
        asked = checked_pairs(model, pairs)
        margins = checked_margins(margin, len(asked))
        self.shapes = convex_shapes(model, np.unique(asked))
        self.ignored_shapes = tuple(model.shape_label[k] for k in self.shapes.ignored)
        planes = model.shape_type.numpy()[asked] == GeoType.PLANE
        known = np.all(np.isin(asked, self.shapes.shapes), axis=1) & ~np.all(planes, axis=1)
        self.pairs, self.ignored_pairs = read_only(asked[known]), asked[~known]
        self.margin = read_only(margins[known])
        self._allocate()

    def _allocate(self) -> None:
        """Allocate the arrays on the device."""
        device, types = self.model.device, spatial_functions(self.scalar)
        self._kernels = collision_kernels(self.scalar)
        self._tree = kinematic_tree(self.model, self.scalar)
        self._arrays = shape_arrays(self.shapes, self.scalar, device)
        rows = np.searchsorted(self.shapes.shapes, self.pairs)
        self._pairs = wp.array(rows, dtype=wp.vec2i, device=device)
        self._margins = wp.array(self.margin, dtype=self.scalar, device=device)
        coords = self.model.joint_coord_count
        self._joint_q = wp.zeros((self.n, coords), dtype=self.scalar, device=device)
        body_shape = self.n, self.model.body_count
        self._body_q = wp.zeros(body_shape, dtype=types.transform, device=device)
        shape_shape = self.n, len(self.shapes.shapes)
        self._shape_q = wp.zeros(shape_shape, dtype=types.transform, device=device)
        self._collides = wp.zeros(self.n, dtype=wp.int32, device=device)
        self._distance = wp.zeros(self.n, dtype=self.scalar, device=device)
        self._pair = wp.zeros(self.n, dtype=wp.int32, device=device)

    @shares_launch_lock
    def check(self, joint_q: Any) -> np.ndarray:
        """Find the configurations that collide.

        Args:
            joint_q: Coordinates, shape [k, joint_coord_count], k <= n; of any library, float32 or
                float64. A row that is not finite collides, unless there are no pairs.

        Returns:
            bool [k], True if a pair is within its margin.

        Raises:
            ArgumentError: A wrong shape, type or device.
        """
        rows = self._coordinates(joint_q)
        self._launch(rows, self._kernels.check, [self._margins], [self._collides])
        return self._collides.numpy()[: rows.shape[0]] != 0

    def launch(self, joint_q: wp.array, out: wp.array, *, first: int = 0) -> None:
        """Check on the device; allocates nothing, so a graph can capture it.

        Args:
            joint_q: Coordinates, shape [k, joint_coord_count], k <= n - first, in the type
                ``scalar``.
            out: Output, int32 [k]: 1 if a pair is within its margin.
            first: First row of the work space to use. Concurrent launches need separate rows.

        Raises:
            ArgumentError: A wrong shape, type or device.
        """
        self._check_rows(joint_q.shape, checked_index('first', first, self.n))
        if joint_q.dtype != self.scalar:
            raise ArgumentError(
                f'joint_q must be {self.scalar.__name__}, got {type_name(joint_q.dtype)}'
            )
        if out.shape != joint_q.shape[:1] or out.dtype != wp.int32:
            raise ArgumentError(
                f'out must have shape [{joint_q.shape[0]}] of int32, got {list(out.shape)} of '
                f'{type_name(out.dtype)}'
            )
        device = wp.get_device(self.model.device)
        check_device('joint_q', joint_q, device)
        check_device('out', out, device)
        self._launch(joint_q, self._kernels.check, [self._margins], [out], first)

    @shares_launch_lock
    def distances(self, joint_q: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the least distance of each configuration.

        Args:
            joint_q: As in :meth:`check`.

        Returns:
            The least distance [m], [k], and its pair, as a row of ``pairs``, [k]. Without pairs
            they are inf and -1; if a coordinate is not finite, -inf and -1. The distance of
            overlapping boxes, cylinders and meshes is 0 minus their radii, not the penetration
            depth.

        Raises:
            ArgumentError: A wrong shape, type or device.
        """
        rows = self._coordinates(joint_q)
        self._launch(rows, self._kernels.least, [], [self._distance, self._pair])
        count = rows.shape[0]
        return self._distance.numpy()[:count].copy(), self._pair.numpy()[:count].copy()

    @shares_launch_lock
    def pair_distances(self, joint_q: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the distance of every pair; allocates its results.

        Args:
            joint_q: As in :meth:`check`, finite.

        Returns:
            The distances [m], [k, n_pairs], and the nearest points of the two surfaces in the
            world [m], [k, n_pairs, 2, 3].

        Raises:
            ArgumentError: A wrong shape, type or device, or a coordinate that is not finite.
        """
        rows = self._coordinates(joint_q)
        if not np.all(np.isfinite(rows.numpy())):
            raise ArgumentError('joint_q must be finite')
        vec3, device = spatial_functions(self.scalar).vec3, self.model.device
        shape = rows.shape[0], len(self.pairs)
        distance = wp.zeros(shape, dtype=self.scalar, device=device)
        points = wp.zeros((*shape, 2), dtype=vec3, device=device)
        work = [self._body_q, self._shape_q]
        inputs = [self._tree.arrays, self._arrays, rows]
        launch(self._kernels.place, shape[0], inputs=inputs, outputs=work, device=device)
        inputs = [self._arrays, self._pairs, self._shape_q]
        outputs = [distance, points]
        launch(self._kernels.pairs, shape, inputs=inputs, outputs=outputs, device=device)
        return distance.numpy(), points.numpy()

    def pair_names(self, k: int) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return the names of link and shape for both sides of a pair; 'world' for the world.

        Raises:
            ArgumentError: There is no such pair.
        """
        row = self.pairs[checked_index('k', k, len(self.pairs))]
        first, second = (self._names(int(shape)) for shape in row)
        return first, second

    def _names(self, shape: int) -> tuple[str, str]:
        """Return link and label of a shape."""
        body = int(self.model.shape_body.numpy()[shape])
        link = self.model.body_label[body] if body >= 0 else 'world'
        return link, self.model.shape_label[shape]

    def _launch(
        self,
        joint_q: wp.array,
        kernel: wp.Kernel,
        values: list[Any],
        outputs: list[wp.array],
        first: int = 0,
    ) -> None:
        """Launch a kernel over configurations."""
        work = self._body_q, self._shape_q
        if first > 0:
            work = self._body_q[first:], self._shape_q[first:]
        launch(
            kernel,
            dim=joint_q.shape[0],
            inputs=[self._tree.arrays, self._arrays, self._pairs, *values, joint_q],
            outputs=[*work, *outputs],
            device=self.model.device,
        )

    def _coordinates(self, joint_q: Any) -> wp.array:
        """Return coordinates as an array of the checker's type, [k, joint_coord_count]."""
        if is_exchanged(joint_q):
            given = exchanged('joint_q', joint_q)
            self._check_rows(given.shape)
            given, scalar = batch_input('joint_q', given, given.shape[1], self.model.device)
            if scalar is self.scalar:
                return given
            rows = self._joint_q[: len(given)]
            cast_into(rows, given)
            return rows
        values = real_array('joint_q', joint_q)
        self._check_rows(values.shape)
        rows = self._joint_q[: len(values)]
        rows.assign(values.astype(wp.dtype_to_numpy(self.scalar)))
        return rows

    def _check_rows(self, shape: tuple[int, ...], first: int = 0) -> None:
        """Raise ArgumentError unless coordinates have a valid shape."""
        coords, most = self.model.joint_coord_count, self.n - first
        if len(shape) != 2 or shape[1] != coords or not 0 < shape[0] <= most:
            raise ArgumentError(
                f'joint_q must have shape [k, {coords}], 1 <= k <= {most}, got {list(shape)}'
            )


def always_colliding_pairs(
    model: 'Model', *, margin: float = 0.0, fraction: float = 1.0, pairs: Any = None
) -> np.ndarray:
    """Return the pairs that collide at every sampled configuration.

    These shapes overlap or touch by design, see :func:`in_contact`. Checks of solutions leave them
    out. Meshes are replaced by their convex hulls, whose hollows another mesh may occupy.

    Args:
        model: The model.
        margin: Distance [m] up to which a pair collides.
        fraction: 1 for the pairs that collide at the neutral and at 1000 random configurations.
            Less for those that collide at the neutral one and at this fraction of 200 random ones.
            The seed is fixed.
        pairs: The pairs to examine; None for ``model.shape_contact_pairs``.

    Returns:
        Pairs of shapes as indices into the model, int [n, 2].

    Raises:
        ArgumentError: As for :class:`CollisionChecker`, or a fraction outside [0, 1].
    """
    if not 0.0 <= fraction <= 1.0:
        raise ArgumentError(f'fraction must be in [0, 1], got {fraction}')
    known = CollisionChecker(model, 1, margin=margin, pairs=pairs, scalar=wp.float64).pairs

    def distances(joint_q: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the distances of some of the pairs [m], [k, m]."""
        checker = CollisionChecker(model, len(joint_q), pairs=known[rows], scalar=wp.float64)
        return checker.pair_distances(joint_q)[0]

    if fraction < 1.0:
        return known[often_in_contact(model, len(known), margin, distances, fraction)]
    return known[always_in_contact(model, len(known), margin, distances)]

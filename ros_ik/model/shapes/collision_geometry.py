# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision geometry of a robot: convex primitives on its links, and pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.tables.rigid_parts import adjacent_bodies
from ros_ik.model.building.tables.rigid_parts import connected_bodies
from ros_ik.model.conventions.checks import check_flags
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.checks import checked_rows
from ros_ik.model.conventions.checks import link_indices
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.model import Model
from ros_ik.model.model_argument import require_model
from ros_ik.model.shapes.collision_shapes import convex_shapes
from ros_ik.numbers import host_array
from ros_ik.numbers import real_array

_COLUMNS = ('kind', 'body', 'pose', 'size', 'radius', 'bound', 'error', 'shape')


@dataclasses.dataclass(frozen=True, eq=False)
class CollisionGeometry:
    """Primitives of a model, m of them; the columns are those of ConvexShapes.

    Attributes:
        model: The model.
        kind: GeoType of each, [m].
        body: Link that carries it, -1 for the world, [m].
        pose: Pose of the core in the link, x y z qx qy qz qw, [m, 7].
        size: Half extents of the core along its axes [m], [m, 3].
        radius: Radius about the core [m], [m].
        bound: Radius of an enclosing sphere about the origin of the pose [m], [m].
        first: Index of its first point in ``points``, [m].
        count: Number of its points, [m].
        points: Points of all hulls in their poses [m], [n, 3].
        error: Excess over the convex hull of the represented shape [m], [m].
        shape: Represented shape of the model, -1 for one given by the user, [m].
        ignored: Labels of missing shapes, whose meshes were not read.
    """

    model: Model
    kind: np.ndarray
    body: np.ndarray
    pose: np.ndarray
    size: np.ndarray
    radius: np.ndarray
    bound: np.ndarray
    first: np.ndarray
    count: np.ndarray
    points: np.ndarray
    error: np.ndarray
    shape: np.ndarray
    ignored: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of primitives."""
        return len(self.kind)

    @classmethod
    def from_model(
        cls,
        model: Model,
        links: Sequence[int | str] | None = None,
        *,
        allow_missing: bool = False,
    ) -> CollisionGeometry:
        """Create the colliding shapes of a model without fits; meshes become convex hulls.

        Args:
            model: The model.
            links: Names or indices of the links, -1 for the world; None for all.
            allow_missing: True to ignore shapes without a mesh file, and list them in ``ignored``.
                Otherwise they are an error, because they would not be checked.

        Raises:
            ArgumentError: No model, an unknown link, or a shape whose mesh was not found.
        """
        check_flags(allow_missing=allow_missing)
        flags, body = require_model(model).shape_flags.numpy(), model.shape_body.numpy()
        wanted = (flags & int(ShapeFlags.COLLIDE_SHAPES)) != 0
        if links is not None:
            wanted &= np.isin(body, link_indices('links', model, links))
        found = cls.from_shapes(model, np.flatnonzero(wanted))
        if found.ignored and not allow_missing:
            names = ', '.join(repr(label) for label in found.ignored[:3])
            raise ArgumentError(
                f'model has {len(found.ignored)} shapes without a geometry in memory ({names}); '
                'give package_paths to Model.from_urdf, choose links, or allow_missing'
            )
        return found

    @classmethod
    def from_shapes(cls, model: Model, shapes: Sequence[int] | np.ndarray) -> CollisionGeometry:
        """Take some shapes of a model as they are; ``ignored`` lists those without a size.

        Raises:
            ArgumentError: An unknown shape, or a mesh whose vertices are not finite.
            ModelError: A mesh file that cannot be read.
        """
        found = convex_shapes(require_model(model), shapes)
        return cls(
            model=model,
            error=found.hull_error,
            shape=found.shapes,
            ignored=tuple(model.shape_label[k] for k in found.ignored),
            **{
                name: getattr(found, name)
                for name in ('kind', 'body', 'pose', 'size', 'radius', 'bound', 'first', 'count')
            },
            points=found.points,
        )

    @classmethod
    def from_spheres(
        cls, model: Model, links: Sequence[int | str], centers: Any, radii: Any
    ) -> CollisionGeometry:
        """Create spheres on links.

        Args:
            model: The model.
            links: Link of each sphere, name or index, -1 for the world, [n].
            centers: Centres in the links [m], [n, 3].
            radii: Radii [m], one or [n].

        Raises:
            ArgumentError: An unknown link, a wrong shape or a negative radius.
        """
        body = np.array(link_indices('links', require_model(model), links), dtype=int)
        count = len(body)
        center = checked_array('centers', centers, (count, 3))
        radius = real_array('radii', radii)
        radius = np.full(count, radius) if radius.ndim == 0 else radius
        radius = checked_array('radii', radius, (count,))
        if np.any(radius < 0.0):
            raise ArgumentError(f'radii must not be negative, got {radius.min()}')
        ends = np.zeros((count, 3))
        return cls.from_capsules(model, body, np.stack([center + ends, center - ends], 1), radius)

    @classmethod
    def from_capsules(
        cls,
        model: Model,
        body: np.ndarray,
        ends: np.ndarray,
        radius: np.ndarray,
        *,
        error: np.ndarray | None = None,
        shape: np.ndarray | None = None,
    ) -> CollisionGeometry:
        """Create capsules, or spheres if both ends coincide.

        Args:
            model: The model.
            body: Link of each, [n].
            ends: Ends of the axes in the links [m], [n, 2, 3].
            radius: Radii [m], [n].
            error: Excess of each over the represented shape [m]; None for 0.
            shape: Shape of the model that each represents, or None.

        Raises:
            ArgumentError: An unknown link, a wrong shape, a number that is not finite or a
                negative radius.
        """
        body = checked_rows('body', body, require_model(model).body_count, least=-1)
        count = len(body)
        radius = checked_array('radius', radius, (count,))
        if np.any(radius < 0.0):
            raise ArgumentError(f'radius must not be negative, got {radius.min()}')
        ends = checked_array('ends', ends, (count, 2, 3))
        excess = checked_array('error', np.zeros(count) if error is None else error, (count,))
        shapes = np.full(count, -1)
        if shape is not None:
            shapes = checked_rows('shape', shape, model.shape_count, least=-1)
            if len(shapes) != count:
                raise ArgumentError(f'shape: expected {count} shapes, got {len(shapes)}')
        axis = 0.5 * (ends[:, 1] - ends[:, 0])
        half = np.linalg.norm(axis, axis=1)
        pose = np.zeros((count, 7))
        pose[:, :3] = ends.mean(axis=1)
        pose[:, 3:] = _rotations_of_z(axis, half)
        zeros = np.zeros(count, dtype=int)
        return cls(
            model=model,
            kind=np.where(half > 0.0, int(GeoType.CAPSULE), int(GeoType.SPHERE)),
            body=body,
            pose=pose,
            size=np.column_stack([np.zeros((count, 2)), half]),
            radius=radius,
            bound=half + radius,
            first=zeros,
            count=zeros,
            points=np.zeros((0, 3)),
            error=excess,
            shape=shapes,
        )

    def select(self, rows: np.ndarray) -> CollisionGeometry:
        """Return some of the primitives; ``rows`` is a mask or indices.

        Raises:
            ArgumentError: A mask of another length, or an unknown primitive.
        """
        mask = host_array(rows, 'rows')
        if mask.dtype == bool and mask.shape == (len(self),):
            kept = np.flatnonzero(mask)
        else:
            kept = checked_rows('rows', rows, len(self))
        columns = {name: getattr(self, name)[kept] for name in (*_COLUMNS, 'first', 'count')}
        return dataclasses.replace(self, **columns)

    def __add__(self, other: CollisionGeometry) -> CollisionGeometry:
        """Return the primitives of both.

        Raises:
            ArgumentError: They belong to different models.
        """
        if other.model is not self.model:
            raise ArgumentError('both geometries must belong to one model')
        columns = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in (*_COLUMNS, 'count', 'points')
        }
        first = np.concatenate([self.first, other.first + len(self.points)])
        ignored = self.ignored + other.ignored
        return CollisionGeometry(model=self.model, first=first, ignored=ignored, **columns)

    def self_pairs(self) -> np.ndarray:
        """Return the pairs of primitives that may collide, int [n, 2].

        Primitives that represent shapes follow ``model.shape_contact_pairs``. Other pairs may
        collide unless their links form one rigid part or are adjacent at a joint; the SRDF takes
        precedence.
        """
        first, second = np.triu_indices(len(self), 1)
        body = self.body
        apart = body[first] != body[second]
        planes = self.kind == int(GeoType.PLANE)
        first, second = (
            side[apart & ~(planes[first] & planes[second])] for side in (first, second)
        )
        allowed = np.zeros((self.model.shape_count + 1,) * 2, dtype=bool)
        contact = self.model.shape_contact_pairs.numpy().reshape(-1, 2)
        allowed[contact[:, 0], contact[:, 1]] = allowed[contact[:, 1], contact[:, 0]] = True
        shape_a, shape_b = self.shape[first], self.shape[second]
        known = (shape_a >= 0) & (shape_b >= 0)
        by_link = link_pairs(self.model)[body[first], body[second]]
        keep = np.where(known, allowed[shape_a, shape_b], by_link)
        return np.stack([first[keep], second[keep]], axis=1)


def as_geometry(name: str, given: Any) -> CollisionGeometry:
    """Return primitives as they are, and the shapes of a model without fits.

    Args:
        name: Name of the argument, for errors.
        given: The primitives or the model.

    Raises:
        ArgumentError: Neither, or a model with a shape whose mesh was not found.
    """
    if isinstance(given, CollisionGeometry):
        return given
    if not isinstance(given, Model):
        raise ArgumentError(
            f'{name} must be a CollisionGeometry or a ros_ik Model, got {type(given).__name__}'
        )
    return CollisionGeometry.from_model(given)


def rigid_parts(model: Model) -> np.ndarray:
    """Return for each link the first link of its rigid part, [body_count + 1].

    The world is the last entry, with index -1. Links fixed to it have its number, body_count.
    """
    return connected_bodies(
        model.body_count,
        model.joint_parent.numpy(),
        model.joint_child.numpy(),
        model.joint_type.numpy(),
    )


def link_pairs(model: Model) -> np.ndarray:
    """Return which links may collide, bool [body_count + 1, body_count + 1], world last.

    Links of one rigid part and links adjacent at a joint may not, unless the SRDF enables them;
    pairs that it disables may not either. Parts of robots that only the world connects may.
    """
    never = adjacent_bodies(
        model.body_count,
        model.joint_parent.numpy(),
        model.joint_child.numpy(),
        model.joint_type.numpy(),
    )
    if model.semantic is not None:
        for a, b in zip(*np.triu_indices(model.body_count, 1), strict=True):
            names = model.body_label[a], model.body_label[b]
            never[a, b] = never[b, a] = model.semantic.collision_disabled(*names, never[a, b])
    return ~never


def _rotations_of_z(axis: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return the shortest rotations from z to axes of these lengths, [n, 4]."""
    unit = np.where(length[:, None] > 0.0, axis, [0.0, 0.0, 1.0])
    unit = unit / np.where(length > 0.0, length, 1.0)[:, None]
    unit = unit * np.where(unit[:, 2:] < 0.0, -1.0, 1.0)  # a capsule is symmetric
    quaternion = np.column_stack([-unit[:, 1], unit[:, 0], np.zeros(len(unit)), 1.0 + unit[:, 2]])
    return quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)

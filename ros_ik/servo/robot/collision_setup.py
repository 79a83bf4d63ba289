# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision geometry of the robot for the barriers, and the links that may touch.

A description is untrusted, and its meshes may be missing, broken or huge. Unreadable shapes are
ignored with a warning.

Four modules decide that a pair is ignored for self-collision, in this order:

- :mod:`ros_ik.model.building.tables.collision_filters`: adjacent links, and pairs of the SRDF;
- ``CollisionGeometry.self_pairs`` of :mod:`ros_ik.model.shapes.collision_geometry`: the same for
  primitives, also without shapes in the model;
- this module: ``collision.ignore_pairs``;
- :mod:`ros_ik.servo.robot.touching_pairs`: pairs that touch by design, or because of their fits.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.model import Model
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.labels import link_names
from ros_ik.model.conventions.labels import listed
from ros_ik.model.conventions.labels import split_pair
from ros_ik.model.hulls.fit_cache import FitCache
from ros_ik.model.readers.mesh_files import MeshFile
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.servo.robot.shape_fits import ShapeFits
from ros_ik.servo.robot.touching_pairs import touching_pairs
from ros_ik.servo.robot.touching_pairs import TouchingPairs
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError

# Bounds for a description; the tested robots have up to 60 shapes and 3,000 pairs.
_MAX_SHAPES, _MAX_PAIRS = 1000, 50_000


@dataclasses.dataclass(frozen=True, eq=False)
class RobotShapes:
    """Primitives of a robot.

    Attributes:
        geometry: The primitives, padding included; may be empty. The last ones are hulls.
        hulls: Number of hulls of the links in ``tight``. They take part in the pairs alone,
            without margin and padding, and meet no obstacles.
        pairs: Pairs to keep apart, as rows of the geometry, int [n, 2].
        near: Names of link pairs that touch at nearly all configurations, and therefore are not
            checked.
        thick: Names of link pairs that touch only because the primitives are thicker than the
            shapes; these shapes are not checked against each other.
        tight: Names of link pairs whose primitives are always too near, while the links meet at
            some configurations only: their hulls are checked.
        hidden: Names of link pairs whose primitives are always too near, and whose hulls would
            hold the robot; these shapes are not checked against each other, but may meet.
        often: Names of link pairs that are checked, and nearer than the margin at half of random
            configurations or more.
        unmeasured: Links whose collision geometry is missing in whole or in part, in the order of
            the model; distances ignore it.
        warnings: Description of the ignored shapes.
    """

    geometry: CollisionGeometry
    hulls: int
    pairs: np.ndarray
    near: tuple[tuple[str, str], ...]
    thick: tuple[tuple[str, str], ...]
    tight: tuple[tuple[str, str], ...]
    hidden: tuple[tuple[str, str], ...]
    often: tuple[tuple[str, str], ...]
    unmeasured: tuple[str, ...]
    warnings: tuple[str, ...]

    def margins(self, margin: float) -> np.ndarray:
        """Return the distance to keep of each pair [m], [n]: the margin, 0 between hulls."""
        first_hull = len(self.geometry) - self.hulls
        return np.where(np.any(self.pairs >= first_hull, axis=1), 0.0, margin)


def robot_shapes(model: Model, settings: Settings) -> RobotShapes:
    """Collect the collision shapes of a model.

    Raises:
        SettingsError: ``collision.ignore_pairs`` does not name two links.
    """
    ignored = ignored_pairs(model, settings.collision_ignore_pairs)
    flags = model.shape_flags.numpy()
    colliding = np.flatnonzero(flags & int(ShapeFlags.COLLIDE_SHAPES))
    found = _Found(model)
    if len(colliding) > _MAX_SHAPES:
        found.leave_out(
            colliding,
            f'the description has {len(colliding)} collision shapes, more than the '
            f'{_MAX_SHAPES} accepted: no link is watched for collisions',
        )
        colliding = colliding[:0]
    geometry = _padded(found.geometry(colliding), settings.collision_padding)
    with LAUNCH_LOCK.shared():
        pairs = geometry.self_pairs()
    if len(pairs):
        body = geometry.body
        pairs = pairs[~ignored[body[pairs[:, 0]], body[pairs[:, 1]]]]
    if len(pairs) > _MAX_PAIRS:
        found.leave_out(
            colliding,
            f'{len(pairs)} pairs of collision shapes may meet, more than the {_MAX_PAIRS} '
            'accepted: links are not watched for collisions with each other',
        )
        pairs = pairs[:0]
    touching = TouchingPairs.none(len(pairs))
    if settings.collision_exclude_touching_pairs:
        margin, padding = settings.barriers_self_collision_margin, settings.collision_padding
        cache = FitCache.beside_kernels()
        touching = touching_pairs(geometry, pairs, margin, padding, found.fits, cache)
    tight, hulls = _tight_pairs(geometry, pairs[touching.tight], found.fits)
    return RobotShapes(
        geometry + hulls,
        len(hulls),
        np.concatenate([pairs[~touching.excluded], tight]),
        near=_names(geometry, pairs[touching.always]),
        thick=_names(geometry, pairs[touching.thick]),
        tight=_names(geometry, pairs[touching.tight]),
        hidden=_names(geometry, pairs[touching.hidden]),
        often=_names(geometry, pairs[touching.often]),
        unmeasured=found.unmeasured,
        warnings=tuple(found.warnings),
    )


def _tight_pairs(
    geometry: CollisionGeometry, pairs: np.ndarray, fits: ShapeFits
) -> tuple[np.ndarray, CollisionGeometry]:
    """Return pairs of the hulls that stand for pairs of primitives, and these hulls.

    Args:
        geometry: The primitives; the hulls follow them.
        pairs: Pairs of primitives whose shapes have hulls, int [n, 2].
        fits: The shapes.

    Returns:
        Pairs as rows, int [m, 2], each once; the hulls.
    """
    shapes = np.unique(np.sort(geometry.shape[pairs], axis=1), axis=0)
    hulls, row = CollisionGeometry.from_model(geometry.model, ()), dict[int, int]()
    for shape in np.unique(shapes).tolist():
        hull = fits.hull(shape)
        if hull is not None:
            row[shape] = len(geometry) + len(hulls)
            hulls = hulls + hull
    rows = [[row[a], row[b]] for a, b in shapes.tolist() if a in row and b in row]
    return np.array(rows, dtype=int).reshape(-1, 2), hulls


def _names(geometry: CollisionGeometry, pairs: np.ndarray) -> tuple[tuple[str, str], ...]:
    """Return the link pairs of primitive pairs, without repetition; 'world' for no link."""
    labels = [*geometry.model.body_label, 'world']
    first, second = geometry.body[pairs].reshape(-1, 2).T
    return tuple(dict.fromkeys((labels[a], labels[b]) for a, b in zip(first, second, strict=True)))


class _Found:
    """Primitives of shapes, and the shapes that are missing.

    Attributes:
        fits: The primitives of each shape.
        warnings: Description of the ignored shapes.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._missing = model, set[int]()
        self.fits = ShapeFits(model)
        self.warnings: list[str] = []

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Names of the links with ignored shapes, in the order of the model."""
        return link_names(self._model.body_label, self._missing)

    def leave_out(self, shapes: np.ndarray | list[int], sentence: str) -> None:
        """Record ignored shapes, and the reason."""
        self._missing.update(self._model.shape_body.numpy()[shapes].tolist())
        self.warnings.append(sentence)

    def geometry(self, shapes: np.ndarray) -> CollisionGeometry:
        """Return the primitives of all readable shapes."""
        model = self._model
        parts = [CollisionGeometry.from_model(model, ())]
        missing: list[int] = []
        unknown: list[int] = []
        for shape in shapes.tolist():
            try:
                part = self.fits.primitives(shape)
            except (ArgumentError, ModelError, OSError) as error:
                self.leave_out([shape], f'{error}; it is not watched for collisions')
                continue
            if part is not None:
                parts.append(part)
            else:
                is_mesh = isinstance(model.shape_source[shape], MeshFile)
                (missing if is_mesh else unknown).append(shape)
        for some, what in (
            (missing, 'meshes that were not found'),
            (unknown, 'of an unsupported geometry'),
        ):
            if some:
                bodies = set(model.shape_body.numpy()[some].tolist())
                self.leave_out(
                    some,
                    f'{len(some)} of {len(shapes)} collision shapes are {what} (on '
                    f'{listed(link_names(model.body_label, bodies))}); they are not watched for '
                    'collisions',
                )
        geometry = parts[0]
        for part in parts[1:]:
            geometry = geometry + part
        return geometry


def _padded(geometry: CollisionGeometry, padding: float) -> CollisionGeometry:
    """Return thicker primitives."""
    solid = geometry.kind != int(GeoType.PLANE)
    return dataclasses.replace(
        geometry,
        radius=geometry.radius + padding * solid,
        bound=geometry.bound + padding * solid,
        error=geometry.error + padding * solid,
    )


def ignored_pairs(model: Model, names: tuple[str, ...]) -> np.ndarray:
    """Return the link pairs that may touch, bool [body_count + 1, body_count + 1], world last.

    Args:
        model: The robot.
        names: Pairs as ``link_a:link_b``.

    Raises:
        SettingsError: ``collision.ignore_pairs`` does not name two links.
    """
    ignored = np.zeros((model.body_count + 1,) * 2, dtype=bool)
    for name in names:
        if ':' not in name:
            raise SettingsError(
                'collision.ignore_pairs', f"expected 'link_a:link_b', got {name!r}"
            )
        try:
            first, second = map(model.body_index, split_pair(name, model.body_label))
        except ArgumentError as error:
            raise SettingsError('collision.ignore_pairs', str(error)) from error
        ignored[first, second] = ignored[second, first] = True
    return ignored

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What the robot is made of for the barriers, and which of its links may meet.

A description is untrusted and its meshes may be missing, broken or huge: whatever cannot be read
is left out with a warning, and the robot runs with what there is.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.barriers import always_close
from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.model import Model
from ros_ik.model.collision_geometry import CollisionGeometry
from ros_ik.model.flags import ShapeFlags
from ros_ik.model.joint_type import GeoType
from ros_ik.servo.shape_fits import ShapeFits
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError

# Bounds on what a description may ask for; robots at hand have up to 60 shapes, 3,000 pairs.
_MOST_SHAPES, _MOST_PAIRS = 1000, 50_000


@dataclasses.dataclass(frozen=True, eq=False)
class RobotShapes:
    """Primitives of a robot.

    Attributes:
        geometry: The primitives, padding included; may be empty.
        pairs: Those that are to stay apart, as rows of the geometry, int [n, 2].
        near: Names of links that are nearer than the margin wherever the robot is, and so are not
            watched.
        warnings: What was left out, for a person.
    """

    geometry: CollisionGeometry
    pairs: np.ndarray
    near: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def robot_shapes(model: Model, settings: Settings) -> RobotShapes:
    """Gather the collision shapes of a model.

    Raises:
        SettingsError: ``collision.ignore_pairs`` names something else than two links.
    """
    ignored = _ignored_pairs(model, settings.collision_ignore_pairs)
    flags = model.shape_flags.numpy()
    colliding = np.flatnonzero(flags & int(ShapeFlags.COLLIDE_SHAPES))
    warnings: list[str] = []
    if len(colliding) > _MOST_SHAPES:
        warnings.append(
            f'the description has {len(colliding)} collision shapes, more than the '
            f'{_MOST_SHAPES} accepted: no link is watched for collisions'
        )
        colliding = colliding[:0]
    geometry = _geometry(model, colliding, settings, warnings)
    pairs = geometry.self_pairs()
    if len(pairs):
        body = geometry.body
        pairs = pairs[~ignored[body[pairs[:, 0]], body[pairs[:, 1]]]]
    if len(pairs) > _MOST_PAIRS:
        warnings.append(
            f'{len(pairs)} pairs of collision shapes may meet, more than the {_MOST_PAIRS} '
            'accepted: links are not watched for collisions with each other'
        )
        pairs = pairs[:0]
    close = always_close(geometry, pairs, settings.barriers_self_collision_margin)
    names = [tuple(model.body_label[geometry.body[k]] for k in pair) for pair in pairs[close]]
    return RobotShapes(geometry, pairs[~close], tuple(dict.fromkeys(names)), tuple(warnings))


def _geometry(
    model: Model, shapes: np.ndarray, settings: Settings, warnings: list[str]
) -> CollisionGeometry:
    """Return the primitives of shapes; what cannot be read is told in ``warnings``."""
    fits = ShapeFits(model)
    parts, missing = [CollisionGeometry.from_model(model, ())], []
    for shape in shapes.tolist():
        try:
            part = fits.primitives(shape)
        except (ArgumentError, ModelError, OSError) as error:
            warnings.append(f'{error}; it is not watched for collisions')
            continue
        if part is None:
            missing.append(model.shape_label[shape])
        else:
            parts.append(part)
    if missing:
        names = ', '.join(missing[:3]) + (', ...' if len(missing) > 3 else '')
        warnings.append(
            f'{len(missing)} of {len(shapes)} collision shapes are meshes that were not found '
            f'({names}); they are not watched for collisions'
        )
    geometry = parts[0]
    for part in parts[1:]:
        geometry = geometry + part
    return _padded(geometry, settings.collision_padding)


def _padded(geometry: CollisionGeometry, padding: float) -> CollisionGeometry:
    """Return thicker primitives."""
    solid = geometry.kind != int(GeoType.PLANE)
    return dataclasses.replace(
        geometry,
        radius=geometry.radius + padding * solid,
        bound=geometry.bound + padding * solid,
        error=geometry.error + padding * solid,
    )


def _ignored_pairs(model: Model, names: tuple[str, ...]) -> np.ndarray:
    """Return which links may touch, bool [body_count + 1, body_count + 1], the world last."""
    ignored = np.zeros((model.body_count + 1,) * 2, dtype=bool)
    for name in names:
        links = name.split(':')
        if len(links) != 2:
            raise SettingsError(
                'collision.ignore_pairs', f"expected 'link_a:link_b', got {name!r}"
            )
        try:
            first, second = (model.body_index(link) for link in links)
        except ArgumentError as error:
            raise SettingsError('collision.ignore_pairs', str(error)) from error
        ignored[first, second] = ignored[second, first] = True
    return ignored

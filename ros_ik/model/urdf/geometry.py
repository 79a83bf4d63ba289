# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Import of the collision and visual geometry of a URDF link."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ros_ik.errors import ModelError
from ros_ik.model.building.worlds.worlds import Worlds
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.rotations import quaternion_from_rpy
from ros_ik.model.readers.mesh_files import MeshFile
from ros_ik.model.readers.mesh_lookup import resolve_mesh
from ros_ik.model.readers.xml import float_attribute
from ros_ik.model.readers.xml import required
from ros_ik.model.readers.xml import vector_attribute

_KNOWN = ('box', 'sphere', 'cylinder', 'capsule', 'mesh')


def shape_element(part: Element) -> Element | None:
    """Return the shape of a <collision> or <visual>, None without one."""
    geometry = part.find('geometry')
    return geometry[0] if geometry is not None and len(geometry) else None


def is_known_shape(shape: Element | None) -> bool:
    """Return True for a shape that becomes one of the model; others are left out of visuals."""
    return shape is not None and shape.tag in _KNOWN


def add_shapes(
    builder: Worlds,
    body: int,
    link: str,
    element: Element,
    package_paths: Sequence[str | Path],
) -> None:
    """Add every shape of a link.

    Args:
        builder: Builder of the shapes. A missing mesh or an unsupported geometry adds a warning,
            and for collisions a shape without a size.
        body: The link's body.
        link: The link's name.
        element: The link's element.
        package_paths: Folders in which meshes are looked up.

    Raises:
        ModelError: A size that is missing, negative or not a number.
    """
    for tag in ('collision', 'visual'):
        for number, part in enumerate(element.iterfind(tag)):
            label = part.get('name') or f'{link}/{tag}_{number}'
            where = f'link {link!r} {tag} {number}'
            shape = shape_element(part)
            if shape is None:
                raise ModelError(where, 'has no geometry')
            if not is_known_shape(shape):
                builder.urdf_warnings.append(
                    f'{where}: ignored, geometry <{shape.tag}> is unknown'
                )
                if tag == 'collision':
                    # Without a size, so that distance computations report it as missing.
                    builder.add_shape(body, GeoType.NONE, label=label, is_collision=True)
                continue
            geo_type, scale, source = _read_shape(shape, where, package_paths)
            if source is not None and source.path is None:
                builder.urdf_warnings.append(
                    f'{where}: mesh {source.uri[:200]!r} not found in the package paths'
                )
            builder.add_shape(
                body,
                geo_type,
                label=label,
                xform=read_origin(part, where),
                scale=scale,
                source=source,
                is_collision=tag == 'collision',
            )


def read_origin(parent: Element, where: str) -> np.ndarray:
    """Return the pose of an element's <origin>, shape [7]; the identity without one."""
    origin = parent.find('origin')
    xyz = vector_attribute(origin, 'xyz', f'{where} origin', (0.0, 0.0, 0.0))
    rpy = vector_attribute(origin, 'rpy', f'{where} origin', (0.0, 0.0, 0.0))
    return np.concatenate([xyz, quaternion_from_rpy(*rpy)])


def _read_shape(
    shape: Element, where: str, package_paths: Sequence[str | Path]
) -> tuple[GeoType, tuple[float, float, float], MeshFile | None]:
    """Return type, scale and mesh of a geometry element, in Newton's conventions."""
    where = f'{where} <{shape.tag}>'
    if shape.tag == 'mesh':
        factors = vector_attribute(shape, 'scale', where, (1.0, 1.0, 1.0))
        found = resolve_mesh(required(shape, 'filename', where), package_paths)
        source = MeshFile(found.uri, found.path)
        return GeoType.MESH, (float(factors[0]), float(factors[1]), float(factors[2])), source
    if shape.tag == 'box':
        required(shape, 'size', where)
        size = vector_attribute(shape, 'size', where, (0.0, 0.0, 0.0))
        _check_not_negative(where, 'size', size)
        return (
            GeoType.BOX,
            (0.5 * float(size[0]), 0.5 * float(size[1]), 0.5 * float(size[2])),
            None,
        )
    radius = float_attribute(shape, 'radius', where)
    _check_not_negative(where, 'radius', radius)
    if shape.tag == 'sphere':
        return GeoType.SPHERE, (radius, 0.0, 0.0), None
    length = float_attribute(shape, 'length', where)
    _check_not_negative(where, 'length', length)
    kind = GeoType.CYLINDER if shape.tag == 'cylinder' else GeoType.CAPSULE
    return kind, (radius, 0.5 * length, 0.0), None


def _check_not_negative(where: str, name: str, value: float | np.ndarray) -> None:
    """Raise ModelError for a negative size; zero thickness is accepted."""
    if np.any(np.asarray(value) < 0.0):
        raise ModelError(where, f'{name} must not be negative, got {value}')

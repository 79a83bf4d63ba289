# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Visual meshes of a robot description, one scene per link, read with trimesh."""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses
import threading
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import trimesh

from ros_ik.errors import ModelError
from ros_ik.model import Model
from ros_ik.model.readers.mesh_files import MeshFile
from ros_ik.model.readers.xml import parse_document
from ros_ik.model.shapes.shape_scene import shape_scene
from ros_ik.model.urdf.geometry import is_known_shape
from ros_ik.model.urdf.geometry import shape_element
from ros_ik.viewer.robot.coarse_meshes import coarsen
from ros_ik.viewer.robot.palette import LINK

_UNPAINTED = np.array([*LINK.color, 255.0 * LINK.opacity]) / 255.0


@dataclasses.dataclass(frozen=True, eq=False)
class LinkMesh:
    """Drawing of one link, in its frame.

    Attributes:
        link: Index of the link.
        glb: Binary glTF of it in colour.
        vertices: Its vertices [m], float32 [n, 3].
        faces: Its triangles, indices of vertices, uint32 [m, 3].
    """

    link: int
    glb: bytes
    vertices: np.ndarray
    faces: np.ndarray


def read_meshes(
    model: Model, text: str, triangles: int, problems: list[str], ended: threading.Event
) -> list[LinkMesh]:
    """Return the drawing of each link; stops early once ``ended`` is set.

    Visual shapes are drawn, or collision shapes if a robot has no visual ones.

    Args:
        model: The robot.
        text: Its description, with the colours.
        triangles: About how many triangles the robot may have, see
            :func:`~ros_ik.viewer.robot.coarse_meshes.coarsen`.
        problems: Receives a message for each shape that cannot be drawn.
        ended: Event that stops the reading.
    """
    parts: list[trimesh.Trimesh] = []
    links: list[int] = []
    for link, found in _read_parts(model, text, problems):
        if ended.is_set():
            return []
        parts += found
        links += len(found) * [link]
    scenes: dict[int, trimesh.Scene] = {}
    for link, part in zip(links, coarsen(parts, triangles), strict=True):
        scenes.setdefault(link, trimesh.Scene()).add_geometry(part)
    return [_link_mesh(link, scene) for link, scene in scenes.items()]


def _read_parts(
    model: Model, text: str, problems: list[str]
) -> Iterator[tuple[int, list[trimesh.Trimesh]]]:
    """Yield the parts of each shape, in the frame of its link and in colour."""
    groups = model.shape_collision_group.numpy()
    # Visual shapes collide with nothing: group 0.
    is_drawn = groups == 0 if np.any(groups == 0) else np.ones(len(groups), dtype=bool)
    colors = _colors(text)
    bodies, types = model.shape_body.numpy(), model.shape_type.numpy()
    poses, scales = model.shape_transform.numpy(), model.shape_scale.numpy()
    missing: list[str] = []
    for link, name in enumerate(model.body_label):
        shapes = np.flatnonzero(is_drawn & (bodies == link)).tolist()
        given = colors.get(name, [])
        for number, shape in enumerate(shapes):
            color = given[number] if len(given) == len(shapes) else None
            try:
                scene = shape_scene(int(types[shape]), scales[shape], model.shape_source[shape])
            except ModelError as error:
                problems.append(str(error))
                continue
            if scene is None:
                source = model.shape_source[shape]
                if isinstance(source, MeshFile):
                    missing.append(source.uri)
                continue
            _paint(scene, color)
            scene.apply_transform(_matrix(poses[shape]))
            yield link, [part for part in scene.dump() if isinstance(part, trimesh.Trimesh)]
    if missing:
        problems.append(
            f'{len(missing)} meshes not found in the package paths, the first is {missing[0]!r}'
        )


def _link_mesh(link: int, scene: trimesh.Scene) -> LinkMesh:
    whole = scene.to_mesh()
    return LinkMesh(
        link,
        scene.export(file_type='glb'),
        np.asarray(whole.vertices, dtype=np.float32),
        np.asarray(whole.faces, dtype=np.uint32),
    )


def _paint(scene: trimesh.Scene, color: np.ndarray | None) -> None:
    """Set a colour: on everything if one is given, otherwise on parts without one."""
    for geometry in scene.geometry.values():
        if not isinstance(geometry, trimesh.Trimesh):
            continue
        own: Any = geometry.visual
        if color is not None or not own.defined:
            material = trimesh.visual.material.PBRMaterial(
                baseColorFactor=_UNPAINTED if color is None else color,
                metallicFactor=0.1,
                roughnessFactor=0.7,
            )
            geometry.visual = trimesh.visual.TextureVisuals(material=material)


def _matrix(pose: np.ndarray) -> np.ndarray:
    """Return the matrix [4, 4] of a pose x y z qx qy qz qw."""
    x, y, z, w = pose[3:]
    matrix = trimesh.transformations.quaternion_matrix([w, x, y, z])
    matrix[:3, 3] = pose[:3]
    return matrix


def _colors(text: str) -> dict[str, list[np.ndarray | None]]:
    """Return the colour of each visual shape of the model [4] by link, or None, in its order."""
    root = parse_document(text, 'robot')
    named = {}
    for material in root.iterfind('material'):
        named[material.get('name')] = _rgba(material)
    return {
        link.get('name', ''): [
            _visual_color(visual, named)
            for visual in link.iterfind('visual')
            if is_known_shape(shape_element(visual))
        ]
        for link in root.iterfind('link')
    }


def _visual_color(
    visual: Element, named: dict[str | None, np.ndarray | None]
) -> np.ndarray | None:
    material = visual.find('material')
    if material is None:
        return None
    own = _rgba(material)
    return named.get(material.get('name')) if own is None else own


def _rgba(material: Element) -> np.ndarray | None:
    color = material.find('color')
    if color is None or color.get('rgba') is None:
        return None
    try:
        values = [float(word) for word in color.get('rgba', '').split()]
    except ValueError:
        return None
    return np.clip(values, 0.0, 1.0) if len(values) == 4 and np.isfinite(values).all() else None

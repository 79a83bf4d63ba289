# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Primitives as markers, and frames, lines and colours."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import math

from geometry_msgs.msg import Point
from geometry_msgs.msg import Vector3
import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from ros_ik.model.conventions import poses
from ros_ik.model.conventions.joint_type import GeoType

# Size of the drawn part of a half-space [m].
_PLANE_SIZE, _PLANE_THICKNESS = 2.0, 0.002
_FRAME_LENGTH, _LINE_WIDTH = 0.1, 0.005
# Arc of a rotation: radius [m], angle between its points [rad], length of its arrow [m].
_ARC_RADIUS, _ARC_STEP, _ARC_TIP = 0.1, 0.1, 0.03
_AXIS_COLORS = ((1.0, 0.1, 0.1), (0.1, 0.9, 0.1), (0.2, 0.3, 1.0))
# Distance beyond the margin at which a pair is drawn in green [m].
_CALM = 0.1

Drawing = tuple[Marker, np.ndarray]


def primitive(kind: int, size: np.ndarray, radius: float, bound: float) -> Iterator[Drawing]:
    """Yield the markers of a primitive, each with its pose [7] in the frame of the core.

    Args:
        kind: GeoType.
        size: Half extents of the core along its axes [m], [3].
        radius: Radius about the core [m].
        bound: Radius of the enclosing sphere [m], for kinds that are drawn as a sphere.
    """
    full = 2.0 * (size + radius)
    at_home = np.array(poses.IDENTITY_POSE)
    if kind == GeoType.CAPSULE:
        yield _solid(Marker.CYLINDER, (2.0 * radius, 2.0 * radius, 2.0 * size[2])), at_home
        for end in (-size[2], size[2]):
            at_end = at_home.copy()
            at_end[2] = end
            yield _solid(Marker.SPHERE, (2.0 * radius,) * 3), at_end
    elif kind in (GeoType.CYLINDER, GeoType.CONE):
        yield _solid(Marker.CYLINDER, full), at_home
    elif kind == GeoType.BOX:
        yield _solid(Marker.CUBE, full), at_home
    elif kind in (GeoType.SPHERE, GeoType.ELLIPSOID):
        yield _solid(Marker.SPHERE, full), at_home
    elif kind == GeoType.PLANE:
        yield _solid(Marker.CUBE, (_PLANE_SIZE, _PLANE_SIZE, _PLANE_THICKNESS)), at_home
    else:
        yield _solid(Marker.SPHERE, (2.0 * bound,) * 3), at_home


def frame(pose: np.ndarray, alpha: float, length: float = _FRAME_LENGTH) -> Marker:
    """Return the axes of a pose [7] as red, green and blue lines."""
    tips = poses.multiply(pose, _axis_tips(length))[:, :3]
    marker = lines(np.stack([np.tile(pose[:3], (3, 1)), tips], axis=1))
    marker.colors = [color(*rgb, alpha) for rgb in _AXIS_COLORS for _ in range(2)]
    return marker


def lines(segments: np.ndarray) -> Marker:
    """Return segments [n, 2, 3] without colours."""
    marker = Marker(type=Marker.LINE_LIST, points=points(segments.reshape(-1, 3)))
    marker.pose.orientation.w = 1.0
    marker.scale.x = _LINE_WIDTH
    return marker


def arrow(start: np.ndarray, end: np.ndarray) -> Marker:
    """Return an arrow between two points [3] without colour."""
    marker = Marker(type=Marker.ARROW, points=points(np.stack([start, end])))
    marker.pose.orientation.w = 1.0
    marker.scale = Vector3(x=2.0 * _LINE_WIDTH, y=4.0 * _LINE_WIDTH)
    return marker


def turn(center: np.ndarray, angle: np.ndarray) -> Iterator[Marker]:
    """Yield an arc and the arrow at its end, without colours.

    Args:
        center: Centre of the arc [3].
        angle: Axis times angle [rad], [3]; the arc ends after a full turn.
    """
    size = float(np.linalg.norm(angle))
    axis, most = angle / size, min(size, 2.0 * math.pi)
    first = poses.perpendicular(axis)
    first *= _ARC_RADIUS / np.linalg.norm(first)
    second = np.cross(axis, first)
    angles = np.linspace(0.0, most, max(2, math.ceil(most / _ARC_STEP) + 1))[:, None]
    spokes = np.cos(angles) * first + np.sin(angles) * second
    arc = Marker(type=Marker.LINE_STRIP, points=points(center + spokes))
    arc.pose.orientation.w = 1.0
    arc.scale.x = _LINE_WIDTH
    yield arc
    end = center + spokes[-1]
    yield arrow(end, end + _ARC_TIP * np.cross(axis, spokes[-1] / _ARC_RADIUS))


def dots(where: np.ndarray, diameter: float) -> Marker:
    """Return small spheres at points [n, 3] without colours."""
    marker = Marker(type=Marker.SPHERE_LIST, points=points(where))
    marker.pose.orientation.w = 1.0
    marker.scale = Vector3(x=diameter, y=diameter, z=diameter)
    return marker


def points(where: np.ndarray) -> list[Point]:
    """Return points [n, 3]."""
    return [Point(x=x, y=y, z=z) for x, y, z in where.tolist()]


def color(red: float, green: float, blue: float, alpha: float) -> ColorRGBA:
    """Return a colour."""
    return ColorRGBA(r=float(red), g=float(green), b=float(blue), a=float(alpha))


def barrier_color(value: float) -> ColorRGBA:
    """Return red for a barrier value [m] of zero or less, then yellow to green."""
    part = min(max(value / _CALM, 0.0), 1.0)
    return color(min(1.0, 2.0 - 2.0 * part), min(1.0, 2.0 * part), 0.0, 1.0)


def barrier_fraction(shade: ColorRGBA) -> float:
    """Return the position on the colour scale of :func:`barrier_color`, from 0 to 1."""
    return 0.5 * shade.g if shade.g < 1.0 else 1.0 - 0.5 * shade.r


def _solid(kind: int, size: Sequence[float] | np.ndarray) -> Marker:
    x, y, z = (float(length) for length in size)
    return Marker(type=kind, scale=Vector3(x=x, y=y, z=z))


def _axis_tips(length: float) -> np.ndarray:
    tips = np.tile(poses.IDENTITY_POSE, (3, 1))
    tips[:, :3] = length * np.eye(3)
    return tips

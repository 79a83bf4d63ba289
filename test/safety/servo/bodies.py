# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Link poses and distances of shapes, computed without the product.

Kinematics come from the URDF by numpy, many configurations at a time. Distances of spheres and
capsules are exact formulas, those of boxes, cylinders and hulls are coal's. Bodies that are far
apart by a sphere or a capsule around them are skipped.
"""

import dataclasses
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from safety.geometry import segment_distance

from ros_ik.model.conventions.joint_type import GeoType

coal = pytest.importorskip('coal', reason='coal, the oracle, is not installed')

_ROUND = (int(GeoType.SPHERE), int(GeoType.CAPSULE))


class Kinematics:
    """Forward kinematics of a URDF for many configurations."""

    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.joints = {}
        for joint in root.findall('joint'):
            origin, axis, mimic = (joint.find(tag) for tag in ('origin', 'axis', 'mimic'))
            self.joints[joint.find('child').get('link')] = (
                joint.get('name'), joint.get('type'), joint.find('parent').get('link'),
                _placed(origin), _numbers(axis, 'xyz', '1 0 0'),
                None if mimic is None else (
                    mimic.get('joint'), float(mimic.get('multiplier', 1.0)),
                    float(mimic.get('offset', 0.0)),
                ),
            )  # fmt: skip
        links = [link.get('name') for link in root.findall('link')]
        self.order = []
        while len(self.order) < len(links):
            known = len(self.order)
            for link in links:
                joint = self.joints.get(link)
                if link not in self.order and (joint is None or joint[2] in self.order):
                    self.order.append(link)
            assert len(self.order) > known, 'the tree has a loop'

    def driver(self, name):
        """Return the joint that drives another one: itself, or what it mimics."""
        (mimic,) = (joint[5] for joint in self.joints.values() if joint[0] == name)
        return name if mimic is None else mimic[0]

    def path(self, link):
        """Return the joints between the root and a link, those that are driven by their driver."""
        found = set()
        while link in self.joints:
            name, kind, link, *_ = self.joints[link]
            if kind != 'fixed':
                found.add(self.driver(name))
        return found

    def poses(self, values):
        """Return the placement of every link, {name: (rotation [n, 3, 3], position [n, 3])}.

        Args:
            values: Positions of joints by name, [n] each; others are zero.
        """
        n = len(next(iter(values.values())))
        placed = {}
        for link in self.order:
            if link not in self.joints:
                placed[link] = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
                continue
            name, kind, parent, origin, axis, mimic = self.joints[link]
            rotation, position = placed[parent]
            position = position + rotation @ origin[:3, 3]
            rotation = rotation @ origin[:3, :3]
            if kind in ('revolute', 'continuous', 'prismatic'):
                if mimic is None:
                    q = values.get(name, np.zeros(n))
                else:
                    q = mimic[1] * values.get(mimic[0], np.zeros(n)) + mimic[2]
                if kind == 'prismatic':
                    position = position + rotation @ axis * q[:, None]
                else:
                    rotation = rotation @ _turn(axis, q)
            placed[link] = rotation, position
        return placed


def _numbers(element, name, default):
    text = default if element is None else element.get(name, default)
    return np.array([float(number) for number in text.split()])


def _placed(origin):
    pose = np.eye(4)
    pose[:3, 3] = _numbers(origin, 'xyz', '0 0 0')
    roll, pitch, yaw = _numbers(origin, 'rpy', '0 0 0')
    axes = np.eye(3)
    for axis, angle in ((2, yaw), (1, pitch), (0, roll)):
        pose[:3, :3] = pose[:3, :3] @ _turn(axes[axis], np.array([angle]))[0]
    return pose


def _turn(axis, angle):
    """Return rotations about an axis, [n, 3, 3] (Rodrigues)."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + sine * cross + (1.0 - cosine) * (cross @ cross)


def matrix(quaternion):
    """Return the rotation matrix of unit quaternions x, y, z, w, [..., 3, 3]."""
    x, y, z, w = np.moveaxis(np.asarray(quaternion, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


@dataclasses.dataclass(eq=False)
class Solid:
    """A convex body about the origin of its frame.

    Attributes:
        is_round: True if the capsule around it is the body itself.
        start: One end of the axis of the capsule around it, [3].
        end: The other end.
        radius: Radius of that capsule, 0 for a half-space.
        core: coal's core of the body, to be inflated; a half-space is below z = 0.
        more: By how much it is to be inflated.
        is_flat: True if it is a half-space.
        corners: Points whose hull the core is, where it is a box or a hull, [n, 3].
    """

    is_round: bool
    start: np.ndarray
    end: np.ndarray
    radius: float
    core: object
    more: float
    is_flat: bool = False


def solid(kind, size, radius, points):
    """Return the solid of a primitive of the product: a core inflated by a radius."""
    kind, size = int(kind), np.asarray(size, dtype=float)
    zero = np.zeros(3)
    if kind == int(GeoType.PLANE):
        core = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        return Solid(False, zero, zero, 0.0, core, radius, is_flat=True)
    if kind in _ROUND:
        half = np.array([0.0, 0.0, size[2]])
        core = coal.Sphere(1e-9) if size[2] == 0.0 else coal.Capsule(1e-9, 2.0 * size[2])
        return Solid(True, -half, half, radius, core, radius)
    if kind == int(GeoType.MESH):
        points = np.asarray(points, dtype=float)
        center = points.mean(axis=0)
        axis = np.linalg.svd(points - center)[2][0]
        along = (points - center) @ axis
        around = np.linalg.norm(points - center - np.outer(along, axis), axis=1).max()
        ends = center + np.outer([along.min(), along.max()], axis)
        mesh = coal.BVHModelOBBRSS()
        mesh.beginModel(0, len(points))
        mesh.addVertices(points)
        mesh.buildConvexHull(True, 'Qt')
        return Solid(False, ends[0], ends[1], around + radius, mesh.convex, radius)
    if kind == int(GeoType.CYLINDER):
        half, around = np.array([0.0, 0.0, size[2]]), size[0]
        core = coal.Cylinder(size[0], 2.0 * size[2])
    elif kind == int(GeoType.BOX):
        longest = int(size.argmax())
        half = np.zeros(3)
        half[longest] = size[longest]
        around = np.linalg.norm(np.delete(size, longest))
        core = coal.Box(*(2.0 * size))
    else:
        raise AssertionError(f'no oracle for {kind}')
    return Solid(False, -half, half, around + radius, core, radius)


class Bodies:
    """Solids that move: their capsules and placements in many configurations.

    Attributes:
        solids: The solids.
        rotation: [n, m, 3, 3].
        position: [n, m, 3].
    """

    def __init__(self, solids, rotation, position):
        self.solids, self.rotation, self.position = solids, rotation, position
        start = np.array([one.start for one in solids])
        end = np.array([one.end for one in solids])
        self.radius = np.array([one.radius for one in solids])
        self.start = np.einsum('nmij,mj->nmi', rotation, start) + position
        self.end = np.einsum('nmij,mj->nmi', rotation, end) + position
        self.middle = 0.5 * (self.start + self.end)
        self.reach = self.radius + 0.5 * np.linalg.norm(end - start, axis=1)
        self.is_round = np.array([one.is_round for one in solids])
        self.is_flat = np.array([one.is_flat for one in solids])

    def near(self, pairs, distance):
        """Return which pairs may be nearer than a distance: rows and columns of [n, pairs]."""
        a, b = pairs.T
        gap = np.linalg.norm(self.middle[:, a] - self.middle[:, b], axis=2)
        gap -= self.reach[a] + self.reach[b]
        gap[:, self.is_flat[a] | self.is_flat[b]] = -np.inf
        row, column = np.nonzero(gap < distance)
        bound = self._capsules(row, a[column], b[column])
        return row[bound < distance], column[bound < distance]

    def _capsules(self, row, a, b):
        """Return the distances of the capsules around two bodies each."""
        apart = segment_distance(
            self.start[row, a], self.end[row, a], self.start[row, b], self.end[row, b]
        )
        apart = apart - self.radius[a] - self.radius[b]
        for flat, other in ((a, b), (b, a)):
            at = self.is_flat[flat]
            if at.any():
                normal = self.rotation[row[at], flat[at], :, 2]
                origin = self.position[row[at], flat[at]]
                ends = [
                    ((points[row[at], other[at]] - origin) * normal).sum(-1)
                    for points in (self.start, self.end)
                ]
                apart[at] = np.minimum(*ends) - self.radius[other[at]]
        return apart

    def distances(self, row, a, b):
        """Return the distances of two bodies each; those deep in each other are negative."""
        if not len(row):
            return np.zeros(0)
        found = self._capsules(row, a, b)
        exact = (self.is_round[a] | self.is_flat[a]) & (self.is_round[b] | self.is_flat[b])
        for k in np.flatnonzero(~exact).tolist():
            found[k] = self._by_coal(row[k], a[k], b[k])
        return found

    def _by_coal(self, row, a, b):
        request, result = coal.DistanceRequest(True, True), coal.DistanceResult()
        request.gjk_tolerance, request.gjk_max_iterations = 1e-9, 1000
        places = [coal.Transform3s(self.rotation[row, k], self.position[row, k]) for k in (a, b)]
        first, second = self.solids[a], self.solids[b]
        apart = coal.distance(first.core, places[0], second.core, places[1], request, result)
        return apart - first.more - second.more

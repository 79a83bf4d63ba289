# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances between the collision shapes of robots by Pinocchio and coal."""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import PinocchioRobot
import warp as wp

from ros_ik.demo.robots import robot_data_path
from ros_ik.model import Model

pin = pytest.importorskip('pinocchio', reason='pinocchio, the oracle, is not installed')
coal = pytest.importorskip('coal', reason='coal, the oracle, is not installed')

# The folders that package:// addresses of example-robot-data start from.
PACKAGES = [robot_data_path().parents[1], robot_data_path().parent]
SRDFS = {
    'panda': 'panda_description/srdf/panda.srdf',
    'talos_full_v2': 'talos_data/srdf/talos.srdf',
    'ur5_robot': 'ur_description/srdf/ur5_joint_limited_robot.srdf',
}


def urdf_path(name):
    """Return the URDF with this file name (without suffix)."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return path


@functools.cache
def robot_with_meshes(name):
    """Return our model of a URDF with its SRDF and the files of its meshes."""
    srdf = (robot_data_path() / SRDFS[name]).read_text() if name in SRDFS else None
    text = urdf_path(name).read_text()
    return Model.from_urdf(text, srdf=srdf, package_paths=PACKAGES, device='cpu')


def coal_distance(first, first_pose, second, second_pose):
    """Return the distance of two of coal's shapes and their nearest points, [2, 3]."""
    request, result = coal.DistanceRequest(True, True), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-9, 1000
    distance = coal.distance(first, first_pose, second, second_pose, request, result)
    return distance, np.array([result.getNearestPoint1(), result.getNearestPoint2()])


def convex_hull(vertices):
    """Return coal's convex hull of points."""
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(0, len(vertices))
    mesh.addVertices(np.asarray(vertices, dtype=np.float64))
    mesh.buildConvexHull(True, 'Qt')
    return mesh.convex


class CollisionOracle:
    """The shapes of a model in Pinocchio, meshes as the convex hulls of their files."""

    def __init__(self, name, model):
        path = str(urdf_path(name))
        self.robot = PinocchioRobot(urdf_path(name).read_text(), model)
        folders = [str(folder) for folder in PACKAGES]
        self.geometry = pin.buildGeomFromUrdf(
            self.robot.pin, path, pin.GeometryType.COLLISION, folders
        )
        self.data = pin.GeometryData(self.geometry)
        self.hulls = [self._hull(item.geometry) for item in self.geometry.geometryObjects]
        # Both number the shapes of a link as the description lists them.
        theirs: dict[str, list[int]] = {}
        for k, item in enumerate(self.geometry.geometryObjects):
            link = self.robot.pin.frames[item.parentFrame].name
            theirs.setdefault(link, []).append(k)
        self.of_shape = {}
        for shape, body in enumerate(model.shape_body.numpy().tolist()):
            if model.shape_flags.numpy()[shape] & 2:
                self.of_shape[shape] = theirs[model.body_label[body]].pop(0)

    @staticmethod
    def _hull(geometry):
        if not isinstance(geometry, coal.BVHModelBase):
            return geometry
        geometry.buildConvexHull(True, 'Qt')
        return geometry.convex

    def distances(self, joint_q, pairs):
        """Return the distances of pairs of our shapes at one configuration, [n_pairs]."""
        return np.array([coal_distance(*pair)[0] for pair in self._placed(joint_q, pairs)])

    def touch(self, joint_q, pairs):
        """Return which pairs of our shapes have no distance, [n_pairs]: as above, but sooner."""
        request, found = coal.CollisionRequest(), []
        for pair in self._placed(joint_q, pairs):
            # Of 24,000 pairs of TIAGo's meshes that are apart, it finds a contact of one.
            is_near = coal.collide(*pair, request, coal.CollisionResult()) > 0
            found.append(is_near and coal_distance(*pair)[0] <= 0.0)
        return np.array(found)

    def _placed(self, joint_q, pairs):
        """Return both shapes and poses of each pair of our shapes at one configuration."""
        q = self.robot.configuration(joint_q)
        pin.updateGeometryPlacements(self.robot.pin, self.robot.data, self.geometry, self.data, q)
        numbers = [tuple(self.of_shape[shape] for shape in pair) for pair in pairs.tolist()]
        poses = {k: self._pose(k) for k in set(itertools.chain.from_iterable(numbers))}
        return [(self.hulls[a], poses[a], self.hulls[b], poses[b]) for a, b in numbers]

    def _pose(self, k):
        placement = self.data.oMg[k]
        return coal.Transform3s(placement.rotation, placement.translation)


class MeshOracle(CollisionOracle):
    """The same, with meshes as they are."""

    @staticmethod
    def _hull(geometry):
        return geometry


@functools.cache
def collision_oracle(name):
    """Return the oracle of :func:`robot_with_meshes`."""
    return CollisionOracle(name, robot_with_meshes(name))


# A cloud of points that stands for a mesh.
CLOUD = np.random.default_rng(7).normal(size=(30, 3)) * [0.2, 0.1, 0.15]
MESH = SimpleNamespace(vertices=CLOUD, indices=np.zeros(3, dtype=int))


def add_shape(builder, kind, link, **options):
    """Add a shape whose twin is ``coal_shape(kind)``."""
    sizes = {
        'sphere': {'radius': 0.15},
        'capsule': {'radius': 0.1, 'half_height': 0.2},
        'cylinder': {'radius': 0.1, 'half_height': 0.2},
        'cone': {'radius': 0.15, 'half_height': 0.2},
        'box': {'hx': 0.1, 'hy': 0.2, 'hz': 0.05},
        'ellipsoid': {'rx': 0.1, 'ry': 0.2, 'rz': 0.3},
        'mesh': {'mesh': MESH},
        'plane': {'xform': wp.transform_identity(), 'width': 0.0, 'length': 0.0},
    }
    options = {'body': link} | sizes[kind] | options
    return getattr(builder, f'add_shape_{kind}')(**options)


def coal_shape(kind):
    """Return the coal shape that corresponds to the one of ``add_shape``."""
    return {
        'sphere': lambda: coal.Sphere(0.15),
        'capsule': lambda: coal.Capsule(0.1, 0.4),
        'cylinder': lambda: coal.Cylinder(0.1, 0.4),
        'cone': lambda: coal.Cone(0.15, 0.4),
        'box': lambda: coal.Box(0.2, 0.4, 0.1),
        'ellipsoid': lambda: coal.Ellipsoid(0.1, 0.2, 0.3),
        'mesh': lambda: convex_hull(CLOUD),
        'plane': lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
    }[kind]()

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision barriers at given configurations, and the same distances by coal."""

import functools

import numpy as np
import pytest
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.demo.robots import robot_data_path
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model import Model
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.shapes.collision_geometry import CollisionGeometry

coal = pytest.importorskip('coal', reason='coal, the oracle, is not installed')


@functools.cache
def robot(name):
    """Return the model of a URDF by file name, with its meshes."""
    folders = [robot_data_path().parents[1], robot_data_path().parent]
    return Model.from_urdf(urdf_text(name), package_paths=folders, device='cpu')


class Bench:
    """Barriers of one model at n configurations."""

    def __init__(self, model, n, group='', scalar=wp.float64):
        self.model, self.n, self.scalar = model, n, scalar
        types, device = spatial_functions(scalar), model.device
        group = model.joint_group(group)
        self.tree = kinematic_tree(model, scalar)
        joint_q = wp.zeros((n, model.joint_coord_count), dtype=scalar, device=device)
        body_q = wp.zeros((n, model.body_count), dtype=types.transform, device=device)
        self.state = StepState.make(model, group, joint_q, body_q, dt=0.01)

    def place(self, joint_q):
        """Put the robots at configurations [n, joint_coord_count]."""
        state = self.state
        state.joint_q.assign(joint_q)
        launch_forward_kinematics(self.tree, state.joint_q, state.body_q)
        launch_motion_subspace(self.tree, state.joint_q, state.body_q, state.joint_S_s)

    def evaluate(self, barrier, joint_q):
        """Return values [n, rows] and Jacobian [n, rows, variables]."""
        state = self.state
        self.place(joint_q)
        barrier.bind(state)
        shape = self.n, barrier.row_count + 3
        values = wp.full(shape, wp.nan, dtype=self.scalar)
        jacobian = wp.full((*shape, state.group.n_variables), wp.nan, dtype=self.scalar)
        barrier.launch_values(state.body_q, values, 2)
        barrier.launch_jacobian(jacobian, 2)
        written = slice(2, 2 + barrier.row_count)
        outside = np.delete(values.numpy(), np.arange(2, 2 + barrier.row_count), axis=1)
        assert np.all(np.isnan(outside)), 'rows of others were written'
        return values.numpy()[:, written], jacobian.numpy()[:, written]

    def step(self, joint_q, variables):
        """Return joint_q (+) a step of the variables [n, n_variables]."""
        group = self.state.group
        dq = np.zeros((self.n, self.model.joint_dof_count))
        active = group.dof_variable >= 0
        dq[:, active] = variables[:, group.dof_variable[active]] * group.dof_scale[active]
        out = wp.zeros_like(self.state.joint_q)
        launch_integrate(
            self.tree,
            wp.array(joint_q, dtype=self.scalar),
            wp.array(dq, dtype=self.scalar),
            out,
        )
        return out.numpy()

    def finite_differences(self, barrier, joint_q, h=1e-6):
        """Return the Jacobian by central differences."""
        n_variables = self.state.group.n_variables
        jacobian = np.zeros((self.n, barrier.row_count, n_variables))
        for k in range(n_variables):
            step = np.zeros((self.n, n_variables))
            step[:, k] = h
            ahead, _ = self.evaluate(barrier, self.step(joint_q, step))
            behind, _ = self.evaluate(barrier, self.step(joint_q, -step))
            jacobian[..., k] = (ahead - behind) / (2 * h)
        return jacobian


def coal_shape(geometry, k):
    """Return a primitive as a coal shape, without the radius around boxes and hulls."""
    kind, size, radius = GeoType(int(geometry.kind[k])), geometry.size[k], geometry.radius[k]
    if kind == GeoType.SPHERE:
        return coal.Sphere(radius)
    if kind == GeoType.CAPSULE:
        return coal.Capsule(radius, 2 * size[2])
    if kind == GeoType.BOX:
        return coal.Box(*(2 * size))
    if kind == GeoType.CYLINDER:
        return coal.Cylinder(size[0], 2 * size[2])
    if kind == GeoType.PLANE:
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    points = geometry.points[geometry.first[k] : geometry.first[k] + geometry.count[k]]
    cloud = coal.StdVec_Vec3s()
    for point in points:
        cloud.append(point)
    return coal.Convex.convexHull(cloud, False, '')


class CoalDistances:
    """Signed distances of pairs of primitives from Pinocchio's kinematics and coal."""

    def __init__(self, name, geometry):
        self.geometry = geometry
        self.robot = PinocchioRobot(urdf_text(name), geometry.model)
        self.shapes = [coal_shape(geometry, k) for k in range(len(geometry))]
        round_kinds = (GeoType.SPHERE, GeoType.CAPSULE)
        self.inflation = np.where(np.isin(geometry.kind, round_kinds), 0.0, geometry.radius)

    def placements(self, joint_q):
        """Return the poses of the primitives in the world."""
        poses, model = self.robot.poses(joint_q), self.geometry.model
        found = []
        for body, pose in zip(self.geometry.body, self.geometry.pose, strict=True):
            position, rotation = (
                poses[model.body_label[body]] if body >= 0 else (np.zeros(3), np.eye(3))
            )
            local = pin.XYZQUATToSE3(pose)
            world = pin.SE3(rotation, position) * local
            found.append(coal.Transform3s(world.rotation, world.translation))
        return found

    def distances(self, joint_q, pairs):
        """Return signed distances [n] and the nearest points [n, 2, 3] without the inflation."""
        places = self.placements(joint_q)
        found, points = [], []
        for a, b in pairs:
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            request.enable_signed_distance = True
            distance = coal.distance(
                self.shapes[a], places[a], self.shapes[b], places[b], request, result
            )
            found.append(distance - self.inflation[a] - self.inflation[b])
            points.append((result.getNearestPoint1(), result.getNearestPoint2()))
        return np.array(found), np.array(points)


def scattered(model, seed, count=12):
    """Return spheres and capsules on random links, all large enough to meet now and then."""
    rng = np.random.default_rng(seed)
    body = rng.permutation(model.body_count)[:count]
    middle = rng.uniform(-0.1, 0.1, (len(body), 3))
    half = rng.uniform(-0.1, 0.1, (len(body), 3)) * (np.arange(len(body)) % 2)[:, None]
    ends = np.stack([middle - half, middle + half], axis=1)
    return CollisionGeometry.from_capsules(model, body, ends, rng.uniform(0.05, 0.15, len(body)))


def all_pairs(geometry):
    """Return all pairs of primitives on two links."""
    first, second = np.triu_indices(len(geometry), 1)
    apart = geometry.body[first] != geometry.body[second]
    return np.stack([first, second], axis=1)[apart]

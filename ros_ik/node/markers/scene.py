# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Scene of the robot, its targets and obstacles as one message, in the base frame."""

from __future__ import annotations

import collections

import numpy as np
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from ros_ik.kinematics.link_poses import link_poses
from ros_ik.model import Model
from ros_ik.model.conventions import poses
from ros_ik.node.control.command_messages import duration
from ros_ik.node.markers import shapes as marker_shapes
from ros_ik.node.markers.pairs import ClosestPairs
from ros_ik.node.markers.pairs import Pairs
from ros_ik.node.markers.process_link import DrawnRobot
from ros_ik.node.markers.process_link import DrawnTask
from ros_ik.node.markers.process_link import MarkerState
from ros_ik.node.transport.pose_messages import fill_pose
from ros_ik.servo import TwistTarget
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import Settings

# Maximum number of markers in a message; the last ones are omitted.
MAX_MARKERS = 1000
_ROBOT, _OBSTACLE = (0.3, 0.5, 0.9, 0.35), (0.8, 0.5, 0.2, 0.6)
_TARGET_ALPHA, _POSE_ALPHA = 1.0, 0.45
_REACHED, _UNDERWAY = (0.1, 0.9, 0.1, 0.8), (1.0, 0.7, 0.1, 0.8)
# Smallest velocity that is drawn [m/s or rad/s].
_MIN_SPEED = 1e-6
_DOT, _BALL = 0.015, 0.04


class MarkerScene:
    """Scene of one robot."""

    def __init__(self, drawn: DrawnRobot) -> None:
        """Build the model.

        Raises:
            RosIkError: The description or a setting is invalid.
        """
        model = Model.from_urdf(
            drawn.urdf, drawn.srdf or None, package_paths=drawn.package_paths, device='cpu'
        )
        self._model, self._robot = model, resolve_robot(model, drawn.settings)
        self._base_frame = model.body_label[self._robot.base_link]
        shapes = self._robot.shapes
        self._pairs = ClosestPairs(shapes, drawn.settings)
        self._solids: list[Marker] = []
        links, local = [], []
        geometry = shapes.geometry
        # Hulls are drawn by the primitives of their links.
        for row in range(len(geometry) - shapes.hulls):
            given = geometry.size[row], float(geometry.radius[row]), float(geometry.bound[row])
            for marker, pose in marker_shapes.primitive(int(geometry.kind[row]), *given):
                self._solids.append(marker)
                links.append(int(geometry.body[row]))
                local.append(poses.multiply(geometry.pose[row], pose))
        self._carriers = np.array(links, dtype=int)
        self._local = np.array(local).reshape(-1, 7)

    def apply(self, settings: Settings) -> None:
        """Apply changed settings."""
        self._pairs.apply(settings)

    def draw(self, state: MarkerState) -> MarkerArray:
        """Return the message of one scene."""
        self._pairs.set_obstacles(state.obstacles, self._links)
        body_q = self._links(state.joint_q)
        from_world = poses.inverse(body_q[self._robot.base_link])
        links = poses.multiply(from_world, body_q)
        markers = [
            *self._draw_tasks(state.tasks, links),
            *_draw_center(state, links),
            *self._draw_pairs(self._pairs.find(body_q), from_world),
            *self._draw_obstacles(from_world),
            *self._draw_robot(body_q, from_world),
        ][:MAX_MARKERS]
        lifetime, counts = duration(state.lifetime), collections.Counter[str]()
        for marker in markers:
            # Markers that are not repeated disappear at the end of their lifetime.
            marker.id, marker.lifetime = counts[marker.ns], lifetime
            marker.header.frame_id = self._base_frame
            counts[marker.ns] += 1
        return MarkerArray(markers=markers)

    def _links(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the poses of the links in the world [body_count, 7]."""
        return link_poses(self._model, self._model.apply_mimic(joint_q))

    def _draw_tasks(self, tasks: tuple[DrawnTask, ...], links: np.ndarray) -> list[Marker]:
        """Return the frames of the tasks and their targets, and lines between them."""
        markers = []
        for task, reference in zip(tasks, self._robot.task_references, strict=True):
            pose, target = (
                None if given is None else poses.multiply(links[reference], given)
                for given in (task.pose, task.target)
            )
            if pose is not None:
                markers.append(_named('frames', marker_shapes.frame(pose, _POSE_ALPHA)))
            if target is not None:
                markers.append(_named('targets', marker_shapes.frame(target, _TARGET_ALPHA)))
            if pose is not None and target is not None:
                line = marker_shapes.lines(np.stack([pose[:3], target[:3]])[None])
                shade = marker_shapes.color(*(_REACHED if task.reached else _UNDERWAY))
                line.colors = [shade, shade]
                markers.append(_named('targets', line))
            if pose is not None and task.twist is not None:
                markers += _draw_twist(task.twist, pose[:3], links)
        return markers

    def _draw_pairs(self, pairs: Pairs, from_world: np.ndarray) -> list[Marker]:
        """Return lines between the nearest points, in the colour of the barrier."""
        if not len(pairs.values):
            return []
        points = from_world[:3] + poses.rotate(from_world[3:], pairs.points)
        shades = [marker_shapes.barrier_color(value) for value in pairs.values.tolist()]
        segments = marker_shapes.lines(points)
        ends = marker_shapes.dots(points.reshape(-1, 3), _DOT)
        segments.colors = ends.colors = [shade for shade in shades for _ in range(2)]
        nearest = Marker(type=Marker.TEXT_VIEW_FACING, color=shades[0])
        nearest.text = f'{" - ".join(pairs.names[0])}: {pairs.distances[0]:.3f} m'
        nearest.scale.z = 0.04
        fill_pose(nearest.pose, [*points[0].mean(axis=0).tolist(), 0.0, 0.0, 0.0, 1.0])
        return [_named('closest_pairs', marker) for marker in (segments, ends, nearest)]

    def _draw_obstacles(self, from_world: np.ndarray) -> list[Marker]:
        """Return the obstacles."""
        markers = []
        for obstacle, pose in self._pairs.placed.values():
            shape, in_base = obstacle.shape, poses.multiply(from_world, pose)
            for marker, local in marker_shapes.primitive(
                int(shape.kind), shape.size, shape.radius, shape.bound
            ):
                fill_pose(marker.pose, poses.multiply(in_base, local).tolist())
                marker.color = marker_shapes.color(*_OBSTACLE)
                markers.append(_named('obstacles', marker))
        return markers

    def _draw_robot(self, body_q: np.ndarray, from_world: np.ndarray) -> list[Marker]:
        """Return the collision shapes; those of fixed links do not move."""
        if not self._solids:
            return []
        links = np.vstack([body_q, poses.IDENTITY_POSE])[self._carriers]
        placed = poses.multiply(from_world, poses.multiply(links, self._local))
        for marker, pose in zip(self._solids, placed.tolist(), strict=True):
            fill_pose(marker.pose, pose)
            marker.color = marker_shapes.color(*_ROBOT)
        return [_named('collision_shapes', marker) for marker in self._solids]


def _draw_twist(twist: TwistTarget, where: np.ndarray, links: np.ndarray) -> list[Marker]:
    """Return the displacement of a velocity in one second: an arrow, and an arc."""
    linear, angular = (
        poses.rotate(links[twist.frame_link, 3:], vector)
        for vector in (twist.linear, twist.angular)
    )
    markers = []
    if np.linalg.norm(linear) > _MIN_SPEED:
        markers.append(marker_shapes.arrow(where, where + linear))
    if np.linalg.norm(angular) > _MIN_SPEED:
        markers += marker_shapes.turn(where, angular)
    for marker in markers:
        marker.color = marker_shapes.color(*_UNDERWAY)
    return [_named('twists', marker) for marker in markers]


def _draw_center(state: MarkerState, links: np.ndarray) -> list[Marker]:
    """Return the target of the centre of mass."""
    if state.center_of_mass is None:
        return []
    link, position = state.center_of_mass
    where = links[link, :3] + poses.rotate(links[link, 3:], position)
    ball = marker_shapes.dots(where[None], _BALL)
    ball.color = marker_shapes.color(*_UNDERWAY)
    return [_named('center_of_mass', ball)]


def _named(namespace: str, marker: Marker) -> Marker:
    marker.ns = namespace
    return marker

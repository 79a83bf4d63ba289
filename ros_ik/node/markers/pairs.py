# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closest pairs of links and obstacles: nearest points and barrier values.

The primitives and pairs are those of the barriers. The value of a pair is its distance minus the
margin of its barrier; hulls of links have no margin.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import numpy as np
import warp as wp

from ros_ik.barriers.collision_scene import CollisionScene
from ros_ik.barriers.pair_measurement import PairMeasurement
from ros_ik.kinematics.collision.pairs.pair_points import pair_points_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions import poses
from ros_ik.node.markers.process_link import ReceivedObstacle
from ros_ik.servo import Obstacle
from ros_ik.servo.robot.collision_setup import RobotShapes
from ros_ik.settings import Settings

# Maximum number of drawn pairs of either kind, and maximum distance of a drawn pair [m].
_MAX_PAIRS, _FARTHEST = 8, 0.3
_SCALAR, _DEVICE = wp.float64, 'cpu'
# Points, distances, values and rows of no pairs; see :meth:`ClosestPairs._close`.
_NO_PAIRS = np.empty((0, 2, 3)), np.empty(0), np.empty(0), np.empty((0, 2), dtype=np.int32)


@dataclasses.dataclass(frozen=True, eq=False)
class Pairs:
    """Close pairs, in the order of their values.

    Attributes:
        points: Nearest points of both surfaces in the world [m], [n, 2, 3].
        distances: Distance of each pair, negative during penetration [m], [n].
        values: Distance minus margin of each pair [m], [n].
        names: Names of links or obstacles.
    """

    points: np.ndarray
    distances: np.ndarray
    values: np.ndarray
    names: tuple[tuple[str, str], ...]


class ClosestPairs:
    """Search for close pairs at one configuration after another.

    Attributes:
        scene: The primitives of the robot, and the obstacles.
        placed: Obstacles and their poses in the world [7].
    """

    @shares_launch_lock
    def __init__(self, shapes: RobotShapes, settings: Settings) -> None:
        """Allocate memory; kernels are compiled at the first use."""
        geometry, room = shapes.geometry, settings.barriers_max_obstacles
        self.scene = CollisionScene(
            geometry, max_obstacles=room, max_attached=0, link_only=shapes.hulls
        )
        self._own, self._settings = shapes.pairs, settings
        self.placed: dict[str, tuple[Obstacle, np.ndarray]] = {}
        # Two measurements, because links that are always near would displace obstacles in one.
        self._measurements = (
            self._measurement(len(shapes.pairs)),
            self._measurement(room * len(geometry)),
        )
        self._body_q = wp.zeros((1, geometry.model.body_count), dtype=wp.transformd)
        self._values = wp.zeros((1, _MAX_PAIRS), dtype=_SCALAR, device=_DEVICE)
        self._points = wp.zeros((1, _MAX_PAIRS, 2), dtype=wp.vec3d, device=_DEVICE)
        self._gather()

    def apply(self, settings: Settings) -> None:
        """Apply changed settings."""
        self._settings = settings

    def set_obstacles(
        self, seen: tuple[ReceivedObstacle, ...], links: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """Set the obstacles.

        Args:
            seen: All obstacles.
            links: Function that returns the link poses [body_count, 7] at a configuration.
        """
        wanted = {one.obstacle.name: one.obstacle for one in seen}
        known = {name: obstacle for name, (obstacle, _) in self.placed.items()}
        gone = [name for name, obstacle in known.items() if not _same(wanted.get(name), obstacle)]
        for name in gone:
            self.scene.remove_obstacle(name)
            del self.placed[name]
        new = [one for one in seen if one.obstacle.name not in self.placed]
        for one in new:
            obstacle = one.obstacle
            pose = poses.multiply(links(one.joint_q)[obstacle.frame_link], obstacle.pose)
            self.scene.add_obstacle(obstacle.name, obstacle.shape, pose)
            self.placed[obstacle.name] = obstacle, pose
        if gone or new:
            self._gather()

    @shares_launch_lock
    def find(self, body_q: np.ndarray) -> Pairs:
        """Return the close pairs of the enabled barriers at link poses [body_count, 7]."""
        self._body_q.assign(body_q[None])
        settings = self._settings
        of_robot, of_world = self._measurements
        parts = [_NO_PAIRS]
        if settings.barriers_self_collision_enabled:
            parts.append(self._close(of_robot, settings.barriers_self_collision_margin))
        if settings.barriers_world_enabled:
            parts.append(self._close(of_world, settings.barriers_world_margin))
        points, distances, values, rows = (
            np.concatenate(columns) for columns in zip(*parts, strict=True)
        )
        order = np.argsort(values, kind='stable')
        name = self.scene.row_name
        names = tuple((name(first), name(second)) for first, second in rows[order].tolist())
        return Pairs(points[order], distances[order], values[order], names)

    def _close(
        self, measurement: PairMeasurement, margin: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return nearest points, distances, values and rows of the scene of close pairs."""
        work = measurement.work('drawn', 1)
        measurement.launch_values(self._body_q, work, self._values, 0)
        kernel, inputs = pair_points_kernel(_SCALAR), [measurement.arrays, work]
        launch(kernel, (1, _MAX_PAIRS), inputs=inputs, outputs=[self._points], device=_DEVICE)
        found = work.pair.numpy()[0]
        close = np.flatnonzero(found >= 0)
        distances, points = self._values.numpy()[0, close], self._points.numpy()[0, close]
        pairs = measurement.pairs[found[close]]
        margins = [0.0 if self.scene.is_link_only(pair) else margin for pair in pairs.tolist()]
        return points, distances, distances - np.array(margins), pairs

    def _measurement(self, most: int) -> PairMeasurement:
        return PairMeasurement(
            self.scene.rows,
            self.scene.table(_SCALAR, _DEVICE),
            _SCALAR,
            _DEVICE,
            max_pairs=max(most, 1),
            n_closest=_MAX_PAIRS,
            d_min=0.0,
            d_max=_FARTHEST,
            convex=self.scene.needs_gjk,
        )

    def _gather(self) -> None:
        of_robot, of_world = self._measurements
        of_robot.set_pairs(self._own)
        of_world.set_pairs(self.scene.world_pairs())


def _same(one: Obstacle | None, other: Obstacle) -> bool:
    """Return True if two obstacles have equal values, because each scene has copies."""
    return (
        one is not None
        and (one.kind, one.dimensions, one.frame_link)
        == (other.kind, other.dimensions, other.frame_link)
        and np.array_equal(one.pose, other.pose)
    )

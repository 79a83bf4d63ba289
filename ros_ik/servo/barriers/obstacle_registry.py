# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Registry of obstacles, and validation of requests to change them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import enum

from ros_ik.model.conventions.poses import unit_pose
from ros_ik.servo.interface.codes import Rejection
from ros_ik.servo.interface.number_checks import numbers_rejection
from ros_ik.servo.interface.number_checks import quaternion_rejection
from ros_ik.servo.interface.obstacle import Obstacle
from ros_ik.servo.robot.controlled_robot import ControlledRobot

# Largest distance and dimension [m]. Larger values are mistakes of units.
FARTHEST = 1e4


class ObstacleOperation(enum.IntEnum):
    """Operations, with the numbers of ros_ik_interfaces/Obstacle."""

    ADD = 0
    REMOVE = 1
    CLEAR = 2


class ObstacleKind(enum.IntEnum):
    """Kinds of shapes, with the numbers of ros_ik_interfaces/Obstacle."""

    SPHERE = 0
    BOX = 1
    CYLINDER = 2
    CAPSULE = 3
    HALF_SPACE = 4

    @property
    def size(self) -> int:
        """Number of dimensions of the shape."""
        return _SIZES[self]


_SIZES = {
    ObstacleKind.SPHERE: 1,
    ObstacleKind.BOX: 3,
    ObstacleKind.CYLINDER: 2,
    ObstacleKind.CAPSULE: 2,
    ObstacleKind.HALF_SPACE: 0,
}


@dataclasses.dataclass(frozen=True)
class ObstacleRequest:
    """An unchecked request to add or remove an obstacle.

    Attributes:
        operation: Number of an :class:`ObstacleOperation`.
        name: Identifier of the obstacle.
        kind: Number of an :class:`ObstacleKind`.
        dimensions: Dimensions of the shape [m].
        frame_id: Link in whose frame the pose is given; '' selects the base frame.
        position: x y z [m] of the centre.
        quaternion: x y z w; a norm within [0.99, 1.01] is scaled to 1.
    """

    operation: int
    name: str = ''
    kind: int = 0
    dimensions: Sequence[float] = ()
    frame_id: str = ''
    position: Sequence[float] = (0.0, 0.0, 0.0)
    quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0)


class ObstacleRegistry:
    """Registry of obstacles. The requests of a message are applied together or not at all.

    Attributes:
        robot: Robot whose links may be frames of poses.
        obstacles: Current obstacles; a new tuple after each change.
    """

    def __init__(self, robot: ControlledRobot, max_obstacles: int) -> None:
        """Start empty.

        Args:
            robot: Robot whose links may be frames of poses.
            max_obstacles: Maximum number of obstacles.
        """
        self.robot, self._most = robot, max_obstacles
        self._links = {label: index for index, label in enumerate(robot.model.body_label)}
        self.obstacles: tuple[Obstacle, ...] = ()

    def apply(self, requests: Iterable[ObstacleRequest]) -> tuple[Obstacle, ...] | Rejection:
        """Apply requests in order.

        An addition replaces the obstacle of the same name. Removing an unknown obstacle is
        allowed.

        Returns:
            The new obstacles, or the reason why none was changed.
        """
        known = {obstacle.name: obstacle for obstacle in self.obstacles}
        for request in requests:
            if request.operation == ObstacleOperation.CLEAR:
                known.clear()
            elif request.operation == ObstacleOperation.REMOVE:
                known.pop(request.name, None)
            elif request.operation == ObstacleOperation.ADD:
                obstacle = self._read(request)
                if isinstance(obstacle, Rejection):
                    return obstacle
                known[obstacle.name] = obstacle
            else:
                return Rejection.BAD_OBSTACLE
        if len(known) > self._most:
            return Rejection.TOO_MANY_OBSTACLES
        self.obstacles = tuple(known.values())
        return self.obstacles

    def _read(self, request: ObstacleRequest) -> Obstacle | Rejection:
        """Check an addition."""
        dimensions = tuple(request.dimensions)
        pose = [*request.position, *request.quaternion]
        if not request.name or request.kind not in _SIZES:
            return Rejection.BAD_OBSTACLE
        kind = ObstacleKind(request.kind)
        if len(request.position) != 3 or len(request.quaternion) != 4:
            return Rejection.WRONG_SIZE
        if len(dimensions) != kind.size:
            return Rejection.WRONG_SIZE
        rejection = numbers_rejection((*dimensions, *pose), kind.size + 7)
        if rejection is not None:
            return rejection
        dimensions = tuple(map(float, dimensions))
        if not all(0.0 < value <= FARTHEST for value in dimensions):
            return Rejection.BAD_OBSTACLE
        if not all(abs(value) <= FARTHEST for value in pose[:3]):
            return Rejection.BAD_OBSTACLE
        placed = unit_pose(pose)
        if placed is None:
            return quaternion_rejection(pose[3:])
        frame_id, base = request.frame_id, self.robot.base_link
        link = base if frame_id == '' else self._links.get(frame_id)
        if link is None:
            return Rejection.UNKNOWN_FRAME
        found = Obstacle(request.name, kind.name.lower(), dimensions, placed, link)
        # Create the shape here, because it would take too long in a tick.
        _ = found.shape
        return found

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barriers of the servo, made from its settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.barriers import CollisionBarrier
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.servo.barriers.obstacle_scene import ObstacleScene
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import BarrierSettings
from ros_ik.settings import Settings

# Additional distance [m] of the quadratic program over the check of steps. The program linearises
# barriers, and the checked stop curves towards a round barrier.
_AHEAD = 0.001
# Speed [rad/s or m/s] at which joints leave a violation that existed at the start or that an
# obstacle caused.
_RECOVERY_SPEED = 0.1
# Distance [m] beyond the margin within which pairs are considered. At the default gain, links that
# approach at 1 m/s start to slow down within it.
COLLISION_RANGE = 0.25


def make_scene(robot: ControlledRobot, settings: Settings) -> ObstacleScene | None:
    """Return the robot's primitives with room for obstacles, or None without barriers."""
    watches_self = settings.barriers_self_collision_enabled and len(robot.shapes.pairs)
    watches_world = settings.barriers_world_enabled and len(robot.shapes.geometry)
    if not watches_self and not watches_world:
        return None
    room = settings.barriers_max_obstacles if watches_world else 0
    return ObstacleScene(robot.shapes.geometry, room, robot.shapes.hulls)


def make_barriers(
    robot: ControlledRobot, settings: Settings, scene: ObstacleScene | None
) -> tuple[Barrier, ...]:
    """Return the barriers: boxes for frames, pairs of links, pairs of link and obstacle."""
    barriers: list[Barrier] = [
        _position_barrier(link, robot.base_link, box)
        for link, box in zip(robot.barrier_links, settings.barriers, strict=True)
    ]
    if scene is not None:
        if settings.barriers_self_collision_enabled and len(robot.shapes.pairs):
            keep = _parameters('self_collision', settings)
            barriers.append(SelfCollisionBarrier(scene, pairs=robot.shapes.pairs, **keep))
        if scene.max_obstacles:
            barriers.append(WorldCollisionBarrier(scene, **_parameters('world', settings)))
    for barrier in barriers:
        barrier.recovery_speed = _RECOVERY_SPEED
        if isinstance(barrier, CollisionBarrier):
            barrier.ranks_rows = True
    return tuple(barriers)


def margin_of(barrier: Barrier, settings: Settings) -> float:
    """Return the offset between the value of a barrier and the distance [m]."""
    if isinstance(barrier, SelfCollisionBarrier):
        return settings.barriers_self_collision_margin
    if isinstance(barrier, WorldCollisionBarrier):
        return settings.barriers_world_margin
    return next((box.margin for box in settings.barriers if box.name == barrier.name), 0.0)


def apply_settings(
    barriers: tuple[Barrier, ...], scene: ObstacleScene | None, settings: Settings
) -> None:
    """Apply margins and gains; the next step uses them."""
    if scene is not None:
        scene.set_margins(settings.barriers_self_collision_margin, settings.barriers_world_margin)
    for barrier in barriers:
        if isinstance(barrier, SelfCollisionBarrier):
            barrier.gain = settings.barriers_self_collision_gain
        elif isinstance(barrier, WorldCollisionBarrier):
            barrier.gain = settings.barriers_world_gain
            # Within its margin an obstacle touches nothing yet.
            barrier.set_evasion(
                settings.barriers_world_evasion_speed, settings.barriers_world_margin
            )


def _parameters(name: str, settings: Settings) -> dict[str, Any]:
    """Return the common arguments of both kinds of collision barrier."""
    return {
        'name': name,
        # The scene subtracts the margins from the distances, so that they may change.
        'd_min': 0.0,
        'd_max': COLLISION_RANGE,
        'margin': _AHEAD,
        'n_collision_pairs': settings.barriers_self_collision_max_pairs,
        # The safe displacement cost would slow every motion, even with distant links; near others,
        # the acceleration limits suffice.
        'safe_displacement_gain': 0.0,
    }


def _position_barrier(link: int, base: int, settings: BarrierSettings) -> PositionBarrier:
    """Return the box barrier of a link, relative to the base.

    The box is smaller by the margin, because the margin of a barrier applies to steps only, not
    to checks.
    """
    kept = np.where(settings.axes, settings.margin, 0.0)
    return PositionBarrier(
        link,
        settings.min + kept,
        settings.max - kept,
        axes=settings.axes,
        reference_link_index=base,
        gain=settings.gain,
        margin=_AHEAD,
        safe_displacement_gain=0.0,
        name=settings.name,
    )

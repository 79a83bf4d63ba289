# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Changes of a command of every kind, for tests of what a servo does with each."""

from ros_ik.servo import Mode
from ros_ik.servo import StopState
from ros_ik.servo.barriers.obstacle_registry import ObstacleKind
from ros_ik.servo.barriers.obstacle_registry import ObstacleOperation
from ros_ik.servo.barriers.obstacle_registry import ObstacleRegistry
from ros_ik.servo.barriers.obstacle_registry import ObstacleRequest


def added(name, place=(0.0, 0.0, -1.0), kind=ObstacleKind.SPHERE):
    """Return the request to add an obstacle of 5 cm at a place in the base frame [m]."""
    size = [0.05] * kind.size
    return ObstacleRequest(ObstacleOperation.ADD, name, kind, size, '', place)


def command_changes(rig):
    """Return functions by name, each of which changes the command of a rig.

    They are to be called in order: a pause ends, a stop is reset, and obstacles disappear again.
    """
    book = ObstacleRegistry(rig.robot, rig.settings.barriers_max_obstacles)
    joint = rig.robot.group.joint_names[-1]

    def change(**fields):
        return lambda: rig.change(**fields)

    def obstacles(*requests):
        return lambda: rig.change(obstacles=book.apply(requests))

    changes = {
        'a pose': lambda: rig.aim(rig.moved((0.05, 0.0, 0.0))),
        'a velocity': lambda: rig.aim_twist((0.05, 0.0, 0.0)),
        'the centre of mass': lambda: rig.aim_center((0.0, 0.0, 0.4)),
        'joints': lambda: rig.aim_joints(**{joint: 0.1}),
        'joint velocities': lambda: rig.aim_joint_velocities(**{joint: 0.1}),
        'no target': rig.quiet,
    }
    for kind in ObstacleKind:
        changes[f'a {kind.name}'] = obstacles(added(kind.name, kind=kind))
    changes['a moved obstacle'] = obstacles(added('SPHERE', (0.0, 0.1, -1.0)))
    changes['no obstacle'] = obstacles(ObstacleRequest(ObstacleOperation.CLEAR))
    for mode in (*Mode, Mode.AUTO):
        changes[f'mode {mode.name} after {len(changes)}'] = change(mode=mode)
    return changes | {
        'a pause': change(paused=True),
        'the end of a pause': change(paused=False),
        'a stop': change(stop=StopState.LATCHED),
        'a reset': change(stop=StopState.CLEAR, resets=1),
        'a deactivation': change(active=False),
        'an activation': change(active=True),
    }

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Scenario of the demo: reachable targets, and targets that the robot must not follow.

Reachable targets are poses of configurations near home, tested in advance with the same solver.
The box encloses them, so that they are inside and the barrier phase presses on a face.
"""

from __future__ import annotations

import numpy as np

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.border_targets import joint_beyond_limit
from ros_ik.demo.scenario.border_targets import pose_beyond_box
from ros_ik.demo.scenario.clearance import Clearance
from ros_ik.demo.scenario.contact_targets import ball_path
from ros_ik.demo.scenario.contact_targets import fold
from ros_ik.demo.scenario.phase import CIRCLE_TIME
from ros_ik.demo.scenario.phase import PATIENCE
from ros_ik.demo.scenario.phase import Phase
from ros_ik.demo.scenario.phase import Requirement
from ros_ik.demo.scenario.phase import Scenario
from ros_ik.demo.scenario.reachable_targets import reachable_circle
from ros_ik.demo.scenario.reachable_targets import reachable_poses
from ros_ik.demo.scenario.trial import Trial
from ros_ik.kinematics.link_poses import link_poses
from ros_ik.kinematics.tree import incoming_joints

# Distance of the box from every reachable target, in lengths of the chain.
_CLEARANCE = 0.06
# Radius of the ball, and room to evade it [chain lengths].
_BALL_RADIUS, _ROOM = 0.07, 0.15
_BALL_TIME = 4.4
_FROZEN = 0.3, 1.3


def make_scenario(robot: DemoRobot, seed: int) -> Scenario:
    """Create the run for one robot; the same seed gives the same run.

    Args:
        robot: The robot.
        seed: Seed of the random targets.

    Raises:
        ArgumentError: No reachable targets were found around home.
    """
    trial = Trial(robot, uses_orientation=robot.uses_orientation)
    start = trial.pose(robot.home)
    poses = reachable_poses(robot, trial, np.random.default_rng(seed))
    size = _chain_length(robot)
    radius, circle = reachable_circle(trial, robot.home, start, size)
    clearance = None
    if robot.files.srdf_path is not None:
        clearance = Clearance(robot, _BALL_RADIUS * size)
    folded = None if clearance is None else fold(robot, trial, clearance)
    outward = _outward(robot, start)
    # Room to evade the ball, which comes from outside.
    evasion = start[:3] - _ROOM * size * outward
    inside = [poses[:, :3], circle[:, :3], start[None, :3], evasion[None]]
    if folded is not None:
        inside.append(folded[1])
    positions = np.concatenate(inside)
    box_min = positions.min(axis=0) - _CLEARANCE * size
    box_max = positions.max(axis=0) + _CLEARANCE * size
    beyond = pose_beyond_box(robot, trial, box_min, box_max, size)
    limit = joint_beyond_limit(robot, trial, box_min, box_max, clearance)
    far = start + np.array([20.0 * size, 0, 0, 0, 0, 0, 0])
    contacts: tuple[Phase, ...] = ()
    if clearance is not None:
        contacts += _ball_phases(start, ball_path(robot, clearance, start, outward, size))
    if folded is not None:
        contacts += _fold_phases(robot, folded[0])
    return Scenario(
        phases=(
            *_reachable_phases(poses, circle, radius),
            *contacts,
            *_border_phases(robot, start, beyond, limit),
            *_fault_phases(start, poses, far),
        ),
        box_min=box_min,
        box_max=box_max,
        uses_orientation=robot.uses_orientation,
        size=size,
        ball_radius=_BALL_RADIUS * size,
        clearance=clearance,
    )


def _reachable_phases(poses: np.ndarray, circle: np.ndarray, radius: float) -> tuple[Phase, ...]:
    """Return the phases of reachable poses and of the circle."""
    return (
        *(_reach(f'pose {k + 1}', 'reached', pose[None]) for k, pose in enumerate(poses)),
        Phase(
            'circle',
            f'followed, radius {1e3 * radius:.0f} mm',
            CIRCLE_TIME + PATIENCE,
            circle,
            requirement=Requirement.REACH,
        ),
    )


def _ball_phases(start: np.ndarray, path: np.ndarray) -> tuple[Phase, ...]:
    """Return the phases of a ball that moves against the tool."""
    return (
        Phase(
            'ball',
            'moves aside',
            _BALL_TIME,
            start[None],
            requirement=Requirement.EVADE,
            ball=path,
        ),
        _reach('ball gone', 'returned', start[None]),
    )


def _fold_phases(robot: DemoRobot, folded_q: np.ndarray) -> tuple[Phase, ...]:
    """Return the phases of a fold of the robot into itself."""
    return (
        Phase(
            'fold up',
            'stops',
            PATIENCE,
            joints=robot.named(folded_q),
            requirement=Requirement.REFUSE,
        ),
        _go_home(robot, 'unfold'),
    )


def _border_phases(
    robot: DemoRobot, start: np.ndarray, beyond: np.ndarray, limit: tuple[bool, str, float]
) -> tuple[Phase, ...]:
    """Return the phases that press on the box and on a joint limit."""
    blocked, joint, position = limit
    return (
        Phase(
            'box',
            'held at the face',
            2.5,
            beyond[None],
            requirement=Requirement.PRESS_BOX,
        ),
        # By a pose target, on a straight line inside the box; a joint-space path may touch a face.
        _reach('back', 'reached', start[None]),
        _go_home(robot, 'home'),
        Phase(
            'joint limit',
            f'{joint} {"is held before" if blocked else "stops at"} its limit',
            2.5,
            joints={joint: position},
            requirement=Requirement.STAY_INSIDE if blocked else Requirement.PRESS_LIMIT,
        ),
        _go_home(robot, 'home again'),
    )


def _fault_phases(start: np.ndarray, poses: np.ndarray, far: np.ndarray) -> tuple[Phase, ...]:
    """Return the phases of invalid messages, of a blocked robot and of an unreachable target."""
    return (
        Phase(
            'NaN',
            'they are dropped, the good one is reached',
            PATIENCE,
            poses[:1],
            requirement=Requirement.REACH,
            nan_messages=True,
        ),
        Phase(
            'blocked',
            'waits, then the target is reached',
            PATIENCE,
            poses[1:2],
            requirement=Requirement.WAIT,
            frozen=_FROZEN,
        ),
        Phase('out of reach', 'the robot stays inside box and limits', 1.5, far[None]),
        _reach('return', 'reached', start[None]),
    )


def _reach(name: str, expectation: str, poses: np.ndarray) -> Phase:
    """Return a phase that reaches poses."""
    return Phase(name, expectation, PATIENCE, poses, requirement=Requirement.REACH)


def _go_home(robot: DemoRobot, name: str) -> Phase:
    """Return a phase that reaches home by joint targets."""
    return Phase(
        name,
        'reached by joints',
        PATIENCE,
        joints=robot.named(robot.home),
        requirement=Requirement.REACH,
    )


def _outward(robot: DemoRobot, start: np.ndarray) -> np.ndarray:
    """Return the horizontal direction [3] from the base of the chain to the tool."""
    base = robot.model.body_index(robot.chain.partition(':')[0])
    away = np.append((start - link_poses(robot.model, robot.home)[base])[:2], 0.0)
    length = float(np.linalg.norm(away))
    return away / length if length > 1e-3 else np.array([1.0, 0.0, 0.0])


def _chain_length(robot: DemoRobot) -> float:
    """Return the length of the stretched chain that the group moves [m]."""
    model = robot.model
    parent, incoming = model.joint_parent.numpy(), incoming_joints(model)
    length, body = 0.0, robot.tip
    while body in incoming and incoming[body] != robot.group.joint_indices[0]:
        length += float(np.linalg.norm(model.joint_X_p64[incoming[body], :3]))
        body = int(parent[incoming[body]])
    return max(length, 0.02)

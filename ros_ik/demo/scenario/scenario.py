# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Scenario of the demo: reachable targets, and targets that the robot must not follow.

Reachable targets are poses of configurations near home, tested in advance with the same solver.
The box encloses them, so that they are inside and the barrier phase presses on a face.
"""

from __future__ import annotations

import dataclasses
import enum
import functools

import numpy as np

from ros_ik.barriers import PositionBarrier
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.clearance import Clearance
from ros_ik.demo.scenario.trial import Trial
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk

N_POSES = 3
# Distance of random configurations from home [rad; for prismatic joints a fraction of their
# range].
_SPREAD = 0.35
# Margin to the position limits of random configurations, more than the node's own [rad or m].
_MARGIN = 0.05
_DRAWS = 60
# Distance of the box from every reachable target, in lengths of the chain.
_CLEARANCE = 0.06
CIRCLE_TIME = 3.0
# Radius of the ball, and room to evade it; its start, the distance from the tool at which it slows
# down, and its final penetration if the tool did not move [chain lengths].
_BALL_RADIUS, _ROOM, _FAR, _SLOW, _PUSH = 0.07, 0.15, 0.25, 0.03, 0.03
_BALL_TIME = 4.4
# Number of configurations that are searched for a self-collision, and of points on the paths to
# them.
_FOLDS, _WAYS = 768, 12
_FROZEN = 0.3, 1.3
# Distance of links below which barriers may slow the robot [m], because capsules enclose the
# meshes.
_APART = 0.06
# Longest time to reach a target or rest [s]; 2 s suffice unless the machine is busy.
PATIENCE = 20.0


class Requirement(enum.Enum):
    """Demands of a phase, in addition to box and limits."""

    REACH = 'reach'  # reach the last target; the phase ends then
    PRESS_BOX = 'press the box'
    PRESS_LIMIT = 'press a joint limit'
    EVADE = 'move out of the way of the ball'
    REFUSE = 'refuse to collide with itself'
    WAIT = 'wait for a robot that stands still, then reach the last target'
    STAY_INSIDE = 'stay inside'


@dataclasses.dataclass(frozen=True, eq=False)
class Phase:
    """One part of the run.

    Attributes:
        name: Short name.
        expectation: Expected behaviour, for the table.
        duration: Longest duration [s]; a press lasts until the robot is at rest.
        poses: Pose targets [n, 7], sent one after the other over the duration; one is repeated.
        joints: Joint targets [rad or m] by name instead of poses.
        requirement: Requirement on the robot.
        nan_messages: True to mix in poses full of NaN.
        ball: Position of the ball in the root link [m], [n, 3], over the duration, or None.
        frozen: Start and end of a freeze of the robot, as in a protective stop [s].
    """

    name: str
    expectation: str
    duration: float
    poses: np.ndarray | None = None
    joints: dict[str, float] | None = None
    requirement: Requirement = Requirement.STAY_INSIDE
    nan_messages: bool = False
    ball: np.ndarray | None = None
    frozen: tuple[float, float] | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Scenario:
    """A whole run.

    Attributes:
        phases: The parts, in order.
        box_min: Lower corner of the box barrier [m], shape [3].
        box_max: Upper corner [m], shape [3].
        uses_orientation: True if the chain has enough joints to control the orientation too.
        size: Length of the stretched chain [m].
        ball_radius: Radius of the ball [m].
        clearance: Distance measurement; None without an SRDF, and the run then has neither ball
            nor self-collision.
    """

    phases: tuple[Phase, ...]
    box_min: np.ndarray
    box_max: np.ndarray
    uses_orientation: bool
    size: float
    ball_radius: float
    clearance: Clearance | None


def make_scenario(robot: DemoRobot, seed: int) -> Scenario:
    """Create the run for one robot; the same seed gives the same run.

    Args:
        robot: The robot.
        seed: Seed of the random targets.

    Raises:
        ArgumentError: No reachable targets were found around home.
    """
    uses_orientation = robot.uses_orientation
    trial = Trial(robot, uses_orientation=uses_orientation)
    start = trial.pose(robot.home)
    poses = _reachable_poses(robot, trial, np.random.default_rng(seed))
    size = _chain_length(robot)
    radius, circle = _circle(trial, robot.home, start, size)
    clearance = None
    if robot.files.srdf_path is not None:
        clearance = Clearance(robot, _BALL_RADIUS * size)
    fold = None if clearance is None else _fold(robot, trial, clearance)
    around = np.concatenate([poses[:, :3], circle[:, :3], start[None, :3]])
    if fold is not None:
        around = np.concatenate([around, fold[1]])
    # Room to evade the ball, which comes from outside.
    outward = _outward(robot, start)
    around = np.concatenate([around, start[None, :3] - _ROOM * size * outward])
    box_min, box_max = (
        around.min(axis=0) - _CLEARANCE * size,
        around.max(axis=0) + _CLEARANCE * size,
    )
    beyond = _beyond_box(robot, trial, box_min, box_max, size)
    blocked, joint, limit = _reachable_limit(robot, trial, box_min, box_max, clearance)
    stops = 'is held before' if blocked else 'stops at'
    home_joints = robot.named(robot.home)
    far = start + np.array([20.0 * size, 0, 0, 0, 0, 0, 0])
    reach = [
        Phase(
            f'pose {k + 1}', 'reached', PATIENCE, poses=pose[None], requirement=Requirement.REACH
        )
        for k, pose in enumerate(poses)
    ]
    followed = f'followed, radius {1e3 * radius:.0f} mm'
    # Back by a pose target, on a straight line inside the box; a joint-space path may touch a
    # face.
    go_back = functools.partial(Phase, poses=start[None], requirement=Requirement.REACH)
    go_home = functools.partial(Phase, joints=home_joints, requirement=Requirement.REACH)
    special = []
    if clearance is not None:
        ball = _ball(robot, clearance, start, outward, size)
        special += [
            Phase(
                'ball',
                'moves aside',
                _BALL_TIME,
                start[None],
                requirement=Requirement.EVADE,
                ball=ball,
            ),
            go_back('ball gone', 'returned', PATIENCE),
        ]
    if fold is not None:
        special += [
            Phase(
                'fold up',
                'stops',
                PATIENCE,
                joints=robot.named(fold[0]),
                requirement=Requirement.REFUSE,
            ),
            go_home('unfold', 'reached by joints', PATIENCE),
        ]
    phases: tuple[Phase, ...] = (
        *reach,
        Phase('circle', followed, CIRCLE_TIME + PATIENCE, circle, requirement=Requirement.REACH),
        *special,
        Phase(
            'box', 'held at the face', 2.5, poses=beyond[None], requirement=Requirement.PRESS_BOX
        ),
        go_back('back', 'reached', PATIENCE),
        go_home('home', 'reached by joints', PATIENCE),
        Phase(
            'joint limit', f'{joint} {stops} its limit', 2.5, joints={joint: limit},
            requirement=Requirement.STAY_INSIDE if blocked else Requirement.PRESS_LIMIT,
        ),
        go_home('home again', 'reached by joints', PATIENCE),
        Phase(
            'NaN', 'they are dropped, the good one is reached', PATIENCE, poses[:1],
            requirement=Requirement.REACH, nan_messages=True,
        ),
        Phase(
            'blocked', 'waits, then the target is reached', PATIENCE, poses[1:2],
            requirement=Requirement.WAIT, frozen=_FROZEN,
        ),
        Phase('out of reach', 'the robot stays inside box and limits', 1.5, poses=far[None]),
        go_back('return', 'reached', PATIENCE),
    )  # fmt: skip
    radius = _BALL_RADIUS * size
    return Scenario(phases, box_min, box_max, uses_orientation, size, radius, clearance)


def _outward(robot: DemoRobot, start: np.ndarray) -> np.ndarray:
    """Return the horizontal direction [3] from the base of the chain to the tool."""
    base = robot.model.body_index(robot.chain.partition(':')[0])
    body_q = np.zeros((1, robot.model.body_count, 7))
    eval_fk(robot.model, robot.home[None], body_q)
    away = np.append((start - body_q[0, base])[:2], 0.0)
    length = float(np.linalg.norm(away))
    return away / length if length > 1e-3 else np.array([1.0, 0.0, 0.0])


def _ball(
    robot: DemoRobot, clearance: Clearance, start: np.ndarray, outward: np.ndarray, size: float
) -> np.ndarray:
    """Return the path of the ball [n, 3]: slowly from outside towards the tool, and back."""
    ways = np.linspace(0.0, _FAR * size, 100)
    places = start[:3] + np.outer(ways, outward)
    distances = clearance.to_ball(np.tile(robot.home, (len(ways), 1)), places)
    touching = float(ways[distances <= 0.0].max(initial=0.0))
    slow, end = touching + _SLOW * size, touching - _PUSH * size
    times = [0.0, 0.14, 0.7, 0.8, 1.0]
    way = np.interp(np.linspace(0.0, 1.0, 200), times, [_FAR * size, slow, end, end, _FAR * size])
    return start[:3] + np.outer(way, outward)


def _fold(
    robot: DemoRobot, trial: Trial, clearance: Clearance
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a configuration in self-collision, and tip positions on the path to it.

    Among random positions of some joints, it is the one with the earliest collision on the path.

    Returns:
        Coordinates [joint_coord_count] and places [n, 3]; None where none was found.
    """
    lower, upper, velocity, _ = robot.model.limits64()
    dofs, home = robot.group.variable_dof, robot.home
    low, high = np.maximum(lower[dofs], -np.pi) + _MARGIN, np.minimum(upper[dofs], np.pi) - _MARGIN
    folded = np.zeros((0, len(home)))
    # With fewer moving joints, a robot slides less along itself after the contact.
    for moving in (3, len(dofs)):
        rng, ends = np.random.default_rng(0), np.tile(home, (_FOLDS, 1))
        drawn = rng.uniform(low, high, (_FOLDS, len(dofs)))
        moves = rng.random((_FOLDS, len(dofs))).argsort(axis=1) < moving
        ends[:, robot.coords] = np.where(moves, drawn, home[robot.coords])
        ends = np.array([robot.model.apply_mimic(end) for end in ends])
        folded = ends[clearance.to_itself(ends)[0] <= 0.0][:_WAYS]
        if len(folded):
            break
    parts = np.linspace(0.0, 1.0, 30)
    found = []
    for end in folded:
        way = home + parts[:, None] * (end - home)
        first = int(np.argmax(clearance.to_itself(way)[0] <= 0.0))
        times = np.abs(end - home)[robot.coords] / np.maximum(velocity[dofs], 1e-3)
        # Faster joints may arrive earlier.
        soon = home.copy() + np.zeros_like(way)
        done = np.minimum(parts[:, None] * times.max() / np.maximum(times, 1e-3), 1.0)
        soon[:, robot.coords] += done * (end - home)[robot.coords]
        found.append((float(parts[first] * times.max()), np.concatenate([soon, way])))
    if not found:
        return None
    _, ways = min(found, key=lambda choice: choice[0])
    return ways[-1], np.array([trial.pose(joint_q)[:3] for joint_q in ways])


def _reachable_poses(robot: DemoRobot, trial: Trial, rng: np.random.Generator) -> np.ndarray:
    """Return poses [n, 7] that the solver reaches one after the other, and from home."""
    lower, upper, _, _ = robot.model.limits64()
    coords, dofs, home = robot.coords, robot.group.variable_dof, robot.home
    low, high = lower[dofs], upper[dofs]
    spread = np.minimum(_SPREAD, 0.25 * (high - low))
    poses: list[np.ndarray] = []
    at = home
    for _ in range(_DRAWS):
        if len(poses) == N_POSES:
            break
        joint_q = home.copy()
        joint_q[coords] += rng.uniform(-spread, spread)
        joint_q[coords] = np.clip(joint_q[coords], low + _MARGIN, high - _MARGIN)
        target = trial.pose(robot.model.apply_mimic(joint_q))
        reached_q, reached = trial.follow(at, target, ())
        if reached and trial.follow(home, target, ())[1]:
            poses.append(target)
            at = reached_q
    if len(poses) < N_POSES:
        raise ArgumentError(f'found only {len(poses)} reachable poses around home')
    return np.array(poses)


def _chain_length(robot: DemoRobot) -> float:
    """Return the length of the stretched chain that the group moves [m]."""
    model = robot.model
    parent, child = model.joint_parent.numpy(), model.joint_child.numpy()
    incoming = {int(body): joint for joint, body in enumerate(child)}
    length, body = 0.0, robot.tip
    while body in incoming and incoming[body] != robot.group.joint_indices[0]:
        length += float(np.linalg.norm(model.joint_X_p64[incoming[body], :3]))
        body = int(parent[incoming[body]])
    return max(length, 0.02)


def _circle(
    trial: Trial, home: np.ndarray, start: np.ndarray, size: float
) -> tuple[float, np.ndarray]:
    """Return a circle from the start that the solver can follow: radius [m], poses [n, 7]."""
    angles = np.linspace(0.0, 2.0 * np.pi, 60)
    for radius in size * np.array([0.08, 0.04, 0.02, 0.01]):
        for first, second in ((1, 2), (0, 1), (0, 2)):
            circle = np.tile(start, (len(angles), 1))
            circle[:, first] += radius * np.sin(angles)
            circle[:, second] += radius * (np.cos(angles) - 1.0)
            joint_q, ok = home, True
            for target in circle[::6]:
                joint_q, reached = trial.follow(joint_q, target, (), steps=150)
                ok = ok and reached
            if ok:
                return float(radius), circle
    raise ArgumentError('found no circle around home that the chain can follow')


def _beyond_box(
    robot: DemoRobot, trial: Trial, box_min: np.ndarray, box_max: np.ndarray, size: float
) -> np.ndarray:
    """Return a pose outside the box, so that the robot presses on it."""
    barrier = PositionBarrier(robot.tip, box_min, box_max, gain=5.0, safe_displacement_gain=0.0)
    for target in _targets_outside(robot, trial, box_min, box_max, size):
        joint_q, _ = trial.follow(robot.home, target, [barrier], steps=150)
        place = trial.pose(joint_q)[:3]
        left = float(np.minimum(place - box_min, box_max - place).min())
        if left <= 0.01 * size:
            return target
    raise ArgumentError('found no target around home that presses on the box')


def _targets_outside(
    robot: DemoRobot, trial: Trial, box_min: np.ndarray, box_max: np.ndarray, size: float
) -> list[np.ndarray]:
    """Return poses outside the box: straight through each face, and some reachable ones."""
    start = trial.pose(robot.home)
    targets = []
    for axis in range(3):
        for face, sign in ((box_max, 1.0), (box_min, -1.0)):
            target = start.copy()
            target[axis] = face[axis] + sign * 0.15 * size
            targets.append(target)
    rng = np.random.default_rng(0)
    lower, upper, _, _ = robot.model.limits64()
    dofs = robot.group.variable_dof
    for _ in range(_DRAWS):
        joint_q = robot.home.copy()
        joint_q[robot.coords] += rng.uniform(-2.0 * _SPREAD, 2.0 * _SPREAD, len(dofs))
        joint_q[robot.coords] = np.clip(joint_q[robot.coords], lower[dofs], upper[dofs])
        pose = trial.pose(robot.model.apply_mimic(joint_q))
        if np.maximum(box_min - pose[:3], pose[:3] - box_max).max() > 0.05 * size:
            targets.append(pose)
    return targets


def _reachable_limit(
    robot: DemoRobot,
    trial: Trial,
    box_min: np.ndarray,
    box_max: np.ndarray,
    clearance: Clearance | None,
) -> tuple[bool, str, float]:
    """Return the joint that reaches a limit first without leaving the box or folding.

    Returns:
        True if the box or a fold stops the joint first, because that holds for every joint or none
        has a limit; the name of the joint; and a target beyond its limit.
    """
    lower, upper, velocity, _ = robot.model.limits64()
    group, home = robot.group, robot.home
    choices = []
    for name, coord, dof in zip(group.joint_names, robot.coords, group.variable_dof, strict=True):
        for limit, sign in ((lower[dof], -1.0), (upper[dof], 1.0)):
            if np.isfinite(limit):
                way = np.linspace(home[coord], limit, 20)
                rows = np.tile(home, (len(way), 1))
                rows[:, coord] = way
                meets = clearance is not None and clearance.to_itself(rows)[0].min() < _APART
                leaves = meets or any(
                    np.any(place < box_min) or np.any(place > box_max)
                    for place in (_tip_at(robot, trial, coord, q) for q in way)
                )
                time = abs(limit - way[0]) / max(velocity[dof], 1e-3)
                choices.append((leaves, time, name, float(limit + sign * 0.3)))
    if not choices:
        return True, group.joint_names[-1], float(home[robot.coords[-1]] + 1.0)
    leaves, _, name, target = min(choices)
    return leaves, name, target


def _tip_at(robot: DemoRobot, trial: Trial, coord: int, value: float) -> np.ndarray:
    """Return the position of the tip [m] with one coordinate moved from home."""
    joint_q = robot.home.copy()
    joint_q[coord] = value
    return trial.pose(robot.model.apply_mimic(joint_q))[:3]

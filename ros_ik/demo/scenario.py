# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What the demo asks of a robot: targets that it can reach, and some that it must not follow.

Reachable targets are poses of configurations near home, tried beforehand with the same solver;
the box is drawn around them, so that reaching fits inside and the barrier phase presses on a face.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import functools

import numpy as np

from ros_ik.barriers import PositionBarrier
from ros_ik.demo.demo_robot import DemoRobot
from ros_ik.demo.poses import pose_errors
from ros_ik.errors import ArgumentError
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

N_POSES = 5
# Distance of random configurations from home [rad; m for sliding joints as part of their range].
_SPREAD = 0.35
# Distance kept from the position limits while drawing, more than the node's own margin [rad or m].
_MARGIN = 0.05
_NODE_MARGIN = 0.02
# A trial counts as reached below this [m, rad]; a tenth of what the demo demands.
_TRIAL_TOLERANCE = (1e-4, 1e-3)
_TRIAL_STEPS = 400
_DRAWS = 60
CIRCLE_TIME = 4.0


@dataclasses.dataclass(frozen=True, eq=False)
class Phase:
    """One part of the run.

    Attributes:
        name: Short name.
        expectation: What should happen, for the table.
        duration: Longest duration [s].
        poses: Pose targets [n, 7], sent one after the other over the duration; one is repeated.
        joints: Joint targets [rad or m] by name instead of poses.
        reachable: Whether the last target must be reached; the phase then ends when it is.
        nan_messages: Whether poses full of NaN are mixed in.
    """

    name: str
    expectation: str
    duration: float
    poses: np.ndarray | None = None
    joints: dict[str, float] | None = None
    reachable: bool = False
    nan_messages: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Scenario:
    """A whole run.

    Attributes:
        phases: The parts, in order.
        box_min: Lower corner of the box barrier [m], shape [3].
        box_max: Upper corner [m], shape [3].
        uses_orientation: Whether the chain has joints enough to control the orientation too.
    """

    phases: tuple[Phase, ...]
    box_min: np.ndarray
    box_max: np.ndarray
    uses_orientation: bool


class _Trial:
    """The robot in the solver alone, without time: does it get there?"""

    def __init__(self, robot: DemoRobot, *, uses_orientation: bool) -> None:
        model = robot.model
        self._diff = DifferentialIK(model, robot.group, DifferentialIKSettings(dt=0.02))
        self._tip = robot.tip
        self._tolerance = (
            _TRIAL_TOLERANCE[0],
            _TRIAL_TOLERANCE[1] if uses_orientation else np.inf,
        )
        rotation_weight = 0.5 if uses_orientation else 0.0
        self._objective = IKObjectivePose(
            robot.tip, [0, 0, 0, 0, 0, 0, 1], rotation_weight=rotation_weight
        )
        self._posture = IKObjectiveJointPosition(model, model.neutral_joint_q())
        self._tasks = [
            Task(self._objective, gain=0.2, max_error=(0.05, 0.3)),
            Task(self._posture, gain=0.02, weight=0.01),
        ]
        self._limits = [PositionLimit(margin=_NODE_MARGIN), VelocityLimit()]
        self._step = np.zeros(model.joint_dof_count)

    def pose(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the pose of the tip [7]."""
        return self._diff.body_poses(joint_q)[self._tip]

    def follow(
        self,
        joint_q: np.ndarray,
        target: np.ndarray,
        barriers: Sequence[PositionBarrier],
        steps: int = _TRIAL_STEPS,
    ) -> tuple[np.ndarray, bool]:
        """Go towards a pose; return the configuration at the end and whether it was reached."""
        self._objective.set_target_pose(0, target)
        self._posture.set_target_positions(joint_q)
        for _ in range(steps):
            status = self._diff.solve_ik(
                joint_q, self._tasks, self._limits, barriers, self._step, 1e-8
            )
            if status not in (SolveStatus.CONVERGED, SolveStatus.RELAXED):
                return joint_q, False
            joint_q = self._diff.integrate(joint_q, self._step)
            distance, angle = pose_errors(self.pose(joint_q), target)
            if distance < self._tolerance[0] and angle < self._tolerance[1]:
                return joint_q, True
        return joint_q, False


def make_scenario(robot: DemoRobot, seed: int) -> Scenario:
    """Draw the run for one robot; the same seed gives the same run.

    Args:
        robot: The robot.
        seed: Seed of the random targets.

    Raises:
        ArgumentError: No reachable targets were found around home.
    """
    uses_orientation = robot.group.n_variables >= 6
    trial = _Trial(robot, uses_orientation=uses_orientation)
    start = trial.pose(robot.home)
    poses = _reachable_poses(robot, trial, np.random.default_rng(seed))
    size = _chain_length(robot)
    radius, circle = _circle(trial, robot.home, start, size)
    around = np.concatenate([poses[:, :3], circle[:, :3], start[None, :3]])
    box_min, box_max = around.min(axis=0) - 0.06 * size, around.max(axis=0) + 0.06 * size
    beyond = _beyond_box(robot, trial, box_min, box_max, size)
    joint, limit = _reachable_limit(robot, trial, box_min, box_max)
    home_joints = robot.named(robot.home)
    far = start + np.array([20.0 * size, 0, 0, 0, 0, 0, 0])
    reach = [
        Phase(f'pose {k + 1}', 'reached', 4.0, poses=pose[None], reachable=True)
        for k, pose in enumerate(poses)
    ]
    followed = f'followed, radius {1e3 * radius:.0f} mm'
    go_home = functools.partial(Phase, joints=home_joints, reachable=True)
    phases = (
        *reach,
        Phase('circle', followed, CIRCLE_TIME + 1.5, circle, reachable=True),
        Phase('box', 'held at the face', 2.0, poses=beyond[None]),
        go_home('home', 'reached', 5.0),
        Phase('joint limit', f'{joint} stops at its limit', 2.0, joints={joint: limit}),
        go_home('home again', 'reached', 5.0),
        Phase('NaN', 'dropped, the good target reached', 4.0, poses[:1], None, True, True),
        Phase('out of reach', 'held inside box and limits', 1.5, poses=far[None]),
        go_home('return', 'reached', 5.0),
    )
    return Scenario(phases, box_min, box_max, uses_orientation)


def _reachable_poses(robot: DemoRobot, trial: _Trial, rng: np.random.Generator) -> np.ndarray:
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
    trial: _Trial, home: np.ndarray, start: np.ndarray, size: float
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
    robot: DemoRobot, trial: _Trial, box_min: np.ndarray, box_max: np.ndarray, size: float
) -> np.ndarray:
    """Return a pose beyond the face of the box that the robot presses on hardest."""
    best: tuple[float, np.ndarray] | None = None
    start = trial.pose(robot.home)
    barrier = PositionBarrier(robot.tip, box_min, box_max, gain=5.0, safe_displacement_gain=0.0)
    for axis in range(3):
        for face, sign in ((box_max, 1.0), (box_min, -1.0)):
            target = start.copy()
            target[axis] = face[axis] + sign * 0.15 * size
            pressed = trial.pose(trial.follow(robot.home, target, [barrier], steps=150)[0])
            left = float(sign * (face[axis] - pressed[axis]))
            if best is None or left < best[0]:
                best = (left, target)
    return best[1]  # type: ignore[index]


def _reachable_limit(
    robot: DemoRobot, trial: _Trial, box_min: np.ndarray, box_max: np.ndarray
) -> tuple[str, float]:
    """Return the joint that is soonest at a limit without leaving the box, and a target beyond it.

    Where every joint would leave the box, the soonest one is taken all the same: the box then
    stops it first.
    """
    lower, upper, velocity, _ = robot.model.limits64()
    group, home = robot.group, robot.home
    choices = []
    for name, coord, dof in zip(group.joint_names, robot.coords, group.variable_dof, strict=True):
        for limit, sign in ((lower[dof], -1.0), (upper[dof], 1.0)):
            if np.isfinite(limit):
                way = np.linspace(home[coord], limit, 20)
                leaves = any(
                    np.any(place < box_min) or np.any(place > box_max)
                    for place in (_tip_at(robot, trial, coord, q) for q in way)
                )
                time = abs(limit - way[0]) / max(velocity[dof], 1e-3)
                choices.append((leaves, time, name, float(limit + sign * 0.3)))
    if not choices:
        return group.joint_names[-1], float(home[robot.coords[-1]] + 1.0)
    _, _, name, target = min(choices)
    return name, target


def _tip_at(robot: DemoRobot, trial: _Trial, coord: int, value: float) -> np.ndarray:
    """Return the position of the tip [m] with one coordinate moved from home."""
    joint_q = robot.home.copy()
    joint_q[coord] = value
    return trial.pose(robot.model.apply_mimic(joint_q))[:3]

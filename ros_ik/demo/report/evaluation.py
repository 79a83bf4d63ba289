# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a recording from measured states, not from the node's reports."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.client import PhaseRecord
from ros_ik.demo.scenario.client import Recording
from ros_ik.demo.scenario.phase import Requirement
from ros_ik.demo.scenario.phase import Scenario
from ros_ik.demo.scenario.poses import pose_errors
from ros_ik.model import JointType
from ros_ik_interfaces.msg import IkStatus

# Tolerances for a reachable target [m, rad], for the box [m] and for the limits.
REACHED = (1e-3, math.radians(0.5))
BARRIER_TOLERANCE = 1e-4
_POSITION_TOLERANCE = 1e-6
# Distance below which the robot presses on the box, in lengths of the chain.
_PRESSED = 0.02
# Distance at which a limit is reached [rad or m]: slightly more than the node's default margin.
_LIMIT_REACHED = 0.025
# Distance above which the robot has moved out of the way of the ball, and distance below which it
# has folded [chain lengths].
_ASIDE, _FOLDED = 0.02, 0.1
# Accepted status codes of a robot that stands still; on a busy machine, delays take precedence.
_BLOCKED = {
    IkStatus.FOLLOWING_ERROR, IkStatus.JOINT_STATE_STALE, IkStatus.DEADLINE_MISSED
}  # fmt: skip
# Number of joint states between two distance measurements; lifetime of a ball [s].
_EVERY, _BALL_STAYS = 4, 0.05
# Relative rounding error of a step divided by its duration.
_VELOCITY_TOLERANCE = 1e-9


@dataclasses.dataclass(frozen=True)
class PhaseResult:
    """Result of one phase.

    Attributes:
        name: Name of the phase.
        seconds: Its duration [s].
        requirement: What it demanded.
        met: True if the requirement was met.
        verdict: Result in words, with figures.
        linear: Distance to the last target at the end [m].
        angular: Angle to it [rad], NaN if the orientation is free.
        least_barrier: Least distance to a face of the box [m].
        least_clearance: Least distance to the ball or of two links [m], NaN where not measured.
    """

    name: str
    seconds: float
    requirement: Requirement
    met: bool
    verdict: str
    linear: float
    angular: float
    least_barrier: float
    least_clearance: float


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """Result of the run.

    Attributes:
        phases: Phase by phase.
        times: Times of the joint states [s].
        tip_poses: Measured poses of the tip [n, 7].
        barrier: Distance to the nearest face at each [m].
        command_barrier: The same of each command that was heard [m].
        limit_violations: Measured or commanded values outside position or velocity limits.
        clearance_times: Times at which distances of the robot were measured [s], [k].
        to_itself: Least distance of two links at each [m], [k], NaN where it is not known.
        to_ball: Distance to the ball at each [m], [k], NaN where there is none.
    """

    phases: tuple[PhaseResult, ...]
    times: np.ndarray
    tip_poses: np.ndarray
    barrier: np.ndarray
    command_barrier: np.ndarray
    limit_violations: int
    clearance_times: np.ndarray
    to_itself: np.ndarray
    to_ball: np.ndarray

    @property
    def min_barrier(self) -> float:
        """Least distance to a face of the box over the run [m]."""
        return float(self.barrier.min())

    @property
    def min_command_barrier(self) -> float:
        """Least distance of a command to a face of the box over the run [m]."""
        return float(self.command_barrier.min())

    @property
    def min_clearance(self) -> float:
        """Least distance to the ball or of two links over the run [m], NaN if not measured."""
        measured = np.concatenate([self.to_itself, self.to_ball])
        return float(np.nanmin(measured)) if np.isfinite(measured).any() else math.nan


def evaluate(robot: DemoRobot, scenario: Scenario, recording: Recording) -> Evaluation:
    """Evaluate a recording.

    Args:
        robot: The robot.
        scenario: Sent targets.
        recording: Received messages.
    """
    times, states = np.array(recording.state_times), np.array(recording.states)
    tip_poses = robot.tip_poses(states)
    barrier = _distance_to_face(scenario, tip_poses)
    commanded = np.repeat(states[:1], len(recording.commands), axis=0)
    commanded[:, robot.coords] = recording.commands
    commanded = robot.tip_poses(robot.model.apply_mimic(commanded))
    clearances = _measure(scenario, recording, times, states)
    results = tuple(
        _judge(
            record, robot, times, states, tip_poses, barrier, scenario, clearances, codes, named
        )
        for record, codes, named in zip(
            recording.phases, recording.codes, recording.barriers, strict=True
        )
    )  # fmt: skip
    violations = _limit_violations(robot, recording, states)
    return Evaluation(
        results, times, tip_poses, barrier, _distance_to_face(scenario, commanded), violations,
        clearances.times, clearances.to_itself, clearances.to_ball,
    )  # fmt: skip


def _distance_to_face(scenario: Scenario, tip_poses: np.ndarray) -> np.ndarray:
    """Return the distance of poses to the nearest face of the box [m], negative outside."""
    tips = tip_poses[:, :3]
    distances = np.concatenate([tips - scenario.box_min, scenario.box_max - tips], axis=1)
    return distances.min(axis=1)


@dataclasses.dataclass(frozen=True, eq=False)
class _Clearances:
    """Distances at some of the joint states, and the two links that were nearest."""

    times: np.ndarray
    to_itself: np.ndarray
    to_ball: np.ndarray
    links: list[list[str]]

    def least(self, start: float, end: float) -> float:
        """Return the least distance between two times [m], NaN where there is none."""
        during = (self.times >= start) & (self.times <= end)
        measured = np.concatenate([self.to_itself[during], self.to_ball[during]])
        return float(np.nanmin(measured)) if np.isfinite(measured).any() else math.nan


def _measure(
    scenario: Scenario, recording: Recording, times: np.ndarray, states: np.ndarray
) -> _Clearances:
    """Measure the robot's distances to itself and to the ball."""
    if scenario.clearance is None:
        nothing = np.full(len(times), math.nan)
        return _Clearances(times, nothing, nothing, [])
    chosen = np.arange(0, len(times), _EVERY)
    times, states = times[chosen], states[chosen]
    centers = np.full((len(times), 3), math.nan)
    if recording.balls:
        sent = np.array([time for time, _ in recording.balls])
        latest = np.searchsorted(sent, times) - 1
        # The ball exists from its first message until shortly after its last one.
        there = (latest >= 0) & (times - sent[latest] < _BALL_STAYS)
        centers[there] = np.array([center for _, center in recording.balls])[latest[there]]
    to_itself, links = scenario.clearance.to_itself(states)
    return _Clearances(times, to_itself, scenario.clearance.to_ball(states, centers), links)


def _judge(
    record: PhaseRecord,
    robot: DemoRobot,
    times: np.ndarray,
    states: np.ndarray,
    tip_poses: np.ndarray,
    barrier: np.ndarray,
    scenario: Scenario,
    clearances: _Clearances,
    codes: set[int],
    barriers: set[str],
) -> PhaseResult:
    """Evaluate one phase by its last measured state, and by the distances in it."""
    phase = record.phase
    during = (times >= record.start) & (times <= record.end)
    last = int(np.flatnonzero(during)[-1])
    if phase.joints is not None:
        goal = states[last].copy()
        starts = robot.model.joint_q_start.numpy()
        for name, value in phase.joints.items():
            goal[starts[robot.model.joint_index(name)]] = value
        target = robot.tip_poses(robot.model.apply_mimic(goal)[None])[0]
    else:
        target = phase.poses[-1]  # type: ignore[index]
    linear, angular = (float(error) for error in pose_errors(tip_poses[last], target))
    # Joint targets fix the orientation of any chain.
    counts = scenario.uses_orientation or phase.joints is not None
    least = float(barrier[during].min())
    clear = clearances.least(record.start, record.end)
    if phase.requirement in (Requirement.REACH, Requirement.WAIT):
        met = linear <= REACHED[0] and (angular <= REACHED[1] or not counts)
        if phase.requirement is Requirement.WAIT and not codes & _BLOCKED:
            met = False
        verdict = phase.expectation if met else f'not {phase.expectation}'
    elif phase.requirement is Requirement.EVADE:
        aside = float(np.linalg.norm(tip_poses[during, :3] - target[:3], axis=1).max())
        met = clear > 0.0 and aside > _ASIDE * scenario.size
        verdict = (
            f'{phase.expectation} by {1e3 * aside:.0f} mm and stays {1e3 * clear:.0f} mm apart'
        )
    elif phase.requirement is Requirement.REFUSE:
        nearest = int(np.searchsorted(clearances.times, record.end)) - 1
        left, (first, second) = clearances.to_itself[nearest], clearances.links[nearest]
        met = bool(clear > 0.0 and left < _FOLDED * scenario.size and 'self_collision' in barriers)
        verdict = f'{phase.expectation} {1e3 * left:.0f} mm before {first} meets {second}'
    elif phase.requirement is Requirement.PRESS_BOX:
        met = least <= _PRESSED * scenario.size
        verdict = f'{phase.expectation}, {1e3 * least:.2f} mm inside'
    elif phase.requirement is Requirement.PRESS_LIMIT:
        left, unit = _distance_to_limit(robot, states[during], phase.joints or {})
        met = 0.0 <= left <= _LIMIT_REACHED
        verdict = f'{phase.expectation}, {left:.3f} {unit} before it'
    else:
        met, verdict = True, phase.expectation
    return PhaseResult(
        phase.name,
        record.end - record.start,
        phase.requirement,
        met,
        verdict,
        linear,
        angular if counts else math.nan,
        least,
        clear,
    )


def _distance_to_limit(
    robot: DemoRobot, states: np.ndarray, targets: dict[str, float]
) -> tuple[float, str]:
    """Return the least distance of a joint from the limit before its target, and the unit."""
    ((name, target),) = targets.items()
    number = robot.group.joint_names.index(name)
    lower, upper, _, _ = robot.model.limits64()
    dof, positions = robot.group.variable_dof[number], states[:, robot.coords[number]]
    left = upper[dof] - positions if target > upper[dof] else positions - lower[dof]
    kind = robot.model.joint_type.numpy()[robot.model.joint_index(name)]
    return float(left.min()), 'm' if kind == JointType.PRISMATIC else 'rad'


def _limit_violations(robot: DemoRobot, recording: Recording, states: np.ndarray) -> int:
    """Count positions and commanded velocities outside the limits."""
    dofs = robot.group.variable_dof
    lower, upper, velocity, _ = (limit[dofs] for limit in robot.model.limits64())
    count = 0
    for positions in (states[:, robot.coords], np.array(recording.commands)):
        below, above = lower - _POSITION_TOLERANCE, upper + _POSITION_TOLERANCE
        count += int(((positions < below) | (positions > above)).sum())
    fastest = velocity * (1.0 + _VELOCITY_TOLERANCE)
    return count + int((np.abs(np.array(recording.velocities)) > fastest).sum())

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Judges a recording by what the robot measured, not by what the node says of itself."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ros_ik.demo.client import PhaseRecord
from ros_ik.demo.client import Recording
from ros_ik.demo.demo_robot import DemoRobot
from ros_ik.demo.poses import pose_errors
from ros_ik.demo.scenario import Demand
from ros_ik.demo.scenario import Scenario

# What the demo demands of a reachable target [m, rad], of the box [m] and of the limits.
REACHED = (1e-3, math.radians(0.5))
BARRIER_TOLERANCE = 1e-4
_POSITION_TOLERANCE = 1e-6
# The box counts as pressed on below this distance, in lengths of the chain.
_PRESSED = 0.02
# A limit counts as reached below this [rad or m]: the node's default margin and a little.
_LIMIT_REACHED = 0.025
# Rounding of a step divided by its duration, relative.
_VELOCITY_TOLERANCE = 1e-9


@dataclasses.dataclass(frozen=True)
class PhaseResult:
    """What came of one phase.

    Attributes:
        name: Name of the phase.
        seconds: Its duration [s].
        demand: What it demanded.
        met: Whether it did that.
        verdict: What happened, in words with figures.
        linear: Distance to the last target at the end [m].
        angular: Angle to it [rad], NaN where the orientation does not count.
        least_barrier: Least distance to a face of the box [m].
    """

    name: str
    seconds: float
    demand: Demand
    met: bool
    verdict: str
    linear: float
    angular: float
    least_barrier: float


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """What came of the run.

    Attributes:
        phases: Phase by phase.
        times: Times of the joint states [s].
        tip_poses: Measured poses of the tip [n, 7].
        barrier: Distance to the nearest face at each [m].
        limit_violations: Measured or commanded values outside position or velocity limits.
    """

    phases: tuple[PhaseResult, ...]
    times: np.ndarray
    tip_poses: np.ndarray
    barrier: np.ndarray
    limit_violations: int

    @property
    def min_barrier(self) -> float:
        """Least distance to a face of the box over the run [m]."""
        return float(self.barrier.min())


def evaluate(robot: DemoRobot, scenario: Scenario, recording: Recording) -> Evaluation:
    """Judge a recording.

    Args:
        robot: The robot.
        scenario: What was asked.
        recording: What was heard.
    """
    times, states = np.array(recording.state_times), np.array(recording.states)
    tip_poses = robot.tip_poses(states)
    inside = np.concatenate(
        [tip_poses[:, :3] - scenario.box_min, scenario.box_max - tip_poses[:, :3]], axis=1
    )
    barrier = inside.min(axis=1)
    results = tuple(
        _judge(record, robot, times, states, tip_poses, barrier, scenario)
        for record in recording.phases
    )
    violations = _limit_violations(robot, recording, states)
    return Evaluation(results, times, tip_poses, barrier, violations)


def _judge(
    record: PhaseRecord,
    robot: DemoRobot,
    times: np.ndarray,
    states: np.ndarray,
    tip_poses: np.ndarray,
    barrier: np.ndarray,
    scenario: Scenario,
) -> PhaseResult:
    """Judge one phase by the last state measured in it."""
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
    if phase.demand is Demand.REACH:
        met = linear <= REACHED[0] and (angular <= REACHED[1] or not counts)
        verdict = phase.expectation if met else f'not {phase.expectation}'
    elif phase.demand is Demand.PRESS_BOX:
        met = least <= _PRESSED * scenario.size
        verdict = f'{phase.expectation}, {1e3 * least:.2f} mm inside'
    elif phase.demand is Demand.PRESS_LIMIT:
        left = _least_way_to_limit(robot, states[during], phase.joints or {})
        met = 0.0 <= left <= _LIMIT_REACHED
        verdict = f'{phase.expectation}, {left:.4f} rad or m before it'
    else:
        met, verdict = True, phase.expectation
    return PhaseResult(
        phase.name,
        record.end - record.start,
        phase.demand,
        met,
        verdict,
        linear,
        angular if counts else math.nan,
        least,
    )


def _least_way_to_limit(robot: DemoRobot, states: np.ndarray, targets: dict[str, float]) -> float:
    """Return how near the joint of a target beyond its limit came to that limit [rad or m]."""
    ((name, target),) = targets.items()
    number = robot.group.joint_names.index(name)
    lower, upper, _, _ = robot.model.limits64()
    dof, positions = robot.group.variable_dof[number], states[:, robot.coords[number]]
    way = upper[dof] - positions if target > upper[dof] else positions - lower[dof]
    return float(way.min())


def _limit_violations(robot: DemoRobot, recording: Recording, states: np.ndarray) -> int:
    """Count values outside position limits, and commanded velocities outside theirs."""
    dofs = robot.group.variable_dof
    lower, upper, velocity, _ = (limit[dofs] for limit in robot.model.limits64())
    count = 0
    for positions in (states[:, robot.coords], np.array(recording.commands)):
        below, above = lower - _POSITION_TOLERANCE, upper + _POSITION_TOLERANCE
        count += int(((positions < below) | (positions > above)).sum())
    fastest = velocity * (1.0 + _VELOCITY_TOLERANCE)
    return count + int((np.abs(np.array(recording.velocities)) > fastest).sum())

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a recording from measured states, not from the node's reports."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ros_ik.demo.report.phase_judge import Clearances
from ros_ik.demo.report.phase_judge import PhaseJudge
from ros_ik.demo.report.phase_judge import PhaseResult
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.client import Recording
from ros_ik.demo.scenario.phase import Scenario
from ros_ik.model.building.joints.mimic_range import driver_limits

# Tolerances for the box [m] and for the limits.
BARRIER_TOLERANCE = 1e-4
_POSITION_TOLERANCE = 1e-6
# Number of joint states between two distance measurements; lifetime of a ball [s].
_EVERY, _BALL_STAYS = 4, 0.05
# Relative rounding error of a step divided by its duration.
_VELOCITY_TOLERANCE = 1e-9


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
    judge = PhaseJudge(robot, scenario, times, states, tip_poses, barrier, clearances)
    results = tuple(
        judge.result(record, codes, named)
        for record, codes, named in zip(
            recording.phases, recording.codes, recording.barriers, strict=True
        )
    )
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


def _measure(
    scenario: Scenario, recording: Recording, times: np.ndarray, states: np.ndarray
) -> Clearances:
    """Measure the robot's distances to itself and to the ball."""
    if scenario.clearance is None:
        nothing = np.full(len(times), math.nan)
        return Clearances(times, nothing, nothing, [])
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
    return Clearances(times, to_itself, scenario.clearance.to_ball(states, centers), links)


def _limit_violations(robot: DemoRobot, recording: Recording, states: np.ndarray) -> int:
    """Count positions and commanded velocities outside the limits."""
    dofs = robot.group.variable_dof
    lower, upper = (limit[dofs] for limit in driver_limits(robot.model))
    velocity = robot.model.limits64()[2][dofs]
    count = 0
    for positions in (states[:, robot.coords], np.array(recording.commands)):
        below, above = lower - _POSITION_TOLERANCE, upper + _POSITION_TOLERANCE
        count += int(((positions < below) | (positions > above)).sum())
    fastest = velocity * (1.0 + _VELOCITY_TOLERANCE)
    return count + int((np.abs(np.array(recording.velocities)) > fastest).sum())

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Judgement of each phase of a run, by measured states and distances."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.client import PhaseRecord
from ros_ik.demo.scenario.phase import Phase
from ros_ik.demo.scenario.phase import Requirement
from ros_ik.demo.scenario.phase import Scenario
from ros_ik.demo.scenario.poses import pose_errors
from ros_ik.model import JointType
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik_interfaces.msg import IkStatus

# Tolerances for a reachable target [m, rad].
_REACHED = (1e-3, math.radians(0.5))
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
class Clearances:
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


@dataclasses.dataclass(frozen=True, eq=False)
class _Seen:
    """Measurements of one phase.

    Attributes:
        record: Begin and end of the phase.
        during: Mask of its joint states, [n].
        target: Last target of the tip [7].
        linear: Distance to it at the end [m].
        angular: Angle to it [rad], NaN if the orientation is free.
        least_barrier: Least distance to a face of the box [m].
        least_clearance: Least distance to the ball or of two links [m], NaN where not measured.
        codes: Codes of the statuses in the phase.
        barriers: Names of the barriers in them.
    """

    record: PhaseRecord
    during: np.ndarray
    target: np.ndarray
    linear: float
    angular: float
    least_barrier: float
    least_clearance: float
    codes: set[int]
    barriers: set[str]

    @property
    def phase(self) -> Phase:
        """The phase."""
        return self.record.phase


class PhaseJudge:
    """Judge of the phases of one run."""

    def __init__(
        self,
        robot: DemoRobot,
        scenario: Scenario,
        times: np.ndarray,
        states: np.ndarray,
        tip_poses: np.ndarray,
        barrier: np.ndarray,
        clearances: Clearances,
    ) -> None:
        """Store the measurements.

        Args:
            robot: The robot.
            scenario: Sent targets.
            times: Times of the joint states [s], [n].
            states: Joint states [n, joint_coord_count].
            tip_poses: Poses of the tip at each [n, 7].
            barrier: Distance to the nearest face of the box at each [m].
            clearances: Distances of the robot to itself and to the ball.
        """
        self._robot, self._scenario, self._times, self._states = robot, scenario, times, states
        self._tip_poses, self._barrier, self._clearances = tip_poses, barrier, clearances
        self._judgements = {
            Requirement.REACH: self._judge_reach,
            Requirement.WAIT: self._judge_wait,
            Requirement.EVADE: self._judge_evade,
            Requirement.REFUSE: self._judge_refuse,
            Requirement.PRESS_BOX: self._judge_press_box,
            Requirement.PRESS_LIMIT: self._judge_press_limit,
        }

    def result(self, record: PhaseRecord, codes: set[int], barriers: set[str]) -> PhaseResult:
        """Judge one phase by its last measured state, and by the distances in it.

        Args:
            record: Begin and end of the phase.
            codes: Codes of the statuses in it.
            barriers: Names of the barriers in them.
        """
        phase, seen = record.phase, self._seen(record, codes, barriers)
        judge = self._judgements.get(phase.requirement)
        met, verdict = (True, phase.expectation) if judge is None else judge(seen)
        return PhaseResult(
            phase.name,
            record.end - record.start,
            phase.requirement,
            met,
            verdict,
            seen.linear,
            seen.angular,
            seen.least_barrier,
            seen.least_clearance,
        )

    def _seen(self, record: PhaseRecord, codes: set[int], barriers: set[str]) -> _Seen:
        """Return the measurements of a phase."""
        during = (self._times >= record.start) & (self._times <= record.end)
        last = int(np.flatnonzero(during)[-1])
        target = self._target(record.phase, self._states[last])
        linear, angular = (float(error) for error in pose_errors(self._tip_poses[last], target))
        # Joint targets fix the orientation of any chain.
        counts = self._scenario.uses_orientation or record.phase.joints is not None
        return _Seen(
            record, during, target, linear, angular if counts else math.nan,
            float(self._barrier[during].min()), self._clearances.least(record.start, record.end),
            codes, barriers,
        )  # fmt: skip

    def _target(self, phase: Phase, state: np.ndarray) -> np.ndarray:
        """Return the last target of the tip [7], for joints from a state [joint_coord_count]."""
        if phase.joints is None:
            return phase.poses[-1]  # type: ignore[index]
        model, goal = self._robot.model, state.copy()
        starts = model.joint_q_start.numpy()
        for name, value in phase.joints.items():
            goal[starts[model.joint_index(name)]] = value
        return self._robot.tip_poses(model.apply_mimic(goal)[None])[0]

    def _judge_reach(self, seen: _Seen) -> tuple[bool, str]:
        # An orientation that is free has no angle, and NaN exceeds nothing.
        met = seen.linear <= _REACHED[0] and not seen.angular > _REACHED[1]
        return met, seen.phase.expectation if met else f'not {seen.phase.expectation}'

    def _judge_wait(self, seen: _Seen) -> tuple[bool, str]:
        met = self._judge_reach(seen)[0] and bool(seen.codes & _BLOCKED)
        return met, seen.phase.expectation if met else f'not {seen.phase.expectation}'

    def _judge_evade(self, seen: _Seen) -> tuple[bool, str]:
        away = self._tip_poses[seen.during, :3] - seen.target[:3]
        aside, clear = float(np.linalg.norm(away, axis=1).max()), seen.least_clearance
        return clear > 0.0 and aside > _ASIDE * self._scenario.size, (
            f'{seen.phase.expectation} by {1e3 * aside:.0f} mm and stays {1e3 * clear:.0f} mm '
            'apart'
        )

    def _judge_refuse(self, seen: _Seen) -> tuple[bool, str]:
        nearest = int(np.searchsorted(self._clearances.times, seen.record.end)) - 1
        left = self._clearances.to_itself[nearest]
        first, second = self._clearances.links[nearest]
        met = bool(
            seen.least_clearance > 0.0
            and left < _FOLDED * self._scenario.size
            and 'self_collision' in seen.barriers
        )
        return met, f'{seen.phase.expectation} {1e3 * left:.0f} mm before {first} meets {second}'

    def _judge_press_box(self, seen: _Seen) -> tuple[bool, str]:
        least = seen.least_barrier
        met = least <= _PRESSED * self._scenario.size
        return met, f'{seen.phase.expectation}, {1e3 * least:.2f} mm inside'

    def _judge_press_limit(self, seen: _Seen) -> tuple[bool, str]:
        states, joints = self._states[seen.during], seen.phase.joints or {}
        left, unit = _distance_to_limit(self._robot, states, joints)
        met = 0.0 <= left <= _LIMIT_REACHED
        return met, f'{seen.phase.expectation}, {left:.3f} {unit} before it'


def _distance_to_limit(
    robot: DemoRobot, states: np.ndarray, targets: dict[str, float]
) -> tuple[float, str]:
    """Return the least distance of a joint from the limit before its target, and the unit."""
    ((name, target),) = targets.items()
    number = robot.group.joint_names.index(name)
    lower, upper = driver_limits(robot.model)
    dof, positions = robot.group.variable_dof[number], states[:, robot.coords[number]]
    left = upper[dof] - positions if target > upper[dof] else positions - lower[dof]
    kind = robot.model.joint_type.numpy()[robot.model.joint_index(name)]
    return float(left.min()), 'm' if kind == JointType.PRISMATIC else 'rad'

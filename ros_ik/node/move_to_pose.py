# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Goals of ``~/move_to_pose``: a pose target that lasts, until the measured frame is there."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ros_ik.node.action_server import End
from ros_ik.node.action_server import GoalError
from ros_ik.node.action_server import Outcome
from ros_ik.node.commander import ComingToRest
from ros_ik.node.commander import Commander
from ros_ik.node.drops import Drop
from ros_ik.node.pose_messages import pose_numbers
from ros_ik.node.transforms import Nowhere
from ros_ik.servo import Mode
from ros_ik.servo import PoseTarget
from ros_ik.servo import Rejection
from ros_ik.servo.pose_math import pose_difference
from ros_ik.servo.pose_math import pose_inverse
from ros_ik.servo.pose_math import pose_multiply
from ros_ik.settings import TaskSettings
from ros_ik_interfaces.action import MoveToPose

MODES = (Mode.AUTO, Mode.POSE)
# How long the frame stays within the tolerances before it counts as arrived [s].
_SETTLING = 0.1


class MoveToPoseMotion:
    """One goal."""

    def __init__(self, commander: Commander, goal: MoveToPose.Goal) -> None:
        """Check the goal.

        Raises:
            GoalError: It cannot be followed, and why.
        """
        self._commander = commander
        commander.check_ready(*MODES)
        self._task = _task_index(commander, goal.task)
        self._situation = commander.situation()
        settings = commander.settings
        for name in ('linear_tolerance', 'angular_tolerance', 'timeout'):
            _check_not_negative(name, getattr(goal, name))
        task = settings.tasks[self._task]
        self._tolerances = (
            goal.linear_tolerance or task.linear_tolerance,
            goal.angular_tolerance or task.angular_tolerance,
        )
        self._timeout = min(goal.timeout or math.inf, settings.actions_timeout)
        self._target = self._read(goal)
        self._started = self._within_since = commander.now()
        self._resting: ComingToRest | None = None
        self._errors = self._measure(task)
        self._check_jump()

    def begin(self) -> None:
        """Take the place of every other target of the task."""
        self._commander.put_pose(self._task, self._target)
        self._others = self._competitors()

    def poll(self, now: float, canceled: bool) -> End | None:
        """Return the end of the goal once there is one; see :class:`Motion`."""
        commander = self._commander
        reason = commander.interruption(self._situation, *MODES) or self._replaced()
        if reason:
            return self.abort(reason)
        self._errors = self._measure(commander.settings.tasks[self._task])
        if canceled:
            return self._come_to_rest(now)
        if not self._is_within():
            self._within_since = now
        elif now - self._within_since >= _SETTLING:
            self._withdraw()
            return End(Outcome.SUCCEEDED, self._result(True, ''))
        if now - self._started > self._timeout:
            return self.abort(f'not reached within {self._timeout:g} s: {commander.output.text}')
        return None

    def feedback(self) -> MoveToPose.Feedback:
        """Return the state of the motion."""
        output = self._commander.output
        return MoveToPose.Feedback(
            code=int(output.code),
            linear_error=self._errors[0],
            angular_error=self._errors[1],
            limiting_barrier=output.limiting_barrier,
        )

    def abort(self, reason: str) -> End:
        """Withdraw the target, unless another one has taken its place."""
        self._withdraw()
        return End(Outcome.ABORTED, self._result(False, reason))

    def _read(self, goal: MoveToPose.Goal) -> PoseTarget:
        """Return the target in the reference link of the task, where it stays."""
        commander, header, pose = self._commander, goal.target.header, goal.target.pose
        place = commander.find(header.frame_id, header.stamp)
        if isinstance(place, Nowhere):
            raise GoalError(place.reason, f'target: frame {header.frame_id!r}: {place.text}')
        given = place.moved_pose(np.array(pose_numbers(pose))).tolist()
        target = commander.reader.pose(
            self._task, place.link, given[:3], given[3:], commander.now(), lasting=True
        )
        if isinstance(target, Rejection):
            raise GoalError(target, f'target: {target.value}: {pose}')
        reference = commander.servo.robot.task_references[self._task]
        if target.frame_link == reference:
            return target
        links = commander.measured_links()
        in_world = pose_multiply(links[target.frame_link], target.pose)
        fixed = pose_multiply(pose_inverse(links[reference]), in_world)
        return dataclasses.replace(target, pose=fixed, frame_link=reference)

    def _measure(self, task: TaskSettings) -> tuple[float, float]:
        """Return distance and angle of the measured frame to the target, on axes that count."""
        measured = self._commander.output.tasks[self._task].current_pose
        if measured is None:
            return math.nan, math.nan
        linear, angular = pose_difference(self._target.pose, measured)
        return (
            float(np.linalg.norm(linear * (np.array(task.position_weight) > 0.0))),
            float(np.linalg.norm(angular * (np.array(task.orientation_weight) > 0.0))),
        )

    def _is_within(self) -> bool:
        """Return whether the measured and the commanded frame are within the tolerances."""
        report = self._commander.output.tasks[self._task]
        commanded = report.linear_error, report.angular_error
        return all(
            error <= tolerance
            for errors in (self._errors, commanded)
            for error, tolerance in zip(errors, self._tolerances, strict=True)
        )

    def _check_jump(self) -> None:
        settings = self._commander.settings
        if settings.target_jump_policy != 'reject':
            return
        limits = settings.max_target_step_linear, settings.max_target_step_angular
        if any(e > limit for e, limit in zip(self._errors, limits, strict=True)):
            raise GoalError(
                Rejection.TARGET_JUMP,
                f'the target is {self._errors[0]:.3g} m and {self._errors[1]:.3g} rad away, more '
                'than max_target_step_* permit while target_jump_policy is reject',
            )

    def _competitors(self) -> tuple[Any, ...]:
        """Return the targets that would take over if they changed."""
        command = self._commander.command
        return (command.joints, *command.twists[self._task : self._task + 1])

    def _replaced(self) -> str:
        held = None if self._resting is not None else self._target
        if self._commander.command.poses[self._task] is not held:
            return 'a newer target of the task has taken over'
        return self._commander.newcomer(self._others, self._competitors())

    def _come_to_rest(self, now: float) -> End | None:
        if self._resting is None:
            self._resting = ComingToRest(self._commander)
            self._withdraw()
        if not self._resting.done(now):
            return None
        return End(Outcome.CANCELED, self._result(False, 'cancelled'))

    def _withdraw(self) -> None:
        """Leave the task without a target: the servo decelerates, within its limits."""
        poses = self._commander.command.poses
        if self._task < len(poses) and poses[self._task] is self._target:
            self._commander.put_pose(self._task, None)

    def _result(self, reached: bool, message: str) -> MoveToPose.Result:
        return MoveToPose.Result(
            reached=reached,
            message=message,
            linear_error=self._errors[0],
            angular_error=self._errors[1],
        )


def _task_index(commander: Commander, name: str) -> int:
    names = [task.name for task in commander.settings.tasks]
    if name and name not in names:
        raise GoalError(Drop.INVALID_GOAL, f'task: there is no {name!r}, only {", ".join(names)}')
    return names.index(name) if name else 0


def _check_not_negative(name: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0.0):
        raise GoalError(Drop.INVALID_GOAL, f'{name} must be finite and not negative, got {value}')

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Goals of ``~/move_to_pose``: a pose target that lasts, until the measured frame is there."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ros_ik.node.action_motion import ActionMotion
from ros_ik.node.action_motion import SETTLING
from ros_ik.node.action_server import End
from ros_ik.node.action_server import GoalError
from ros_ik.node.action_server import Outcome
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


class MoveToPoseMotion(ActionMotion):
    """One goal."""

    modes = (Mode.AUTO, Mode.POSE)
    place = 'target of the task'

    def __init__(self, commander: Commander, goal: MoveToPose.Goal) -> None:
        """Check the goal.

        Raises:
            GoalError: It cannot be followed, and why.
        """
        super().__init__(commander)
        self._task = _task_index(commander, goal.task)
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
        self._errors = self._measure(task)
        self._check_jump()

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

    def _begin(self, now: float) -> None:
        self._put(self._target)

    def _look(self, now: float) -> None:
        self._errors = self._measure(self._commander.settings.tasks[self._task])

    def _advance(self, now: float) -> End | None:
        if not self._is_within():
            self._within_since = now
        elif now - self._within_since >= SETTLING:
            self._withdraw()
            return End(Outcome.SUCCEEDED, self._result(True, ''))
        if now - self._started > self._timeout:
            text = self._commander.output.text
            return self.abort(f'not reached within {self._timeout:g} s: {text}')
        return None

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
        command = self._commander.command
        return (command.joints, *command.twists[self._task : self._task + 1])

    def _present(self) -> PoseTarget | None:
        poses = self._commander.command.poses
        return poses[self._task] if self._task < len(poses) else None

    def _put(self, target: PoseTarget | None) -> None:
        self._commander.put_pose(self._task, target)

    def _canceled(self) -> End:
        return End(Outcome.CANCELED, self._result(False, 'cancelled'))

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

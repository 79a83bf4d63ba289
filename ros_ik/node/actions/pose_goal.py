# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Validation of a goal of ``~/move_to_pose``, and the errors of a frame to its pose."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ros_ik.node.actions.action_server import GoalError
from ros_ik.node.actions.commander import Commander
from ros_ik.node.subscribers.rejections import explain_frame
from ros_ik.node.subscribers.rejections import explain_numbers
from ros_ik.node.subscribers.transforms import UnresolvedFrame
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.pose_messages import pose_numbers
from ros_ik.servo import PoseTarget
from ros_ik.servo import Rejection
from ros_ik.servo.motion.pose_math import float_difference
from ros_ik.servo.targets.accepted_targets import in_reference
from ros_ik.servo.targets.active_axes import ActiveAxes
from ros_ik.servo.targets.jump_check import is_jump
from ros_ik.settings import Settings
from ros_ik_interfaces.action import MoveToPose


@dataclasses.dataclass(frozen=True, eq=False)
class PoseGoal:
    """A valid goal.

    Attributes:
        task: Index of its task.
        target: Its pose, in the link in which it is given.
        pose: The same in the reference link of the task [7]: at first as estimated from the last
            command, then as the servo has accepted it.
        tolerances: Position [m] and orientation tolerance [rad].
        timeout: Time in which it must be reached [s].
    """

    task: int
    target: PoseTarget
    pose: np.ndarray
    tolerances: tuple[float, float]
    timeout: float

    def errors(self, frame: np.ndarray | None, settings: Settings) -> tuple[float, float]:
        """Return position [m] and orientation error [rad] of a pose [7], on active axes.

        Args:
            frame: Pose of the frame in the reference link, or None if it is unknown; the errors
                are NaN then.
            settings: Settings with the active axes.
        """
        if frame is None:
            return math.nan, math.nan
        difference = float_difference(self.pose.tolist(), frame.tolist())
        return ActiveAxes.of_task(settings.tasks[self.task]).lengths(difference)


def read_goal(goal: MoveToPose.Goal, commander: Commander) -> PoseGoal:
    """Validate a goal.

    Args:
        goal: The goal.
        commander: Robot, settings and state that it has to fit.

    Raises:
        GoalError: It cannot be followed, with the reason.
    """
    settings, task = commander.settings, _task_index(commander.settings, goal.task)
    for name in ('linear_tolerance', 'angular_tolerance', 'timeout'):
        _check_not_negative(name, getattr(goal, name))
    defaults = settings.tasks[task]
    tolerances = (
        goal.linear_tolerance or defaults.linear_tolerance,
        goal.angular_tolerance or defaults.angular_tolerance,
    )
    timeout = min(goal.timeout or math.inf, settings.actions_timeout)
    target, links = _read_target(goal, commander, task), commander.start_links()
    tracker = commander.servo.targets.trackers[task]
    reference = commander.servo.robot.task_references[task]
    pose = in_reference(target, reference, links).pose
    found = PoseGoal(task, target, pose, tolerances, timeout)
    _check_jump(found.errors(tracker.frame_pose(links), settings), settings)
    return found


def _task_index(settings: Settings, name: str) -> int:
    names = [task.name for task in settings.tasks]
    if name and name not in names:
        raise GoalError(Drop.INVALID_GOAL, f'task: there is no {name!r}, only {", ".join(names)}')
    return names.index(name) if name else 0


def _check_not_negative(name: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0.0):
        raise GoalError(Drop.INVALID_GOAL, f'{name} must be finite and not negative, got {value}')


def _read_target(goal: MoveToPose.Goal, commander: Commander, task: int) -> PoseTarget:
    """Return the target in the link in which it is given."""
    header, pose = goal.target.header, goal.target.pose
    frame = commander.find(header.frame_id, header.stamp)
    if isinstance(frame, UnresolvedFrame):
        raise GoalError(frame.reason, f'target: {explain_frame(header.frame_id, frame.text)}')
    given = frame.moved_pose(np.array(pose_numbers(pose))).tolist()
    target = commander.reader.pose(
        task, frame.link, given[:3], given[3:], commander.now(), lasting=True
    )
    if isinstance(target, Rejection):
        text = explain_numbers(target, pose_numbers(pose), header.frame_id)
        raise GoalError(target, f'target: {text}')
    return target


def _check_jump(errors: tuple[float, float], settings: Settings) -> None:
    """Check that a target is not too far away where such targets are refused.

    The servo checks it again when it accepts the target, by the command of that tick.
    """
    if is_jump(*errors, settings):
        raise GoalError(
            Rejection.TARGET_JUMP,
            f'the target is {errors[0]:.3g} m and {errors[1]:.3g} rad away, more than '
            'max_target_step_* permit while target_jump_policy is reject',
        )

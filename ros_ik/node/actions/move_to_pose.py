# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Goals of ``~/move_to_pose``: a pose target until the measured frame has reached it.

If the robot comes to rest short of it and the goal allows another configuration, the planners'
process searches for one. The joints move there, and then the pose is the target again.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ros_ik.node.actions.action_motion import ActionMotion
from ros_ik.node.actions.action_motion import SETTLING
from ros_ik.node.actions.action_server import GoalEnd
from ros_ik.node.actions.action_server import GoalError
from ros_ik.node.actions.action_server import Outcome
from ros_ik.node.actions.commander import Commander
from ros_ik.node.actions.goal_state import GoalEvent
from ros_ik.node.actions.goal_state import GoalState
from ros_ik.node.actions.pose_goal import read_goal
from ros_ik.node.actions.straight_motion import StraightMotion
from ros_ik.servo import JointTarget
from ros_ik.servo import JointVelocityTarget
from ros_ik.servo import Mode
from ros_ik.servo import PoseTarget
from ros_ik.servo import StatusCode
from ros_ik.servo.targets.accepted_targets import AcceptedTargets
from ros_ik.servo.targets.target_checks import renewed
from ros_ik.servo.targets.target_selection import JUMP_REJECTED
from ros_ik_interfaces.action import MoveToPose

# Maximum number of configuration changes per goal, and time limit of a search [s]; the first
# search may compile kernels.
_MAX_CHANGES, _SEARCH_TIME = 3, 30.0
# Time after which the status refers to the new target [s].
_STALE = 0.3


class MoveToPoseMotion(ActionMotion):
    """One goal."""

    modes = (Mode.AUTO, Mode.POSE)
    slot = 'target of the task'
    # Joint motion that replaces the pose target, or None. After a cancellation, this alone shows
    # which target to withdraw: joints or pose.
    _joint_motion: StraightMotion | None = None
    _question: int

    def __init__(self, commander: Commander, goal: MoveToPose.Goal) -> None:
        """Check the goal.

        Raises:
            GoalError: It cannot be followed, with the reason.
        """
        super().__init__(commander)
        self._goal = read_goal(goal, commander)
        self._task = self._goal.task
        self._target = self._goal.target
        self._started = self._within_since = self._aimed = commander.now()
        self._may_reconfigure = goal.allow_reconfiguration
        self._changes: list[str] = []
        self._errors = self._measure()

    @staticmethod
    def refusal(error: GoalError) -> MoveToPose.Result:
        """Return the result of an invalid goal."""
        return MoveToPose.Result(
            reached=False, message=str(error), linear_error=math.nan, angular_error=math.nan
        )

    def feedback(self) -> MoveToPose.Feedback:
        """Return the state of the motion."""
        output = self._commander.output
        return MoveToPose.Feedback(
            code=int(output.code),
            linear_error=self._errors[0],
            angular_error=self._errors[1],
            limiting_barrier=output.limiting_barrier,
        )

    def abort(self, reason: str) -> GoalEnd:
        """Withdraw the target, unless a newer one has replaced it."""
        return self._finish(Outcome.ABORTED, self._result(False, reason))

    def _begin(self, now: float) -> None:
        before = self._current_target()
        self._target = renewed(self._goal.target, now)
        self._replace_target(before, self._target)
        if not self._may_reconfigure:
            self._machine.handle(GoalEvent.PERSIST)

    def _read_state(self, now: float) -> None:
        target, accepted = self._target, self._accepted().lasting
        if isinstance(target, PoseTarget) and accepted is not None:
            if accepted.sequence == target.sequence:
                self._goal = dataclasses.replace(self._goal, pose=accepted.pose)
        self._errors = self._measure()

    def _advance(self, now: float) -> GoalEnd | None:
        if self._is_rejected():
            return self.abort(JUMP_REJECTED)
        if self._joint_motion is not None or not self._is_within():
            self._within_since = now
        elif now - self._within_since >= SETTLING:
            return self._finish(Outcome.SUCCEEDED, self._result(True, '; '.join(self._changes)))
        if now - self._started > self._goal.timeout:
            parts = (self._commander.output.text, *self._changes)
            return self.abort(f'not reached within {self._goal.timeout:g} s: {"; ".join(parts)}')
        if self._joint_motion is not None:
            self._follow_joint_motion(self._joint_motion, now, self._target)
        elif self.state is not GoalState.PERSISTING:
            self._request_configuration(now)
        return None

    def _request_configuration(self, now: float) -> None:
        """Request another configuration if the robot is at rest short of the target."""
        commander = self._commander
        rests = commander.output.code == StatusCode.STATIONARY and now - self._aimed > _STALE
        if self.state is GoalState.SEARCHING and rests:
            self._read_answer(now)
        elif self.state is GoalState.SEARCHING:
            self._machine.handle(GoalEvent.RESUME)
        elif not rests:
            return
        elif commander.command.mode is not Mode.AUTO:
            self._stop_reconfiguring(f'mode {commander.command.mode.name} has no joint targets')
        elif len(self._changes) >= _MAX_CHANGES:
            self._stop_reconfiguring('no further change of configuration is tried')
        else:
            self._machine.handle(GoalEvent.SEARCH)
            start = commander.output.joint_q[commander.servo.robot.coords]
            self._asked_at = now
            self._question = commander.planner.ask(
                self._task, self._goal.pose, start, self._goal.tolerances, _SEARCH_TIME
            )

    def _read_answer(self, now: float) -> None:
        """Follow the configuration of the planner once it has answered."""
        found = self._commander.planner.answer(self._question)
        if found is None:
            if now - self._asked_at > 1.5 * _SEARCH_TIME:
                self._stop_reconfiguring('no answer to the search for another configuration')
        elif found.message:
            self._stop_reconfiguring(found.message)
        else:
            self._machine.handle(GoalEvent.RECONFIGURE)
            motion = StraightMotion(self._commander, found.joint_names, found.positions)
            self._start_joint_motion(motion, now)

    def _start_joint_motion(self, motion: StraightMotion, now: float) -> None:
        """Replace the pose target by a joint motion."""
        joints = self._commander.command.joints
        if joints not in (None, self._others[0]):
            return  # a newer one, which preempts this goal
        self._withdraw()
        if self._current_target() is not None:
            return  # a newer one, too
        self._joint_motion = motion
        self._changes.append('changed the configuration')
        self._target = None
        self._others = self._other_targets()
        self._follow_joint_motion(motion, now, joints)

    def _follow_joint_motion(self, motion: StraightMotion, now: float, before: Any) -> None:
        """Set the next joint target, or the pose target at the end of the joint motion.

        Args:
            motion: The joint motion.
            now: Clock of the servo [s].
            before: Joint target to replace, or None.
        """
        target = motion.target(now)
        if target is not None:
            self._target = target
            self._replace_target(before, target)
            return
        if motion.is_blocked:
            self._changes[-1] = 'a change of configuration was blocked'
        self._machine.handle(GoalEvent.RESUME)
        self._withdraw()
        self._joint_motion, self._aimed = None, now
        reference = self._commander.servo.robot.task_references[self._task]
        fixed = dataclasses.replace(
            self._goal.target, pose=self._goal.pose, frame_link=reference
        )
        self._target = renewed(fixed, now)
        self._others = self._other_targets()
        self._replace_target(None, self._target)

    def _stop_reconfiguring(self, reason: str) -> None:
        """Stop changing the configuration; the pose target stays, because a blockage may end."""
        self._machine.handle(GoalEvent.PERSIST)
        self._changes.append(reason)

    def _accepted(self) -> AcceptedTargets:
        """Return the accepted targets of the task."""
        return self._commander.servo.targets.trackers[self._task].accepted

    def _is_rejected(self) -> bool:
        """Return True if the servo has rejected the current pose target as a jump."""
        target = self._target
        return (
            isinstance(target, PoseTarget)
            and self._accepted().rejected_sequence == target.sequence
        )

    def _measure(self) -> tuple[float, float]:
        """Return position and orientation error of the measured frame, on active axes."""
        commander = self._commander
        measured = commander.output.tasks[self._task].current_pose
        return self._goal.errors(measured, commander.settings)

    def _is_within(self) -> bool:
        """Return True if measured and commanded frame are within the tolerances."""
        report = self._commander.output.tasks[self._task]
        commanded = report.linear_error, report.angular_error
        return all(
            error <= tolerance
            for errors in (self._errors, commanded)
            for error, tolerance in zip(errors, self._goal.tolerances, strict=True)
        )

    def _other_targets(self) -> tuple[Any, ...]:
        command = self._commander.command
        if self._joint_motion is not None:
            return (*command.poses, *command.twists)
        return (command.joints, *command.twists[self._task : self._task + 1])

    def _current_target(self) -> PoseTarget | JointTarget | JointVelocityTarget | None:
        if self._joint_motion is not None:
            return self._commander.command.joints
        return self._commander.command.pose_of(self._task)

    def _replace_target(self, before: Any, target: Any) -> None:
        if self._joint_motion is not None:
            self._commander.replace_joints(before, target)
            return
        self._commander.replace_pose(self._task, before, target)

    def _canceled(self) -> GoalEnd:
        return self._finish(Outcome.CANCELED, self._result(False, 'cancelled'))

    def _result(self, reached: bool, message: str) -> MoveToPose.Result:
        return MoveToPose.Result(
            reached=reached,
            message=message,
            linear_error=self._errors[0],
            angular_error=self._errors[1],
        )

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Goals of ``~/follow_joint_trajectory``: a trajectory, filtered by limits and barriers.

The servo follows a joint target that moves along the trajectory. Each tick aims at the position of
its own time: one sampled between ticks would be repeated or left out, and the robot would brake.
The servo stops at every position it aims at, so that is ahead by the braking distance. The robot
then moves at the speed of the trajectory unless something holds it back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.node.actions.action_motion import ActionMotion
from ros_ik.node.actions.action_motion import SETTLING
from ros_ik.node.actions.action_server import GoalEnd
from ros_ik.node.actions.action_server import GoalError
from ros_ik.node.actions.action_server import Outcome
from ros_ik.node.actions.commander import Commander
from ros_ik.node.actions.trajectory_goal import read_goal
from ros_ik.node.actions.trajectory_goal import TrajectoryGoal
from ros_ik.node.control.command_messages import duration
from ros_ik.node.control.command_messages import stamp_of
from ros_ik.node.transport.message_stats import Drop
from ros_ik.servo import JointTarget
from ros_ik.servo import JointVelocityTarget
from ros_ik.servo import Mode
from ros_ik.servo import Rejection
from ros_ik.servo.motion.approach import braking_distance

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    FollowJointTrajectory = None


class TrajectoryMotion:
    """Motion of the joint target of a goal; see :class:`~ros_ik.servo.JointMotion`."""

    def __init__(self, goal: TrajectoryGoal, start: float) -> None:
        """Follow the trajectory of ``goal`` from the time ``start`` [s]."""
        self._goal, self._start = goal, start

    def sample(self, now: float) -> tuple[int, np.ndarray, np.ndarray]:
        """Return segment, positions and velocities of the joints of the goal; ``now`` in s."""
        return self._goal.spline.at(now - self._start)

    def aim(self, now: float, acceleration: np.ndarray, dt: float) -> np.ndarray:
        """Return the positions to aim at in one tick."""
        variables = self._goal.variables
        _, positions, velocities = self.sample(now)
        aim = np.full(len(acceleration), np.nan)
        aim[variables] = positions + braking_distance(velocities, acceleration[variables], dt)
        return aim


class FollowTrajectoryMotion(ActionMotion):
    """One goal."""

    modes = (Mode.AUTO, Mode.JOINT)
    slot = 'joint target'

    def __init__(self, commander: Commander, goal: Any) -> None:
        """Check the goal.

        Raises:
            GoalError: It cannot be followed, with the reason.
        """
        super().__init__(commander)
        robot, settings = commander.servo.robot, commander.settings
        self._goal = read_goal(
            goal, robot, settings, commander.start_positions(), 1e-9 * commander.ros_nanoseconds()
        )
        self._start = self._within_since = commander.now() + self._goal.delay
        self._motion = TrajectoryMotion(self._goal, self._start)
        self._read_state(commander.now())

    @staticmethod
    def refusal(error: GoalError) -> Any:
        """Return the result of an invalid goal."""
        result = FollowJointTrajectory.Result
        codes = {
            Rejection.UNKNOWN_JOINT: result.INVALID_JOINTS,
            Rejection.REPEATED_JOINT: result.INVALID_JOINTS,
            Drop.TOO_OLD: result.OLD_HEADER_TIMESTAMP,
        }
        code = codes.get(error.reason, result.INVALID_GOAL)
        return result(error_code=code, error_string=str(error))

    def feedback(self) -> Any:
        """Return the state of the motion."""
        message = FollowJointTrajectory.Feedback(joint_names=list(self._goal.joint_names))
        message.header.stamp = stamp_of(self._commander.ros_nanoseconds())
        time = duration(max(0.0, self._time))
        message.desired = JointTrajectoryPoint(
            positions=self._desired.tolist(),
            velocities=self._velocity.tolist(),
            time_from_start=time,
        )
        message.actual = JointTrajectoryPoint(
            positions=self._actual.tolist(), time_from_start=time
        )
        message.error = JointTrajectoryPoint(
            positions=(self._desired - self._actual).tolist(), time_from_start=time
        )
        if hasattr(message, 'index'):  # not in every release of control_msgs
            message.index = self._segment
        return message

    def abort(self, reason: str) -> GoalEnd:
        """Withdraw the target, unless a newer one has replaced it."""
        return self._end(Outcome.ABORTED, FollowJointTrajectory.Result.INVALID_GOAL, reason)

    def _begin(self, now: float) -> None:
        before = self._current_target()
        target = self._commander.reader.joints(
            self._goal.joint_names,
            self._desired.tolist(),
            now,
            lasting=True,
            motion=self._motion,
        )
        assert isinstance(target, JointTarget)  # checked with the goal
        self._target = target
        self._replace_target(before, target)

    def _advance(self, now: float) -> GoalEnd | None:
        return self._violation() or self._arrival(now)

    def _read_state(self, now: float) -> None:
        """Update the measured and the desired positions."""
        self._time = now - self._start
        self._segment, self._desired, self._velocity = self._motion.sample(now)
        self._actual = self._commander.measured_positions()[self._goal.variables]

    def _violation(self) -> GoalEnd | None:
        """Return the end of the goal if the robot left the path tolerance."""
        error = np.abs(self._desired - self._actual)
        beyond = error > self._goal.tolerances.path
        if self._time < 0.0 or not beyond.any():
            return None
        return self._end(
            Outcome.ABORTED,
            FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED,
            self._errors_text('path', beyond, error),
        )

    def _arrival(self, now: float) -> GoalEnd | None:
        """Return the end of the goal at the end of the trajectory, or after the goal time."""
        tolerances, late = self._goal.tolerances, self._time - self._goal.spline.end()
        error = np.abs(self._desired - self._actual)
        beyond = error > tolerances.goal
        if late < 0.0 or beyond.any():
            self._within_since = now
        elif now - self._within_since >= min(SETTLING, tolerances.goal_time):
            return self._end(Outcome.SUCCEEDED, FollowJointTrajectory.Result.SUCCESSFUL, '')
        if late <= tolerances.goal_time + SETTLING or not beyond.any():
            return None
        return self._end(
            Outcome.ABORTED,
            FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED,
            f'{self._errors_text("goal", beyond, error)}: {self._commander.output.text}',
        )

    def _errors_text(self, kind: str, beyond: np.ndarray, error: np.ndarray) -> str:
        limits = getattr(self._goal.tolerances, kind)
        return f'{kind} tolerance violated: ' + ', '.join(
            f'{self._goal.joint_names[k]} by {error[k]:.4g}, tolerance {limits[k]:.4g}'
            for k in np.flatnonzero(beyond)
        )

    def _other_targets(self) -> tuple[Any, ...]:
        command = self._commander.command
        return (*command.poses, *command.twists)

    def _current_target(self) -> JointTarget | JointVelocityTarget | None:
        return self._commander.command.joints

    def _replace_target(self, before: Any, target: JointTarget | None) -> None:
        self._commander.replace_joints(before, target)

    def _canceled(self) -> GoalEnd:
        return self._end(Outcome.CANCELED, FollowJointTrajectory.Result.SUCCESSFUL, 'cancelled')

    def _end(self, outcome: Outcome, code: int, text: str) -> GoalEnd:
        result = FollowJointTrajectory.Result(error_code=code, error_string=text)
        return self._finish(outcome, result)

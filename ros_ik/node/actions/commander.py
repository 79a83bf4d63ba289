# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Access of action goals to the servo: its output, and its command.

The executor's thread changes the command through its mailbox, and reads the output and the number
of ticks from the control loop.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import dataclasses
from typing import Any
import weakref

from builtin_interfaces.msg import Time
import numpy as np

from ros_ik.kinematics.link_poses import link_poses
from ros_ik.node.actions.action_server import GoalError
from ros_ik.node.control.control_loop import ControlLoop
from ros_ik.node.control.inbox import ControlledServo
from ros_ik.node.services.planner_client import PlannerServices
from ros_ik.node.subscribers.transforms import ResolvedFrame
from ros_ik.node.subscribers.transforms import UnresolvedFrame
from ros_ik.servo import Command
from ros_ik.servo import JointTarget
from ros_ik.servo import JointVelocityTarget
from ros_ik.servo import Mode
from ros_ik.servo import PoseTarget
from ros_ik.servo import Rejection
from ros_ik.servo import Servo
from ros_ik.servo import ServoOutput
from ros_ik.servo import TargetReader
from ros_ik.servo import TwistTarget
from ros_ik.servo.interface.codes import MISSING_STATE_CODES
from ros_ik.servo.state.measured_state import measured_coords
from ros_ik.settings import Settings

_KINDS = {
    PoseTarget: 'pose', TwistTarget: 'twist', JointTarget: 'joint',
    JointVelocityTarget: 'joint velocity',
}  # fmt: skip
# Time after which a cancelled goal ends even if the robot is not at rest, like that of one arm
# while the other moves on: this many seconds, and this many times the duration of braking. With
# halt_mode 'hold' a joint then returns, which takes another 1.4 times.
_REST_TIMEOUT, _REST_FACTOR = 1.5, 3.0
# Time in which a tick may still use the previous command [s].
_UNDER_WAY = 0.05


@dataclasses.dataclass(frozen=True)
class GoalConditions:
    """State that must not change while a goal is running."""

    controlled: ControlledServo
    resets: int
    time: float


class Commander:
    """Interface of action goals to the servo.

    Attributes:
        now: Clock of the servo [s].
        ros_nanoseconds: ROS time [ns].
        find: Function that looks up a frame at a time.
        planner: Client of the planners' process, for other configurations.
    """

    def __init__(
        self,
        loop: ControlLoop,
        ros_nanoseconds: Callable[[], int],
        find: Callable[[str, Time], ResolvedFrame | UnresolvedFrame],
        planner: PlannerServices,
    ) -> None:
        """Keep the loop, the clocks and the planner.

        Args:
            loop: The control loop.
            ros_nanoseconds: ROS time [ns].
            find: Function that looks up a frame.
            planner: Client of the planners' process.
        """
        self.now, self.ros_nanoseconds, self.find = loop.now, ros_nanoseconds, find
        self.planner = planner
        self._loop = loop
        # A servo that was released must not stay in memory for its reader.
        self._readers: weakref.WeakKeyDictionary[Servo, TargetReader] = (
            weakref.WeakKeyDictionary()
        )

    @property
    def command(self) -> Command:
        """Current command of the servo."""
        return self._loop.inbox.command.get()

    @property
    def output(self) -> ServoOutput:
        """Output of the last tick."""
        return self._loop.output

    @property
    def ticks(self) -> int:
        """Number of ticks since activation."""
        return self._loop.statistics.ticks

    @property
    def servo(self) -> Servo:
        """The running servo.

        Raises:
            GoalError: There is no servo.
        """
        return self._controlled().servo

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._loop.inbox.settings.get() or self.servo.settings

    @property
    def reader(self) -> TargetReader:
        """Reader of targets for the running servo."""
        servo = self.servo
        reader = self._readers.get(servo)
        if reader is None:
            reader = self._readers[servo] = TargetReader(servo.robot)
        return reader

    def conditions(self) -> GoalConditions:
        """Return the state that must not change, for :meth:`interruption`."""
        return GoalConditions(self._controlled(), self.command.resets, self.now())

    def check_ready(self, *modes: Mode) -> None:
        """Check that a goal may start.

        Args:
            modes: Modes in which its targets may be active.

        Raises:
            GoalError: It may not start, with the reason.
        """
        self._controlled()
        reason = self._obstruction()
        if not reason and self.command.mode not in modes:
            reason = f'the mode is {self.command.mode.name}; call ~/set_mode'
        if reason:
            raise GoalError(Rejection.NOT_READY, reason)

    def interruption(self, conditions: GoalConditions, *modes: Mode) -> str:
        """Return the event that ended the motion of a goal since its start, or ''."""
        controlled, command = self._loop.inbox.controlled.get(), self.command
        if controlled is not conditions.controlled:
            return 'the robot description changed or was released'
        if self.now() < conditions.time:
            return 'the clock jumped backwards'
        if command.resets != conditions.resets:
            return '~/reset was called'
        if command.mode not in modes:
            return f'the mode was set to {command.mode.name}'
        return self._obstruction()

    def replace_joints(self, before: Any, target: JointTarget | None) -> None:
        """Replace a target of the joints, or None, unless the command has another one by now.

        The control thread may receive a target at any time; one that this call overwrote would be
        lost without a word.
        """
        self._loop.inbox.command.update(
            lambda command: command.with_changes(joints=target)
            if command.joints is before
            else command
        )

    def replace_pose(
        self, task: int, before: PoseTarget | None, target: PoseTarget | None
    ) -> None:
        """Replace the target of a task, or None, unless the command has another one by now."""
        self._loop.inbox.command.update(
            lambda command: command.with_pose(task, target)
            if command.pose_of(task) is before
            else command
        )

    @staticmethod
    def preempting_target(before: Iterable[Any], targets: Iterable[Any]) -> str:
        """Return the description of a new target that preempts the goal, or ''."""
        known = list(before)
        for target in targets:
            if target is not None and not any(target is other for other in known):
                return f'preempted by a {_KINDS[type(target)]} target'
        return ''

    def start_positions(self) -> np.ndarray:
        """Return the start of a motion: the command, or without one the measured state."""
        output, coords = self.output, self.servo.robot.coords
        return output.joint_q[coords] if output.publish else self.measured_positions()

    def measured_positions(self) -> np.ndarray:
        """Return the measured positions of the controlled joints."""
        controlled = self._controlled()
        return controlled.measurement.get().joint_q[controlled.servo.robot.coords]

    def start_links(self) -> np.ndarray:
        """Return the link poses at the start of a motion in the world [body_count, 7].

        Raises:
            GoalError: A joint that is needed has no state.
        """
        controlled = self._controlled()
        robot, model = controlled.servo.robot, controlled.servo.robot.model
        joint_q = measured_coords(robot, controlled.measurement.get(), model.neutral_joint_q())
        if joint_q is None:
            raise GoalError(Rejection.NOT_READY, 'a joint has no state yet')
        output = self.output
        if output.publish:
            joint_q = joint_q.copy()
            joint_q[robot.moving_coords] = output.joint_q[robot.moving_coords]
        return link_poses(model, joint_q)

    def braking_time(self) -> float:
        """Return the time in which every controlled joint can come to rest from now on [s]."""
        servo = self.servo
        robot = servo.robot
        dofs = robot.group.variable_dof
        speed = np.abs(self.output.joint_qd[dofs])
        scaled = robot.scaled_acceleration(self.settings)[dofs]
        # A changed scale may take effect while they brake.
        limit = np.minimum(servo.acceleration, scaled)
        moving = speed > 0.0
        return float(np.max(speed[moving] / limit[moving], initial=0.0)) + robot.ramp

    def is_still(self, since: float) -> bool:
        """Return True if the command is at rest after the request at ``since`` [s]."""
        period = self.settings.period
        return self.output.still and self.now() - since > 2.0 * period + _UNDER_WAY

    def _controlled(self) -> ControlledServo:
        controlled = self._loop.inbox.controlled.get()
        if controlled is None:
            raise GoalError(Rejection.NOT_READY, 'the node is not configured')
        return controlled

    def _obstruction(self) -> str:
        """Return the reason why the servo follows no target, or ''."""
        command, output = self.command, self.output
        for held, reason in (
            (command.stopped, 'the node is stopped; call ~/reset'),
            (not command.active, 'the node is not active'),
            (command.paused, 'the node is paused'),
            (command.model_loading, 'a new robot description is being loaded'),
            (output.code in MISSING_STATE_CODES, output.text),
        ):
            if held:
                return reason
        return ''


class RestWait:
    """Wait for rest after a target was withdrawn."""

    def __init__(self, commander: Commander) -> None:
        """Start the wait."""
        self._commander, self._since = commander, commander.now()
        self._timeout = _REST_TIMEOUT + _REST_FACTOR * commander.braking_time()

    def done(self, now: float) -> bool:
        """Return True if the servo is at rest, or the time limit has passed."""
        return self._commander.is_still(self._since) or now - self._since > self._timeout

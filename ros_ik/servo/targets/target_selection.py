# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Selection of the active targets: not stale, of the newest kind, allowed by the mode."""

from __future__ import annotations

import copy
import dataclasses
import math

import numpy as np

from ros_ik.servo.interface.active_tasks import ActiveTasks
from ros_ik.servo.interface.codes import Mode
from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.command import Command
from ros_ik.servo.interface.output import CENTER_NAME
from ros_ik.servo.interface.target import CenterOfMassTarget
from ros_ik.servo.interface.target import JointTarget
from ros_ik.servo.interface.target import JointVelocityTarget
from ros_ik.servo.interface.target import PoseTarget
from ros_ik.servo.motion.joint_aim import JointAim
from ros_ik.servo.motion.joint_jog import JointJogMotion
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.state.command_events import CommandEvents
from ros_ik.servo.state.hold_reasons import HoldReason
from ros_ik.servo.targets.accepted_targets import TargetStream
from ros_ik.servo.targets.center_tracking import CenterTracker
from ros_ik.servo.targets.sender_check import JointSenderCheck
from ros_ik.servo.targets.staleness import Staleness
from ros_ik.servo.targets.tracking import TargetKind
from ros_ik.servo.targets.tracking import TaskTracker
from ros_ik.settings import Settings

_POSE_MODES = (Mode.AUTO, Mode.POSE)
_TWIST_MODES = (Mode.AUTO, Mode.TWIST)
_JOINT_MODES = (Mode.AUTO, Mode.JOINT)
# Targets of the centre of mass are active together with those of frames.
_CENTER_MODES = (Mode.AUTO, Mode.POSE, Mode.TWIST)
# Text of the status TARGET_JUMP.
JUMP_REJECTED = 'the target was rejected, because it is too far away'
_WANTED = {Mode.POSE: 'a pose', Mode.TWIST: 'a velocity', Mode.JOINT: 'a joint target'}


@dataclasses.dataclass(frozen=True)
class Choice:
    """Active targets of a tick.

    Attributes:
        target_kinds: Kind of the active target of each frame task.
        center: True if the target of the centre of mass is active.
        joints: True if the joint target is active, instead of all others.
    """

    target_kinds: tuple[TargetKind, ...]
    center: bool = False
    joints: bool = False

    @property
    def active(self) -> ActiveTasks:
        """Tasks with an active target."""
        frames = tuple(kind is not TargetKind.NONE for kind in self.target_kinds)
        return ActiveTasks(frames, self.center, self.joints)

    @property
    def is_shared(self) -> bool:
        """True if several targets move the robot."""
        return sum(self.active.frames) + self.center > 1


class TargetSelection:
    """Targets of the frame tasks, of the centre of mass and of the joints.

    Attributes:
        trackers: One per frame task.
        center: Tracker of the centre of mass.
        streams: Streams of targets by the name of their task, that of the centre of mass last. A
            copy by :meth:`branch` shares them.
        joints: Joint target (positions or velocities), or None.
        aim: Aim of a target of positions.
        jog: Motion by joint velocities.
        choice: Active targets.
        now: Time of the tick [s].
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start without targets."""
        self.trackers = tuple(
            TaskTracker(link, reference, settings.period, robot.ramp)
            for link, reference in zip(robot.task_links, robot.task_references, strict=True)
        )
        self.center = CenterTracker(robot, settings.period)
        self.streams: dict[str, TargetStream] = {
            task.name: tracker.accepted
            for task, tracker in zip(settings.tasks, self.trackers, strict=True)
        }
        self.streams[CENTER_NAME] = self.center.accepted
        self._coords = robot.coords
        self.joints: JointTarget | JointVelocityTarget | None = None
        self.aim = JointAim(*(limit[robot.group.variable_dof] for limit in robot.driver_limits))
        self.jog = JointJogMotion(settings.period)
        self._joint_senders = JointSenderCheck()
        self._none = Choice((TargetKind.NONE,) * len(self.trackers))
        self._joint_choice = dataclasses.replace(self._none, joints=True)
        self.choice = self._none
        self.now = -math.inf
        self._joint_sequence = 0
        # True if the last change of targets was the withdrawal of a lasting one.
        self._withdrawn = False
        self._staleness = Staleness(settings)
        self._balance = settings.balance
        self.apply(settings)

    def branch(self) -> TargetSelection:
        """Return an independent copy."""
        other = copy.copy(self)
        other.trackers = tuple([tracker.branch() for tracker in self.trackers])
        other.center, other.jog = self.center.branch(), self.jog.branch()
        other.aim = self.aim.branch()
        return other

    def apply(self, settings: Settings) -> None:
        """Apply settings.

        Frames that several targets move go on at their velocities after a change of what decides
        between these targets.
        """
        previous, self._balance = self._balance, settings.balance
        if self._balance != previous and self.choice.is_shared:
            for tracker in self.trackers:
                tracker.restart()
            self.center.restart()
        self._staleness.apply(settings)
        self._has_center = settings.com_weight > 0.0
        self.center.apply(settings)
        for tracker, task in zip(self.trackers, settings.tasks, strict=True):
            tracker.apply(task, settings)

    def drop(self, newest: int) -> None:
        """Drop all targets, and ignore those up to a sequence number."""
        for tracker in self.trackers:
            tracker.drop(newest)
        self.center.drop(newest)
        self._joint_senders.reset()
        self.joints = None
        self.jog.rest()
        self._joint_sequence = max(self._joint_sequence, newest)
        self._withdrawn = False
        self.choice = self._none

    def rest(self) -> None:
        """Deactivate all targets and reset velocities; the next motion starts from rest."""
        self.choice = self._none
        self.center.rest()
        self.jog.rest()
        for tracker in self.trackers:
            tracker.rest()

    def set_initial_velocity(self, previous_body_q: np.ndarray, body_q: np.ndarray) -> None:
        """Start with the current velocities of the frames instead of from rest.

        Args:
            previous_body_q: Link poses of the previous tick [body_count, 7].
            body_q: Current link poses [body_count, 7].
        """
        for tracker in self.trackers:
            tracker.set_initial_velocity(previous_body_q, body_q)
        if self.choice.center:
            self.center.set_initial_velocity(previous_body_q, body_q)

    def new_poses(self, command: Command) -> list[tuple[TaskTracker, PoseTarget]]:
        """Return the new pose targets with their trackers."""
        found = []
        for tracker, target in zip(self.trackers, command.poses, strict=False):
            if target is not None and tracker.accepted.is_newer(target):
                found.append((tracker, target))
        return found

    def new_center(self, command: Command) -> CenterOfMassTarget | None:
        """Return the target of the centre of mass if it is new."""
        target = command.center_of_mass
        is_new = target is not None and self.center.accepted.is_newer(target)
        return target if is_new else None

    def accept_targets(
        self,
        body_q: np.ndarray,
        poses: list[tuple[TaskTracker, PoseTarget]],
        center: CenterOfMassTarget | None,
    ) -> None:
        """Accept new targets of frames and of the centre of mass.

        Args:
            body_q: Link poses at the commanded configuration [body_count, 7].
            poses: Result of :meth:`new_poses`.
            center: Result of :meth:`new_center`.
        """
        taken = [tracker.accept(target, body_q) for tracker, target in poses]
        if center is not None:
            taken.append(self.center.accept(center, body_q))
        if any(taken):
            self._withdrawn = False

    def accept_twists(self, command: Command) -> None:
        """Accept new target velocities of frames."""
        for tracker, target in zip(self.trackers, command.twists, strict=False):
            if tracker.accepted.accept_twist(target):
                self._withdrawn = False

    def has_new_joints(self, command: Command) -> bool:
        """Return True if the command contains a new joint target."""
        return command.joints is not None and command.joints.sequence > self._joint_sequence

    def accept_joints(self, command: Command) -> bool:
        """Accept a new joint target; return True if the set of joints changed."""
        target, previous = command.joints, self.joints
        if target is None or not self.has_new_joints(command):
            return False
        self.joints, self._joint_sequence = target, target.sequence
        self._joint_senders.senders.add(target.sender, target.received)
        self._withdrawn = False
        if type(target) is not type(previous):
            self.jog.rest()
        if previous is None:
            return True
        return bool((target.named != previous.named).any())

    def withdraw(self, command: Command) -> None:
        """Drop lasting targets that the command no longer contains."""
        for index, tracker in enumerate(self.trackers):
            if tracker.accepted.withdraw(command.pose_of(index)):
                self._withdrawn = True
        joints = self.joints
        if joints is None or not joints.lasting or command.joints is joints:
            return
        if not self.has_new_joints(command):
            self.joints = None
            self._withdrawn = True

    def has_fresh_pose(self, tracker: TaskTracker, now: float) -> bool:
        """Return True if a frame task has a pose target that is not stale."""
        return self._staleness.has_fresh_pose(tracker, now)

    def has_fresh_center(self, now: float) -> bool:
        """Return True if the centre of mass has an enabled target that is not stale."""
        return self._has_center and self._staleness.has_fresh_center(self.center, now)

    def select(self, now: float, mode: Mode) -> Choice:
        """Note the time, and return the targets that are to be active."""
        self.now = now
        center = mode in _CENTER_MODES and self.has_fresh_center(now)
        newest, target_kinds = self.center.accepted.received if center else -math.inf, []
        for tracker in self.trackers:
            target_kind = self._target_kind(tracker, now, mode)
            target_kinds.append(target_kind)
            newest = max(newest, _received(tracker, target_kind))
        joints = self.joints
        if (
            joints is not None
            and mode in _JOINT_MODES
            and self._staleness.is_fresh_joints(joints, now)
            and joints.received > newest
        ):
            return self._joint_choice
        return self._choice(tuple(target_kinds), center)

    def activate(self, choice: Choice) -> bool:
        """Make targets active; return True if they were not."""
        if choice is self.choice or choice == self.choice:
            return False
        self._joint_senders.kinds.add(b'joints' if choice.joints else b'frames', self.now)
        for tracker, target_kind in zip(self.trackers, choice.target_kinds, strict=True):
            if tracker.target_kind is not target_kind:
                tracker.set_target_kind(target_kind)
                if target_kind.is_from_sender:
                    tracker.accepted.sender.kinds.add(target_kind.name.encode(), self.now)
        if choice.center and not self.choice.center:
            self.center.rest()
        if choice.joints:
            self.jog.rest()
        self.choice = choice
        return True

    def reason_to_hold(
        self, now: float, mode: Mode, choice: Choice, events: CommandEvents
    ) -> HoldReason | None:
        """Return the reason to hold if no target is active, otherwise None."""
        if choice is not self._none and choice != self._none:
            return None
        if self.jump_rejected(now):
            return HoldReason(StatusCode.TARGET_JUMP, JUMP_REJECTED, resynchronise=False)
        if events.clock_jumped:
            return HoldReason(
                StatusCode.CLOCK_JUMP, 'the clock jumped backwards; targets were dropped',
                resynchronise=False,
            )  # fmt: skip
        if not self._has_center and self._staleness.is_fresh(self.center.accepted.received, now):
            text = 'com.weight is 0: the target of the centre of mass is not followed'
            return HoldReason(StatusCode.OK, text, resynchronise=False)
        if self._withdrawn or self._last_received(mode) == -math.inf:
            wanted = f'{_WANTED[mode]} (mode {mode.name})' if mode in _WANTED else 'a target'
            return HoldReason(
                StatusCode.OK, f'ready, waiting for {wanted}', resynchronise=False
            )
        return HoldReason(
            StatusCode.COMMAND_STALE, 'the last target is older than command_timeout',
            resynchronise=False, keeps_path=self._last_is_twist(mode),
        )  # fmt: skip

    def jump_rejected(self, now: float) -> bool:
        """Return True if the newest target was rejected as a jump recently."""
        for stream in self.streams.values():
            if self._staleness.is_fresh(stream.rejected, now):
                return True
        return False

    def sender_fault(self, now: float) -> str:
        """Return the fault of a sender of targets, or ''; ``now`` in s."""
        fault = self._joint_senders.fault(now)
        if fault:
            return fault
        for name, stream in self.streams.items():
            fault = stream.sender.fault(now)
            if fault:
                return f'{name}: {fault}'
        return ''

    def remaining(self, joint_q: np.ndarray) -> float:
        """Return the remaining distance to all active targets [m plus rad].

        Args:
            joint_q: Commanded coordinates [joint_coord_count]; poses are those of the last
                :meth:`measure` of the trackers.
        """
        choice = self.choice
        if choice.joints:
            return float(np.nansum(np.abs(self.joint_displacement(joint_q[self._coords]))))
        left = self.center.remaining if choice.center else 0.0
        for tracker in self.trackers:
            if tracker.target_kind is not TargetKind.NONE:
                left += tracker.remaining
        return left

    def joint_displacement(self, positions: np.ndarray) -> np.ndarray:
        """Return the displacement to the aim of this tick, NaN for joints without a target.

        Args:
            positions: Commanded positions of the controlled joints.
        """
        is_position = isinstance(self.joints, JointTarget)
        return (self.aim.positions if is_position else self.jog.aim) - positions

    def _choice(self, target_kinds: tuple[TargetKind, ...], center: bool) -> Choice:
        """Return a choice; the previous object if it is equal.

        Beside other targets, frames whose velocity has ended come to rest on their line. If no
        target is left, the joints brake together instead: see :class:`PathDeceleration`.
        """
        has_none = TargetKind.NONE in target_kinds
        if has_none and (center or any(kind is not TargetKind.NONE for kind in target_kinds)):
            target_kinds = tuple([
                TargetKind.REST if kind is TargetKind.NONE and tracker.must_come_to_rest else kind
                for tracker, kind in zip(self.trackers, target_kinds, strict=True)
            ])  # fmt: skip
        now = self.choice
        same = not now.joints and now.center == center and now.target_kinds == target_kinds
        return now if same else Choice(target_kinds, center)

    def _target_kind(self, tracker: TaskTracker, now: float, mode: Mode) -> TargetKind:
        """Return the kind of target that a frame task may follow: the newer one."""
        staleness = self._staleness
        pose = mode in _POSE_MODES and staleness.has_fresh_pose(tracker, now)
        twist = staleness.fresh_twist(tracker, now) if mode in _TWIST_MODES else None
        if twist is not None and not (pose and tracker.accepted.received > twist.received):
            return TargetKind.TWIST
        return TargetKind.POSE if pose else TargetKind.NONE

    def _last_is_twist(self, mode: Mode) -> bool:
        """Return True if the last allowed target is the velocity of a frame."""
        last = max(_received(tracker, TargetKind.TWIST) for tracker in self.trackers)
        return mode in _TWIST_MODES and last >= self._last_received(mode)

    def _last_received(self, mode: Mode) -> float:
        """Return ``received`` of the last allowed target [s], -inf if there is none."""
        times = [-math.inf]
        for tracker in self.trackers:
            if mode in _POSE_MODES:
                times.append(_received(tracker, TargetKind.POSE))
            if mode in _TWIST_MODES:
                times.append(_received(tracker, TargetKind.TWIST))
        if mode in _CENTER_MODES:
            times.append(self.center.accepted.received)
        if mode in _JOINT_MODES and self.joints is not None:
            times.append(self.joints.received)
        return max(times)


def _received(tracker: TaskTracker, target_kind: TargetKind) -> float:
    """Return ``received`` of a target [s], -inf if there is none."""
    accepted = tracker.accepted
    if target_kind is TargetKind.TWIST and accepted.twist is not None:
        return accepted.twist.received
    return accepted.received if target_kind is TargetKind.POSE else -math.inf

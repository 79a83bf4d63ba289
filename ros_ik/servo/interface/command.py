# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Command of a servo: targets, obstacles, mode and switches, an input of a tick."""

from __future__ import annotations

import dataclasses
from typing import Any

from ros_ik.former_names import FormerName
from ros_ik.servo.interface.codes import Mode
from ros_ik.servo.interface.obstacle import Obstacle
from ros_ik.servo.interface.stop_state import STOP_TRANSITIONS
from ros_ik.servo.interface.stop_state import StopEvent
from ros_ik.servo.interface.stop_state import StopState
from ros_ik.servo.interface.target import CenterOfMassTarget
from ros_ik.servo.interface.target import JointTarget
from ros_ik.servo.interface.target import JointVelocityTarget
from ros_ik.servo.interface.target import PoseTarget
from ros_ik.servo.interface.target import TwistTarget


@dataclasses.dataclass(frozen=True, eq=False)
class Command:
    """Command of a servo.

    Resets, ends of pauses and activations are counted, so that none is lost between two ticks.

    Attributes:
        poses: Newest valid target pose of each frame task, or None.
        twists: Newest valid target velocity of each frame task, or None.
        joints: Newest valid joint target, positions or velocities.
        center_of_mass: Newest valid target of the centre of mass.
        obstacles: Obstacles; a new tuple after each change.
        mode: Kinds of targets that may become active.
        active: True if the servo may move; otherwise it decelerates.
        paused: True during a pause.
        stop: State of the stop.
        resets: Number of resets; each drops the targets.
        resumes: Number of pauses that ended; each end drops the targets.
        activations: Number of activations; each drops the targets.
        model_loading: True if a new servo is being built: brake to rest and leave the device
            alone. Obstacles that change at rest are applied in the first tick afterwards.
        last_dropped: Sequence number of the newest target that the last reset, activation or end
            of a pause drops. Later targets are valid. None drops all targets that the tick finds.
    """

    poses: tuple[PoseTarget | None, ...] = ()
    twists: tuple[TwistTarget | None, ...] = ()
    joints: JointTarget | JointVelocityTarget | None = None
    center_of_mass: CenterOfMassTarget | None = None
    obstacles: tuple[Obstacle, ...] = ()
    mode: Mode = Mode.AUTO
    active: bool = True
    paused: bool = False
    stop: StopState = StopState.CLEAR
    resets: int = 0
    resumes: int = 0
    activations: int = 0
    model_loading: bool = False
    last_dropped: int | None = None

    @property
    def stopped(self) -> bool:
        """True if the robot must rest until a reset."""
        return self.stop is not StopState.CLEAR

    @property
    def stop_requested(self) -> bool:
        """True during a stop request, which no reset clears."""
        return self.stop is StopState.REQUESTED

    replacing = FormerName('model_loading')
    forgotten = FormerName('last_dropped')

    def with_changes(self, **fields: Any) -> Command:
        """Return a copy with changed fields; four times as fast as dataclasses.replace.

        Raises:
            TypeError: The command has no such field.
        """
        if not fields.keys() <= self.__dict__.keys():
            unknown = ', '.join(fields.keys() - self.__dict__.keys())
            raise TypeError(f'a command has no field {unknown}')
        command = object.__new__(Command)
        command.__dict__.update(self.__dict__, **fields)
        return command

    def pose_of(self, task: int) -> PoseTarget | None:
        """Return the target pose of a frame task, or None."""
        return self.poses[task] if task < len(self.poses) else None

    def with_pose(self, task: int, target: PoseTarget | None) -> Command:
        """Return the command with a new target pose of a frame task."""
        return self.with_changes(poses=_replaced(self.poses, task, target))

    def with_twist(self, task: int, target: TwistTarget | None) -> Command:
        """Return the command with a new target velocity of a frame task."""
        return self.with_changes(twists=_replaced(self.twists, task, target))

    def with_stop(self) -> Command:
        """Return the command after a stop, latched until a reset."""
        return self.with_changes(stop=self._stop_after(StopEvent.STOP))

    def with_stop_request(self, asked: bool) -> Command:
        """Return the command after a stop request begins, which latches a stop, or ends."""
        event = StopEvent.REQUEST if asked else StopEvent.WITHDRAW
        return self.with_changes(stop=self._stop_after(event))

    def with_reset(self) -> Command:
        """Return the command after a reset; a current stop request keeps the stop."""
        return self.with_changes(
            stop=self._stop_after(StopEvent.RESET),
            resets=self.resets + 1,
            last_dropped=self.newest_target(),
        )

    def with_pause(self, paused: bool) -> Command:
        """Return the command after the start or the end of a pause."""
        resumes = self.resumes + (self.paused and not paused)
        return self.with_changes(
            paused=paused, resumes=resumes, last_dropped=self.newest_target()
        )

    def with_activation(self, active: bool) -> Command:
        """Return the command after activation or deactivation of the servo."""
        activations = self.activations + (active and not self.active)
        return self.with_changes(
            active=active, activations=activations, last_dropped=self.newest_target()
        )

    def with_release(self) -> Command:
        """Return the command after the servo is gone: inactive, without targets and obstacles.

        A stop, a pause and the mode stay: only those who asked for them end them.
        """
        return Command(active=False, mode=self.mode, paused=self.paused, stop=self.stop)

    def newest_target(self) -> int:
        """Return the sequence number of the newest target, or 0."""
        every = (*self.poses, *self.twists, self.joints, self.center_of_mass)
        return max((target.sequence for target in every if target is not None), default=0)

    def _stop_after(self, event: StopEvent) -> StopState:
        """Return the state of the stop after an event."""
        return STOP_TRANSITIONS[self.stop][event]


def _replaced(values: tuple, index: int, value: object) -> tuple:
    """Return a tuple with one entry replaced."""
    return (*values[:index], value, *values[index + 1 :])

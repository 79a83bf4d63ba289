# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a tick of the servo; all times are in s on one clock."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import functools
from typing import Any
from typing import ClassVar
import warnings

import numpy as np

from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.servo.interface.codes import Mode
from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.stop_state import STOP_TRANSITIONS
from ros_ik.servo.interface.stop_state import StopEvent
from ros_ik.servo.interface.stop_state import StopState


@dataclasses.dataclass(frozen=True, eq=False)
class PoseTarget:
    """Valid target pose of a frame task.

    Attributes:
        pose: x y z [m] qx qy qz qw of the task's frame, unit quaternion, float64 [7].
        frame_link: Link in whose frame the pose is given.
        received: Time of receipt [s].
        sequence: Sequence number, common to targets of all kinds.
        lasting: True if the target is valid as long as the command contains it, and never becomes
            stale.
        stamp: Time of the message on the clock of its sender [s]; None if unknown.
        sender: Identifier of the publisher; None if unknown.
    """

    pose: np.ndarray
    frame_link: int
    received: float
    sequence: int
    lasting: bool = False
    stamp: float | None = None
    sender: bytes | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class TwistTarget:
    """Valid target velocity of a frame task.

    Attributes:
        linear: Linear velocity of the task's frame [m/s], float64 [3].
        angular: Angular velocity [rad/s], float64 [3].
        frame_link: Link along whose axes both are given.
        received: Time of receipt [s].
        sequence: Sequence number, common to targets of all kinds.
        sender: Identifier of the publisher; None if unknown.
    """

    linear: np.ndarray
    angular: np.ndarray
    frame_link: int
    received: float
    sequence: int
    sender: bytes | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class CenterOfMassTarget:
    """Valid target position of the centre of mass.

    Attributes:
        position: x y z [m], float64 [3].
        frame_link: Link in whose frame the position is given.
        received: Time of receipt [s].
        sequence: Sequence number, common to targets of all kinds.
    """

    position: np.ndarray
    frame_link: int
    received: float
    sequence: int


@dataclasses.dataclass(frozen=True, eq=False)
class Obstacle:
    """An obstacle.

    Attributes:
        name: Identifier.
        kind: 'sphere', 'box', 'cylinder', 'capsule' or 'half_space'.
        dimensions: Of a sphere the radius; of a box the size along x, y, z; of a cylinder radius
            and height; of a capsule radius and height of its cylindrical part; of a half-space
            none [m].
        pose: x y z [m] qx qy qz qw of its centre in ``frame_link``, unit quaternion, float64 [7].
        frame_link: Link in whose frame the pose is given, at the time of receipt.
    """

    name: str
    kind: str
    dimensions: tuple[float, ...]
    pose: np.ndarray
    frame_link: int

    @functools.cached_property
    def shape(self) -> CollisionShape:
        """Shape for collision checks."""
        size = self.dimensions
        if self.kind == 'sphere':
            return CollisionShape.sphere(size[0])
        if self.kind == 'box':
            return CollisionShape.box([0.5 * length for length in size])
        if self.kind == 'cylinder':
            return CollisionShape.cylinder(size[0], 0.5 * size[1])
        if self.kind == 'capsule':
            return CollisionShape.capsule(size[0], 0.5 * size[1])
        return CollisionShape.half_space()


@dataclasses.dataclass(frozen=True, eq=False)
class JointTarget:
    """Valid target positions of some of the controlled joints.

    Attributes:
        positions: One per controlled joint [rad or m]; NaN for joints without a target.
        received: Time of receipt [s].
        sequence: Sequence number, common to targets of all kinds.
        lasting: True if the target is valid as long as the command contains it, and never becomes
            stale.
    """

    positions: np.ndarray
    received: float
    sequence: int
    lasting: bool = False

    @property
    def named(self) -> np.ndarray:
        """Mask of the joints with a target, bool [n_variables]."""
        return np.isfinite(self.positions)


@dataclasses.dataclass(frozen=True, eq=False)
class JointVelocityTarget:
    """Valid target velocities of controlled joints; joints without one stand still.

    Attributes:
        velocities: One per controlled joint [rad/s or m/s]; NaN for joints without a target.
        received: Time of receipt [s].
        sequence: Sequence number, common to targets of all kinds.
    """

    velocities: np.ndarray
    received: float
    sequence: int
    lasting: ClassVar[bool] = False

    @property
    def named(self) -> np.ndarray:
        """Mask of the joints with a target, bool [n_variables]."""
        return np.isfinite(self.velocities)


@dataclasses.dataclass(frozen=True, eq=False)
class ControllerReference:
    """Reference of the controllers for the controlled joints, as they report it.

    Attributes:
        positions: [rad or m], [n_variables].
        velocities: [rad/s or m/s], [n_variables].
        received: Time of receipt of each [s], -inf before the first.
    """

    positions: np.ndarray
    velocities: np.ndarray
    received: np.ndarray

    def is_fresh(self, now: float, timeout: float) -> bool:
        """Return True if all references are known and no older than ``timeout`` [s]."""
        return bool(np.all(np.abs(now - self.received) <= timeout))


def _no_reference() -> ControllerReference | None:
    return None


@dataclasses.dataclass(frozen=True, eq=False)
class Measurement:
    """Measured state of the robot.

    Attributes:
        joint_q: Coordinates, float64 [joint_coord_count]; valid where ``received`` is finite.
        received: Time of receipt of each coordinate [s], -inf before the first.
        reference: Function that returns the reference of the controllers, or None; called when a
            motion starts.
    """

    joint_q: np.ndarray
    received: np.ndarray
    reference: Callable[[], ControllerReference | None] = _no_reference


@dataclasses.dataclass(frozen=True, eq=False)
class Command:
    """Command of a servo. Resets are counted, so that none is lost between two ticks.

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
        model_loading: True if a new servo is being built: brake to rest and leave the device
            alone.
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

    @property
    def replacing(self) -> bool:
        """Former name of ``model_loading``, for one release."""
        warnings.warn(
            'Command.replacing is now model_loading', DeprecationWarning, stacklevel=2
        )
        return self.model_loading

    @property
    def forgotten(self) -> int | None:
        """Former name of ``last_dropped``, for one release."""
        warnings.warn('Command.forgotten is now last_dropped', DeprecationWarning, stacklevel=2)
        return self.last_dropped

    def with_pose(self, task: int, target: PoseTarget | None) -> Command:
        """Return the command with a new target pose of a frame task."""
        return self._changed(poses=_replaced(self.poses, task, target))

    def with_twist(self, task: int, target: TwistTarget | None) -> Command:
        """Return the command with a new target velocity of a frame task."""
        return self._changed(twists=_replaced(self.twists, task, target))

    def _changed(self, **fields: Any) -> Command:
        """Return a copy with changed fields; five times faster than dataclasses.replace."""
        command = object.__new__(Command)
        command.__dict__.update(self.__dict__, **fields)
        return command

    def with_stop(self) -> Command:
        """Return the command after a stop, latched until a reset."""
        return dataclasses.replace(self, stop=self._stop_after(StopEvent.STOP))

    def with_stop_request(self, asked: bool) -> Command:
        """Return the command after a stop request begins, which latches a stop, or ends."""
        event = StopEvent.REQUEST if asked else StopEvent.WITHDRAW
        return dataclasses.replace(self, stop=self._stop_after(event))

    def with_reset(self) -> Command:
        """Return the command after a reset; a current stop request keeps the stop."""
        return dataclasses.replace(
            self,
            stop=self._stop_after(StopEvent.RESET),
            resets=self.resets + 1,
            last_dropped=self.newest_target(),
        )

    def _stop_after(self, event: StopEvent) -> StopState:
        """Return the state of the stop after an event."""
        return STOP_TRANSITIONS[self.stop][event]

    def with_pause(self, paused: bool) -> Command:
        """Return the command after the start or the end of a pause."""
        return dataclasses.replace(self, paused=paused, last_dropped=self.newest_target())

    def with_activation(self, active: bool) -> Command:
        """Return the command after activation or deactivation of the servo."""
        return dataclasses.replace(self, active=active, last_dropped=self.newest_target())

    def newest_target(self) -> int:
        """Return the sequence number of the newest target, or 0."""
        every = (*self.poses, *self.twists, self.joints, self.center_of_mass)
        return max((target.sequence for target in every if target is not None), default=0)


@dataclasses.dataclass(eq=False)
class TaskReport:
    """State of a frame task.

    Attributes:
        name: Name of the task.
        active: True if a target is followed.
        linear_error: Position error of the commanded frame [m]; NaN without a target.
        angular_error: Orientation error of the commanded frame [rad]; NaN without a target.
        reached: True if all errors are within the tolerances.
        current_pose: Measured pose of the frame in its reference link, [7], or None if unknown.
        measured_linear_error: Position error of the measured frame [m]; NaN if unknown.
        measured_angular_error: Orientation error of the measured frame [rad]; NaN if unknown.
    """

    name: str
    active: bool = False
    linear_error: float = float('nan')
    angular_error: float = float('nan')
    reached: bool = False
    current_pose: np.ndarray | None = None
    measured_linear_error: float = float('nan')
    measured_angular_error: float = float('nan')


@dataclasses.dataclass(eq=False)
class CenterReport:
    """State of the centre of mass.

    Attributes:
        active: True if a target is followed.
        linear_error: Position error of the commanded centre of mass [m].
        reached: True if both errors are within ``com.linear_tolerance``.
        position: Commanded centre of mass in the base frame [m], [3].
        measured_linear_error: Position error of the measured centre of mass [m]; NaN if unknown.
    """

    active: bool
    linear_error: float
    reached: bool
    position: np.ndarray
    measured_linear_error: float = float('nan')


@dataclasses.dataclass(eq=False)
class ServoOutput:
    """Result of one tick.

    Attributes:
        code: State of the servo.
        text: Description for people, with missing inputs or the limiting constraint.
        joint_q: Commanded coordinates [joint_coord_count]; sent if ``publish`` is true.
        joint_qd: Commanded velocities [joint_dof_count], rad/s or m/s.
        publish: True if the command is to be sent.
        still: True if the command is at rest.
        tasks: One report per frame task.
        center_of_mass: Report of the centre of mass, or None without a fresh target.
        limiting_barrier: Name of the limiting barrier, or ''.
        limiting_pair: Links of its closest pair, or ''.
        barrier_distance: Distance [m] of that pair at the commanded configuration, or of a frame
            from the nearest face of its box; NaN if nothing is near.
        waiting_for: Names of the joints without a fresh state.
        joint_names: Names of the controlled joints.
        following_errors: Measured minus commanded position of each, compensated for the known
            delay [rad or m]; NaN if unknown.
        predicted_q: Predicted coordinates after the command, one period apart [rollout_steps,
            joint_coord_count]; None without a prediction, while the robot holds, brakes or rests.
        predicted_qd: Velocities of the steps to them [rollout_steps, joint_dof_count], rad/s or
            m/s.
        motion_start: State from which the last motion started: 'reference', 'command' or
            'measured'; '' before the first.
        measured_q: Measured coordinates for the correction of velocity outputs
            [joint_coord_count]; None if the servo does not track or no output needs them.
    """

    code: StatusCode
    text: str
    joint_q: np.ndarray
    joint_qd: np.ndarray
    publish: bool
    still: bool
    tasks: list[TaskReport]
    center_of_mass: CenterReport | None = None
    limiting_barrier: str = ''
    limiting_pair: tuple[str, str] = ('', '')
    barrier_distance: float = float('nan')
    waiting_for: tuple[str, ...] = ()
    joint_names: tuple[str, ...] = ()
    following_errors: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0))
    predicted_q: np.ndarray | None = None
    predicted_qd: np.ndarray | None = None
    motion_start: str = ''
    measured_q: np.ndarray | None = None

    @property
    def ahead(self) -> np.ndarray | None:
        """Former name of ``predicted_q``, for one release."""
        warnings.warn('ServoOutput.ahead is now predicted_q', DeprecationWarning, stacklevel=2)
        return self.predicted_q

    @property
    def ahead_qd(self) -> np.ndarray | None:
        """Former name of ``predicted_qd``, for one release."""
        warnings.warn('ServoOutput.ahead_qd is now predicted_qd', DeprecationWarning, stacklevel=2)
        return self.predicted_qd


def _replaced(values: tuple, index: int, value: object) -> tuple:
    """Return a tuple with one entry replaced."""
    return (*values[:index], value, *values[index + 1 :])

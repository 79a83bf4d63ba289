# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a tick of the servo; times are numbers in s on one clock."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import functools
from typing import Any
from typing import ClassVar

import numpy as np

from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.servo.interface.codes import Mode
from ros_ik.servo.interface.codes import StatusCode


@dataclasses.dataclass(frozen=True, eq=False)
class PoseTarget:
    """A valid pose for a frame task.

    Attributes:
        pose: x y z [m] qx qy qz qw of the task's frame, unit quaternion, float64 [7].
        frame_link: Link in which the pose is given.
        received: Time of receipt [s].
        sequence: Grows from target to target, of all kinds together.
        lasting: True if it counts as long as a command has it, instead of going stale.
        stamp: When it was made, on the clock of its sender [s]; None where that is not known.
    """

    pose: np.ndarray
    frame_link: int
    received: float
    sequence: int
    lasting: bool = False
    stamp: float | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class TwistTarget:
    """A valid velocity for a frame task.

    Attributes:
        linear: Velocity of the task's frame [m/s], float64 [3].
        angular: Rotation velocity [rad/s], float64 [3].
        frame_link: Link along whose axes both are given.
        received: Time of receipt [s].
        sequence: Grows from target to target, of all kinds together.
    """

    linear: np.ndarray
    angular: np.ndarray
    frame_link: int
    received: float
    sequence: int


@dataclasses.dataclass(frozen=True, eq=False)
class CenterOfMassTarget:
    """A valid position for the centre of mass.

    Attributes:
        position: x y z [m], float64 [3].
        frame_link: Link in which the position is given.
        received: Time of receipt [s].
        sequence: Grows from target to target, of all kinds together.
    """

    position: np.ndarray
    frame_link: int
    received: float
    sequence: int


@dataclasses.dataclass(frozen=True, eq=False)
class Obstacle:
    """A solid of the world.

    Attributes:
        name: Its identifier.
        kind: 'sphere', 'box', 'cylinder', 'capsule' or 'half_space'.
        dimensions: Radius; size along x, y, z; radius and height; radius and height of the
            straight part; nothing [m].
        pose: x y z [m] qx qy qz qw of its centre in ``frame_link``, unit quaternion, float64 [7].
        frame_link: Link that it is fixed to at the time of its receipt.
    """

    name: str
    kind: str
    dimensions: tuple[float, ...]
    pose: np.ndarray
    frame_link: int

    @functools.cached_property
    def shape(self) -> CollisionShape:
        """The solid for collision checks."""
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
    """Valid positions for some of the controlled joints.

    Attributes:
        positions: One per controlled joint [rad or m], NaN for those that are not commanded.
        received: Time of receipt [s].
        sequence: Grows from target to target, of all kinds together.
        lasting: True if it counts as long as a command has it, instead of going stale.
    """

    positions: np.ndarray
    received: float
    sequence: int
    lasting: bool = False

    @property
    def named(self) -> np.ndarray:
        """The controlled joints that are commanded, bool [n_variables]."""
        return np.isfinite(self.positions)


@dataclasses.dataclass(frozen=True, eq=False)
class JointVelocityTarget:
    """Valid velocities for some of the controlled joints; the others stay where they are.

    Attributes:
        velocities: One per controlled joint [rad/s or m/s], NaN for those that are not commanded.
        received: Time of receipt [s].
        sequence: Grows from target to target, of all kinds together.
    """

    velocities: np.ndarray
    received: float
    sequence: int
    lasting: ClassVar[bool] = False

    @property
    def named(self) -> np.ndarray:
        """The controlled joints that are commanded, bool [n_variables]."""
        return np.isfinite(self.velocities)


@dataclasses.dataclass(frozen=True, eq=False)
class ControllerReference:
    """The state that the controllers drive the controlled joints to, as they say themselves.

    Attributes:
        positions: [rad or m], [n_variables].
        velocities: [rad/s or m/s], [n_variables].
        received: Time of receipt of each [s], -inf where there was none.
    """

    positions: np.ndarray
    velocities: np.ndarray
    received: np.ndarray

    def is_fresh(self, now: float, timeout: float) -> bool:
        """Return whether that of every joint is known and no older than ``timeout`` [s]."""
        return bool(np.all(np.abs(now - self.received) <= timeout))


def _says_nothing() -> ControllerReference | None:
    return None


@dataclasses.dataclass(frozen=True, eq=False)
class Measurement:
    """The measured state of the robot.

    Attributes:
        joint_q: Coordinates, float64 [joint_coord_count]; of use where ``received`` is finite.
        received: Time of receipt of each coordinate [s], -inf where there was none.
        reference: Returns what the controllers drive the robot to, None where they do not say;
            called where a motion begins.
    """

    joint_q: np.ndarray
    received: np.ndarray
    reference: Callable[[], ControllerReference | None] = _says_nothing


@dataclasses.dataclass(frozen=True, eq=False)
class Command:
    """Command of a servo. A reset is a counter, so that none is lost between two ticks.

    Attributes:
        poses: Newest valid target of each frame task, None where there was none.
        twists: Newest valid velocity of each frame task, None where there was none.
        joints: Newest valid joint target, positions or velocities.
        center_of_mass: Newest valid target of the centre of mass.
        obstacles: Solids of the world; another tuple for every change.
        mode: Which kinds of target count.
        active: True if the servo may move; False decelerates.
        paused: True if to hold.
        stopped: True if a stop is latched.
        stop_requested: True if a stop is asked for that no reset clears.
        resets: Number of resets so far; each drops the targets.
        replacing: A new servo is about to take over: come to rest and leave the device alone.
        forgotten: Newest target that the last reset, activation or end of a pause drops; targets
            that come between it and the next tick count. None for all that the tick finds.
    """

    poses: tuple[PoseTarget | None, ...] = ()
    twists: tuple[TwistTarget | None, ...] = ()
    joints: JointTarget | JointVelocityTarget | None = None
    center_of_mass: CenterOfMassTarget | None = None
    obstacles: tuple[Obstacle, ...] = ()
    mode: Mode = Mode.AUTO
    active: bool = True
    paused: bool = False
    stopped: bool = False
    stop_requested: bool = False
    resets: int = 0
    replacing: bool = False
    forgotten: int | None = None

    def with_pose(self, task: int, target: PoseTarget | None) -> Command:
        """Return the command with another target of a frame task."""
        return self._changed(poses=_replaced(self.poses, task, target))

    def with_twist(self, task: int, target: TwistTarget | None) -> Command:
        """Return the command with another velocity of a frame task."""
        return self._changed(twists=_replaced(self.twists, task, target))

    def _changed(self, **fields: Any) -> Command:
        """Return a copy with other fields, as dataclasses.replace in a fifth of its time."""
        command = object.__new__(Command)
        command.__dict__.update(self.__dict__, **fields)
        return command

    def with_stop(self) -> Command:
        """Return the command after a stop: latched until a reset."""
        return dataclasses.replace(self, stopped=True)

    def with_stop_request(self, asked: bool) -> Command:
        """Return the command after a stop request begins, which latches too, or ends."""
        return dataclasses.replace(self, stop_requested=asked, stopped=self.stopped or asked)

    def with_reset(self) -> Command:
        """Return the command after a reset; a stop request that lasts keeps the stop."""
        return dataclasses.replace(
            self,
            stopped=self.stop_requested,
            resets=self.resets + 1,
            forgotten=self.newest_target(),
        )

    def with_pause(self, paused: bool) -> Command:
        """Return the command after a pause begins or ends."""
        return dataclasses.replace(self, paused=paused, forgotten=self.newest_target())

    def with_activation(self, active: bool) -> Command:
        """Return the command after the servo is activated or deactivated."""
        return dataclasses.replace(self, active=active, forgotten=self.newest_target())

    def newest_target(self) -> int:
        """Return the sequence of the newest target, 0 if there is none."""
        every = (*self.poses, *self.twists, self.joints, self.center_of_mass)
        return max((target.sequence for target in every if target is not None), default=0)


@dataclasses.dataclass(eq=False)
class TaskReport:
    """State of a frame task.

    Attributes:
        name: Name of the task.
        active: True if a fresh target is pursued.
        linear_error: Distance of the commanded frame from the target [m], NaN without a target.
        angular_error: Angle of the commanded frame to the target [rad], NaN without a target.
        reached: True if all errors are within the tolerances.
        current_pose: Measured pose of the frame in its reference link, [7], None when unknown.
        measured_linear_error: Distance of that from the target [m], NaN where not known.
        measured_angular_error: Angle of that to the target [rad], NaN where not known.
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
        active: True if a fresh target is pursued.
        linear_error: Distance of the commanded centre of mass from the target [m].
        reached: True if both errors are within ``com.linear_tolerance``.
        position: Commanded centre of mass in the base frame [m], [3].
        measured_linear_error: Distance of the measured one from the target [m], NaN where it is
            not known.
    """

    active: bool
    linear_error: float
    reached: bool
    position: np.ndarray
    measured_linear_error: float = float('nan')


@dataclasses.dataclass(eq=False)
class ServoOutput:
    """The result of one tick.

    Attributes:
        code: State of the servo.
        text: The same for a person, naming what is waited for or what limits.
        joint_q: Commanded coordinates [joint_coord_count]; to be sent where ``publish`` is set.
        joint_qd: Commanded velocities [joint_dof_count], rad/s or m/s.
        publish: True if to send the command; False is silence.
        still: True if the command is at rest.
        tasks: One report per frame task.
        center_of_mass: The report of the centre of mass, None without a fresh target.
        limiting_barrier: Name of the barrier that limits, or ''.
        limiting_pair: Links of the closest pair of that barrier, '' where it has none.
        barrier_distance: Distance [m] at the commanded configuration of that pair, or of a frame
            from the nearest face of its box; NaN where nothing is near.
        waiting_for: Names of the joints whose state is missing.
        joint_names: Names of the controlled joints.
        following_errors: Measured less commanded position of each, less what the known delay
            explains [rad or m]; NaN where not known.
        ahead: Predicted coordinates behind the command, one period apart [rollout_steps,
            joint_coord_count]; None where nothing is predicted: the robot holds, brakes or rests.
        ahead_qd: Velocities of the steps to them [rollout_steps, joint_dof_count], rad/s or m/s.
        motion_start: State in which the last motion began: 'reference', 'command' or 'measured';
            '' before the first.
        measured_q: Measured coordinates that velocity outputs are corrected by
            [joint_coord_count]; None where the servo does not track or no output needs them.
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
    ahead: np.ndarray | None = None
    ahead_qd: np.ndarray | None = None
    motion_start: str = ''
    measured_q: np.ndarray | None = None


def _replaced(values: tuple, index: int, value: object) -> tuple:
    """Return a tuple with one entry replaced."""
    return (*values[:index], value, *values[index + 1 :])

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State in which a motion begins: the reference of the controller, as far as it is known.

The measured state differs from the reference, because a robot sags, vibrates and lags, and a
command from the measured state would step by the difference. A motion therefore starts, as
``synchronise_to`` permits,

1. at the last command, if a fresh reference shows that the controller follows it;
2. otherwise at that reference;
3. without a reference at the last command, while the robot is near it or on its way to it;
4. otherwise at the filtered measured state, with its velocity, ahead by the least expected lag.

The first is :mod:`ros_ik.servo.state.reference_check`. Otherwise something else moved the
controller, with the velocity v at the age t of the reference. With limits a of the acceleration it
may have gone on, or braked for the time b = min(t, |v| / a). The motion starts in the middle of
both, where the largest step is least:

    x = p + (v t + v b - sign(v) a b^2 / 2) / 2,    u = (v + v - sign(v) a b) / 2
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros_ik.servo.interface.measurement import ControllerReference
from ros_ik.servo.interface.measurement import Measurement
from ros_ik.servo.motion.approach import braking_step
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.state.arrival_check import ArrivalCheck
from ros_ik.servo.state.arrival_check import NOISE
from ros_ik.servo.state.measured_state import MeasuredState
from ros_ik.servo.state.reference_check import ReferenceCheck
from ros_ik.servo.state.reference_check import RESTS
from ros_ik.servo.state.resting_command import RestingCommand
from ros_ik.settings import Settings

# Assumed least lag of a moving robot, as a fraction of following_error.delay [1].
_LAG = 0.2


class MotionStart(NamedTuple):
    """Initial positions and velocities of a motion, [n_variables].

    Attributes:
        source: 'reference', 'command' or 'measured', as in ``synchronise_to``.
        positions: [rad or m]; None selects those of the last command.
        steps: Displacement of a tick at the velocities [rad or m], limited so that the joints can
            stop.
    """

    source: str
    positions: np.ndarray | None
    steps: np.ndarray


class MotionStarts:
    """Selection of the state in which the next motion starts; one per servo.

    Attributes:
        command: Last command, while the controller may hold it.
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start without a command and without measurements."""
        self._robot = robot
        self.command = RestingCommand(robot, settings)
        self._arrival = ArrivalCheck(robot, settings)
        self._measured = MeasuredState(robot)
        self._follows = ReferenceCheck(robot, settings)
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self.command.apply(settings)
        self._arrival.apply(settings)
        self._follows.apply(settings)
        self._settings = settings

    def observe(
        self, now: float, measurement: Measurement, joint_q: np.ndarray, *, moves: bool
    ) -> None:
        """Process the measured state of a tick.

        Args:
            now: Current time [s].
            measurement: The newest measured state.
            joint_q: Commanded coordinates [joint_coord_count].
            moves: True if the command is in motion.
        """
        self._measured.observe(now, measurement)
        self._arrival.observe(now, measurement, joint_q, moves=moves)
        self._follows.observe(now, joint_q, moves=moves)

    def forget(self) -> None:
        """Drop the last command, because it is unknown, and the motion of the robot."""
        self.command.forget()
        self._arrival.forget()
        self._follows.forget()
        self._measured.forget()

    def find(
        self, now: float, measurement: Measurement, joint_q: np.ndarray, acceleration: np.ndarray
    ) -> MotionStart:
        """Return the state in which to start.

        Args:
            now: Current time [s].
            measurement: The newest measured state.
            joint_q: Commanded coordinates, at rest [joint_coord_count].
            acceleration: Acceleration limits of the controlled joints [rad/s^2 or m/s^2].
        """
        wish, told = self._settings.synchronise_to, None
        rests = MotionStart('command', None, np.zeros(len(self._robot.coords)))
        if wish == 'reference':
            reference = self._fresh_reference(now, measurement)
            if reference is not None:
                if self._follows.passes(reference, joint_q, acceleration):
                    return rests
                told = self._carried_on(now, reference, acceleration, measurement)
        if told is not None:
            source, (positions, velocities) = 'reference', told
        elif wish != 'measured' and self._holds_command(now, measurement, joint_q):
            return rests
        else:
            source = 'measured'
            positions, velocities = self._measured.state(now, measurement)
            positions = positions + velocities * (_LAG * self._settings.following_error_delay)
        self._arrival.forget()
        self._follows.restart(now, positions)
        return MotionStart(source, positions, self._steps(positions, velocities, acceleration))

    def _holds_command(self, now: float, measurement: Measurement, joint_q: np.ndarray) -> bool:
        """Return True if the controller holds the last command, or moves the robot there."""
        if self.command.holds(measurement.joint_q):
            return True
        near = self._settings.synchronise_tolerance if self.command.is_at_rest else NOISE
        return self._arrival.passes(now, measurement, joint_q, near)

    def _fresh_reference(self, now: float, measurement: Measurement) -> ControllerReference | None:
        """Return the reference of the controllers, None if one is unknown or old."""
        reference = measurement.reference()
        if reference is None or not reference.is_fresh(now, self._settings.joint_state_timeout):
            return None
        return reference

    def _carried_on(
        self,
        now: float,
        reference: ControllerReference,
        acceleration: np.ndarray,
        measurement: Measurement,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return positions and velocities of the controllers now, or None.

        Positions outside the limits of a joint are no reference, unless the joint is there.
        """
        robot = self._robot
        age = np.maximum(now - reference.received, 0.0)
        velocities = np.nan_to_num(reference.velocities)
        speeds = np.abs(velocities)
        with np.errstate(divide='ignore', invalid='ignore'):
            braking = np.fmin(age, speeds / acceleration)
            loss = np.where(age > 0.0, np.fmin(acceleration * age, speeds), 0.0)
        braked = speeds * braking - 0.5 * loss * braking
        direction = np.sign(velocities)
        positions = reference.positions + direction * 0.5 * (speeds * age + braked)
        velocities = direction * (speeds - 0.5 * loss)
        dofs, near = robot.group.variable_dof, self._settings.synchronise_tolerance * robot.radian
        outside = (positions < robot.lower[dofs] - near) | (positions > robot.upper[dofs] + near)
        away = np.abs(positions - measurement.joint_q[robot.coords]) > near
        if (outside & away).any():
            return None
        return positions, velocities

    def _steps(
        self, positions: np.ndarray, velocities: np.ndarray, acceleration: np.ndarray
    ) -> np.ndarray:
        """Return the displacement of a tick, within the velocity and position limits."""
        robot, settings = self._robot, self._settings
        moves = np.abs(velocities) > RESTS * robot.radian
        if not moves.any():
            return np.zeros_like(velocities)
        dofs, dt = robot.group.variable_dof, settings.period
        speed = robot.scaled_velocity(settings)[dofs]
        inner = robot.inner_limits(robot.position_margin(settings))
        low, high = (limit[dofs] for limit in inner)
        ahead = np.where(velocities > 0.0, high - positions, positions - low)
        room = braking_step(np.maximum(ahead, 0.0), acceleration, dt)
        most = np.minimum(speed * dt, room)
        return np.where(moves, np.clip(velocities * dt, -most, most), 0.0)

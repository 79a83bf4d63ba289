# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The servo in a loop with a robot with mass, and the recording of a run."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import mujoco
import numpy as np

from ros_ik.demo.controller.trajectory_rules import NANOSECONDS
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_rules import TrajectoryPoint
from ros_ik.demo.robots import find_robot
from ros_ik.model import Model
from ros_ik.servo import Command
from ros_ik.servo import ControllerReference
from ros_ik.servo import Measurement
from ros_ik.servo import Servo
from ros_ik.servo import ServoOutput
from ros_ik.servo import TargetReader
from ros_ik.settings import read_settings

from .robot import DELAY
from .robot import RobotWithMass
from .robot import STEP

STATE_PERIOD = 0.02  # s between two messages with the controller's setpoint
HORIZON = 0.1  # s, outputs.default.command_horizon


@dataclasses.dataclass
class Record:
    """Recording of each step of the simulation, [n] or [n, joints]."""

    time: list = dataclasses.field(default_factory=list)
    setpoint: list = dataclasses.field(default_factory=list)
    position: list = dataclasses.field(default_factory=list)
    velocity: list = dataclasses.field(default_factory=list)
    torque: list = dataclasses.field(default_factory=list)
    frame: list = dataclasses.field(default_factory=list)
    target: list = dataclasses.field(default_factory=list)


class ServoLoop:
    """A servo and a robot with mass.

    Attributes:
        servo: The servo.
        robot: The robot.
        reader: Reader of targets.
        command: Command of the servo.
        now: Current time [s].
        outputs: Outputs of the servo, tick by tick.
    """

    def __init__(
        self,
        name: str,
        rate: float,
        bandwidth: float = 20.0,
        payload: float = 0.0,
        publish_velocities: bool = False,
        delay: float = DELAY,
        seed: int = 0,
        active: bool = True,
        tells_reference: bool = False,
        **values: object,
    ) -> None:
        """Build both.

        Args:
            name: A robot of the demo.
            rate: Rate of the loop [Hz].
            bandwidth: Bandwidth of the drives [Hz].
            payload: Mass at the tip that the drives do not compensate [kg].
            publish_velocities: True if trajectories have velocities.
            delay: Time from the node to the controller [s].
            seed: Seed of the noise.
            active: True if the servo is active from the start.
            tells_reference: True if the controller publishes its setpoint.
            values: More parameters, with __ for a dot.
        """
        files = find_robot(name)
        self._base, self._tip = files.base_link, files.tip_link
        urdf = files.urdf_path.read_text()
        model = Model.from_urdf(urdf, device='cpu')
        given = {'ee.frame': files.tip_link, 'base_frame': files.base_link, 'control_rate': rate}
        given.update({key.replace('__', '.'): value for key, value in values.items()})
        self.servo = Servo(model, read_settings(given))
        self.period = 1.0 / rate
        self._with_velocities = publish_velocities
        resolved = self.servo.robot
        self.coords, self.dofs = resolved.coords, resolved.group.variable_dof
        self.robot = RobotWithMass(
            urdf, files.tip_link, tuple(resolved.group.joint_names), dict(files.home),
            bandwidth, payload, delay, seed,
        )  # fmt: skip
        self.reader = TargetReader(resolved)
        self.command = Command(active=active, poses=(None,), twists=(None,))
        self._q = model.neutral_joint_q()
        for joint, position in files.home.items():
            self._q[resolved.coord_of[joint]] = position
        self._q = model.apply_mimic(self._q)
        self._tells_reference = tells_reference
        self._reference: ControllerReference | None = None
        self._begin = self.robot.data.time
        self.outputs: list[ServoOutput] = []
        self.record = Record()
        self._ticks = 0

    @property
    def now(self) -> float:
        """Current time [s]."""
        return self._ticks * self.period

    def change(self, **fields: object) -> None:
        """Change the command."""
        self.command = dataclasses.replace(self.command, **fields)

    def frame(self) -> np.ndarray:
        """Return the pose of the tool, x y z [m] qx qy qz qw in the base."""
        robot = self.robot
        data, base = robot.data, robot.world.body(self._base).id
        turn, tool, place = np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(turn, data.xquat[base])
        mujoco.mju_mulQuat(tool, turn, data.body(self._tip).xquat)
        mujoco.mju_rotVecQuat(place, data.body(self._tip).xpos - data.xpos[base], turn)
        return np.concatenate([place, tool[[1, 2, 3, 0]]])

    def run(
        self,
        seconds: float,
        target: Callable[[float], np.ndarray] | None = None,
        twist: tuple[float, float, float] | None = None,
        push: Callable[[float], np.ndarray] | None = None,
    ) -> None:
        """Run servo and robot.

        Args:
            seconds: Duration [s].
            target: Function that returns the pose [7] to stream at a time since the start of this
                run [s].
            twist: Velocity to stream [m/s].
            push: Function that returns the force on the tool [N] at that time.
        """
        steps = round(self.period / STEP)
        for tick in range(round(seconds / self.period)):
            since = tick * self.period
            pose = None if target is None else target(since)
            if pose is not None:
                self.change(poses=(self.reader.pose(0, '', pose[:3], pose[3:], self.now),))
            if twist is not None:
                found = self.reader.twist(0, '', twist, (0.0, 0.0, 0.0), self.now)
                self.change(twists=(found,))
            self._tick()
            for k in range(steps):
                self.robot.push = np.zeros(3) if push is None else push(since + k * STEP)
                self.robot.advance()
                self._note(pose)

    def peaks(self, since: float = 0.0) -> tuple[float, float, float]:
        """Return the peak loads of the robot from a time [s] of the recording on.

        Returns:
            Largest speed of the setpoint, relative to the velocity limits; largest torque,
            relative to the maximum torque; largest rate of a torque [Nm/s].
        """
        first = round(since / STEP)
        setpoint = np.array(self.record.setpoint[first:])
        torque = np.array(self.record.torque[first:])
        speed = np.abs(np.diff(setpoint, axis=0)) / STEP / self.servo.robot.velocity[self.dofs]
        rate = np.abs(np.diff(torque, axis=0)) / STEP
        return (
            float(speed.max()),
            float((np.abs(torque) / self.robot.effort).max()),
            float(rate.max()),
        )

    def _tick(self) -> None:
        q = self._q.copy()
        q[self.coords] = self.robot.read()
        if self._tells_reference and self._ticks % max(round(STATE_PERIOD / self.period), 1) == 0:
            heard = np.full(len(self.coords), self.now)
            self._reference = ControllerReference(self.robot.setpoint, self.robot.speed, heard)
        measurement = Measurement(q, np.full(len(q), self.now), lambda: self._reference)
        output = self.servo.step(self.now, measurement, self.command)
        self.outputs.append(output)
        self._ticks += 1
        if output.publish:
            self.robot.send(self._trajectory(output))

    def _trajectory(self, output: ServoOutput) -> Trajectory:
        """Return the published trajectory: command, predicted points, end at rest."""
        places, speeds = [output.joint_q], [output.joint_qd]
        if output.predicted_q is not None:
            places, speeds = [*places, *output.predicted_q], [*speeds, *output.predicted_qd]
        points = [
            self._point((k + 1) * self.period, q, v)
            for k, (q, v) in enumerate(zip(places, speeds, strict=True))
        ]
        end = self._point(max(HORIZON, (len(points) + 1) * self.period), places[-1], None)
        return Trajectory(self.robot.joints, (*points, end))

    def _point(self, time: float, q: np.ndarray, v: np.ndarray | None) -> TrajectoryPoint:
        velocities = ()
        if self._with_velocities:
            velocities = np.zeros(len(self.coords)) if v is None else v[self.dofs]
        return TrajectoryPoint(round(time * NANOSECONDS), q[self.coords], velocities)

    def _note(self, pose: np.ndarray | None) -> None:
        record, robot = self.record, self.robot
        record.time.append(robot.data.time - self._begin)
        record.setpoint.append(robot.setpoint)
        record.position.append(robot.positions)
        record.velocity.append(robot.velocities)
        record.torque.append(robot.torque)
        record.frame.append(self.frame())
        record.target.append(np.full(7, np.nan) if pose is None else pose)


def eight(time: float) -> np.ndarray:
    """Return displacements [m] on a figure of eight of 0.2 by 0.1 m, at up to 0.28 m/s."""
    angle = time * time if time < 1.0 else 2.0 * time - 1.0  # accelerates within a second
    return np.array([0.0, 0.1 * np.sin(angle), 0.05 * np.sin(2.0 * angle)])

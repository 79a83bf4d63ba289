# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A servo with a robot that follows exactly, and a clock that the caller advances."""

from collections.abc import Iterable
import dataclasses
import functools

import numpy as np

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import RobotFiles
from ros_ik.model import Model
from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik.servo import Servo
from ros_ik.servo import ServoOutput
from ros_ik.servo import TargetReader
from ros_ik.settings import read_settings


@functools.cache
def robot_model(name: str) -> Model:
    """Return the model of a robot of the demo."""
    return Model.from_urdf(find_robot(name).urdf_path.read_text(), device='cpu')


def motion_limits(
    joints: Iterable[str], acceleration: float, ratio: float = 0.0
) -> dict[str, object]:
    """Return parameters that limit acceleration and jerk of joints, with __ for a dot.

    Args:
        joints: Names of the joints.
        acceleration: Acceleration limit of each [rad/s^2].
        ratio: Jerk limits as a multiple of it per second [1/s], 0 if there is none.
    """
    values: dict[str, object] = {}
    for name in joints:
        values[f'joint_limits__{name}__has_acceleration_limits'] = True
        values[f'joint_limits__{name}__max_acceleration'] = acceleration
        values[f'joint_limits__{name}__has_jerk_limits'] = ratio > 0.0
        values[f'joint_limits__{name}__max_jerk'] = ratio * acceleration
    return values


class TickedServo:
    """A servo and its robot, at home before the first tick.

    Attributes:
        model: Model of the robot.
        given: Parameters that were given, by dotted name.
        settings: Those and the defaults of the others.
        servo: The servo.
        robot: The robot as the servo sees it.
        reader: Makes targets.
        now: Current time [s].
        dt: Period of the loop [s].
        q: Coordinates of the robot.
        command: What the servo is asked for.
        reports: True to measure frames and to find the limiting constraint in each tick.
    """

    reports = True

    def __init__(
        self,
        name: str | RobotFiles = 'panda',
        active: bool = True,
        home: dict | None = None,
        model: Model | None = None,
        **values: object,
    ):
        """Build both.

        Args:
            name: A robot of the demo, or RobotFiles with the model beside them.
            active: True if the servo is active from the start.
            home: Positions of joints at the start besides those of the demo.
            model: Model of the robot.
            values: Parameters of the node, with __ for a dot.
        """
        files = find_robot(name) if isinstance(name, str) else name
        self.model = model or robot_model(name)
        given = {'ee.frame': files.tip_link, 'base_frame': files.base_link}
        given.update({key.replace('__', '.'): value for key, value in values.items()})
        if 'ee' not in given.get('frame_tasks', ('ee',)):
            del given['ee.frame']
        self.given = given
        self.settings = read_settings(given)
        self.servo = Servo(self.model, self.settings)
        self.robot = self.servo.robot
        self.reader = TargetReader(self.robot)
        self.now, self.dt = 100.0, self.settings.period
        self.q = self.model.neutral_joint_q()
        for joint, position in {**files.home, **(home or {})}.items():
            self.q[self.robot.coord_of[joint]] = position
        self.q = self.model.apply_mimic(self.q)
        self.command = Command(active=active, poses=(None,) * len(self.settings.tasks))

    def change(self, **fields: object) -> None:
        """Change the command."""
        self.command = dataclasses.replace(self.command, **fields)

    def tick(self) -> ServoOutput:
        """Make a tick; return what the servo put out."""
        self.now += self.dt
        return self.step(Measurement(self.q, np.full(len(self.q), self.now)))

    def step(self, measured: Measurement) -> ServoOutput:
        """Let the servo answer a measurement, and the robot go where it is told."""
        output = self.servo.step(self.now, measured, self.command, reports=self.reports)
        if output.publish:
            self.q = output.joint_q.copy()
        return output

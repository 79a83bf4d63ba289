# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Result of a tick, with reports on frames and on the centre of mass."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.former_names import FormerName
from ros_ik.servo.interface.codes import StatusCode

# Name of the centre of mass among the tasks; no frame task may have it.
CENTER_NAME = 'com'


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
        limiting_pair: Links of the pair that limits the motion, or is closest; or ''.
        barrier_distance: Distance [m] of that pair at the commanded configuration, the least of
            its shapes among the closest ones of the barrier; or of a frame from the nearest face
            of its box; NaN if nothing is near.
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
        drive_qd: Velocities for velocity outputs [joint_dof_count]: ``joint_qd``, less motion that
            a robot must not make that has not followed the command. None if no output needs them.
        drive_change: Largest rise of these velocities in a tick by the correction
            [joint_dof_count], rad/s or m/s; None if no output needs it.
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
    drive_qd: np.ndarray | None = None
    drive_change: np.ndarray | None = None

    ahead = FormerName('predicted_q')
    ahead_qd = FormerName('predicted_qd')

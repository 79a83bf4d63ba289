# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Layout of the trajectories for joint_trajectory_controller with its default settings.

The first point is the commanded position, one control period ahead. Predicted points may follow,
one period apart. The last point, at the command horizon, repeats the previous position, so that
times increase strictly and the robot stops there without further messages.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import OutputSettings


@dataclasses.dataclass(frozen=True, eq=False)
class TrajectoryLayout:
    """Constant part of the trajectories of one output.

    Attributes:
        joint_names: All joints of the controller.
        times: Time from start of each point [s].
        publish_velocities: True if points have velocities.
        stamp_now: True if the stamp of the header is the time of the tick instead of zero.
        coords: Coordinate of each joint.
        dofs: Degree of freedom of each joint.
        speeds: Velocity limit of each joint [rad/s or m/s].
        position_gain: Gain of the correction of velocities by measured positions [1/s].
    """

    joint_names: tuple[str, ...]
    times: tuple[float, ...]
    publish_velocities: bool
    stamp_now: bool
    coords: np.ndarray
    dofs: np.ndarray
    speeds: np.ndarray
    position_gain: float


def trajectory_layout(
    robot: ControlledRobot,
    index: int,
    output: OutputSettings,
    period: float,
    rollout_steps: int = 0,
) -> TrajectoryLayout:
    """Return the layout of one output.

    Args:
        robot: The robot.
        index: Index of the output in the settings.
        output: Its settings.
        period: Duration of a tick [s].
        rollout_steps: Number of predicted points after the command.
    """
    coords = robot.output_coords[index]
    of_coord = {
        int(coord): dof for dof, coord in enumerate(dof_coordinates(robot.model)) if coord >= 0
    }
    dofs = np.array([of_coord[int(coord)] for coord in coords])
    return TrajectoryLayout(
        joint_names=robot.output_names[index],
        times=(
            *(period * (step + 1) for step in range(rollout_steps + 1)),
            output.command_horizon,
        ),
        publish_velocities=output.publish_velocities,
        stamp_now=output.stamp == 'now',
        coords=coords,
        dofs=dofs,
        speeds=robot.velocity[dofs],
        position_gain=output.position_gain,
    )

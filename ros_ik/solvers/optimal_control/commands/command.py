# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Builder of the optimal-control command: weighted costs, scaling of limits, stopping rules.

    J =   sum_i  w_t |p_d - p|^2 + w_r |log(R_d R^T)|^2      Cartesian targets, in a reference link
        + w_com |c_d - c|^2                                  centre of mass, in a reference link
        + sum_j  w_q (q_d - q)^2                             joints

Every error is multiplied by ``error_scaling`` before it is squared. The builder has the methods of
``rby1_sdk.OptimalControlCommandBuilder``. Each method checks its arguments at once.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.dynamics.center_of_mass import check_mass
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_text
from ros_ik.model.conventions.rotations import matrix_from_quaternion
from ros_ik.model.model_argument import require_model
from ros_ik.numbers import host_array
from ros_ik.numbers import real_value
from ros_ik.objectives.base.arguments import checked_pose
from ros_ik.objectives.base.arguments import checked_vector
from ros_ik.solvers.optimal_control.commands.targets import CartesianTarget
from ros_ik.solvers.optimal_control.commands.targets import CenterOfMassTarget
from ros_ik.solvers.optimal_control.commands.targets import check_names
from ros_ik.solvers.optimal_control.commands.targets import CommandHeader
from ros_ik.solvers.optimal_control.commands.targets import finite_number
from ros_ik.solvers.optimal_control.commands.targets import JointPositionTarget
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand

# Tolerance on R^T R - I and on the last row of a rigid transform, for rounding.
_RIGID_TOLERANCE = 1e-6


class CommandHeaderBuilder:
    """Builder of a :class:`CommandHeader`, whose methods return the builder."""

    def __init__(self) -> None:
        """Start with the defaults."""
        self._header = CommandHeader()

    def set_control_hold_time(self, control_hold_time: float) -> CommandHeaderBuilder:
        """Set the duration for which the last point is held [s], at least 0."""
        value = finite_number('control_hold_time', control_hold_time, minimum=0.0)
        self._header = dataclasses.replace(self._header, control_hold_time=value)
        return self

    def build(self) -> CommandHeader:
        """Return the header."""
        return self._header


class OptimalControlCommandBuilder:
    """Builder of an :class:`OptimalControlCommand`, whose methods return the builder.

    Names, arguments and meaning are those of ``rby1_sdk.OptimalControlCommandBuilder``. Weights
    default to 1, as in its messages. The reference link '' is the world.
    """

    def __init__(self) -> None:
        """Start without costs."""
        self._command = OptimalControlCommand()

    def add_cartesian_target(
        self,
        ref_link_name: str,
        link_name: str,
        T: np.ndarray,
        translation_weight: float = 1.0,
        rotation_weight: float = 1.0,
    ) -> OptimalControlCommandBuilder:
        """Add the cost w_t |p_d - p|^2 + w_r |log(R_d R^T)|^2 of a link's pose.

        Args:
            ref_link_name: Link in which the target is given, '' for the world.
            link_name: Link that is controlled.
            T: Target pose of the link in the reference link [m], a homogeneous matrix, shape
                [4, 4], or x y z qx qy qz qw, shape [7].
            translation_weight: w_t [1/m^2], not negative.
            rotation_weight: w_r [1/rad^2], not negative.

        Raises:
            ArgumentError: Not a rigid transform, a negative or non-finite weight, an empty name,
                or a link that is its own reference.
        """
        reference = checked_text('ref_link_name', ref_link_name)
        link = checked_text('link_name', link_name)
        if not link or link == reference:
            raise ArgumentError(
                f'link_name must name a link other than ref_link_name, got {link_name!r}'
            )
        target = CartesianTarget(
            reference,
            link,
            _rigid_transform(T),
            finite_number('translation_weight', translation_weight, minimum=0.0),
            finite_number('rotation_weight', rotation_weight, minimum=0.0),
        )
        return self._set(cartesian_targets=(*self._command.cartesian_targets, target))

    def add_joint_position_target(
        self, joint_name: str, target_position: float, weight: float = 1.0
    ) -> OptimalControlCommandBuilder:
        """Add the cost w_q (q_d - q)^2 of a joint.

        Args:
            joint_name: Joint with one degree of freedom.
            target_position: q_d [rad or m]. It may lie outside the limits; the joint does not.
            weight: w_q [1/rad^2 or 1/m^2], not negative.

        Raises:
            ArgumentError: An empty name, a number that is not finite, a negative weight.
        """
        if not checked_text('joint_name', joint_name):
            raise ArgumentError("joint_name must name a joint, got ''")
        target = JointPositionTarget(
            joint_name,
            finite_number('target_position', target_position),
            finite_number('weight', weight, minimum=0.0),
        )
        return self._set(joint_position_targets=(*self._command.joint_position_targets, target))

    def set_center_of_mass_target(
        self, ref_link_name: str, pose: np.ndarray, weight: float = 1.0
    ) -> OptimalControlCommandBuilder:
        """Set the cost w_com |c_d - c|^2 of the centre of mass of the whole robot.

        Args:
            ref_link_name: Link in which the target is given, '' for the world.
            pose: Target position c_d [m], shape [3] or [3, 1].
            weight: w_com [1/m^2], not negative.

        Raises:
            ArgumentError: A wrong shape, a number that is not finite, a negative weight.
        """
        column = host_array(pose, 'pose').shape == (3, 1)
        position = checked_vector('pose', np.ravel(pose) if column else pose, 3)
        position.setflags(write=False)
        target = CenterOfMassTarget(
            checked_text('ref_link_name', ref_link_name),
            position,
            finite_number('weight', weight, minimum=0.0),
        )
        return self._set(center_of_mass_target=target)

    def set_velocity_limit_scaling(
        self, velocity_limit_scaling: float
    ) -> OptimalControlCommandBuilder:
        """Set the fraction of the velocity limits that is used, (0, 1]."""
        return self._set(velocity_limit_scaling=velocity_limit_scaling)

    def set_acceleration_limit_scaling(
        self, acceleration_limit_scaling: float
    ) -> OptimalControlCommandBuilder:
        """Set the factor on the acceleration limits, positive."""
        return self._set(acceleration_limit_scaling=acceleration_limit_scaling)

    def set_error_scaling(self, error_scaling: float) -> OptimalControlCommandBuilder:
        """Set the factor on every error before it is squared, positive."""
        return self._set(error_scaling=error_scaling)

    def set_stop_cost(self, stop_cost: float) -> OptimalControlCommandBuilder:
        """Set the total cost, at least 0, below which the command is solved."""
        return self._set(stop_cost=stop_cost)

    def set_min_delta_cost(self, min_delta_cost: float) -> OptimalControlCommandBuilder:
        """Set the improvement per iteration, at least 0, below which ``patience`` applies."""
        return self._set(min_delta_cost=min_delta_cost)

    def set_patience(self, patience: int) -> OptimalControlCommandBuilder:
        """Set the number of tolerated iterations without sufficient improvement, at least 1."""
        return self._set(patience=patience)

    def set_command_header(
        self, command_header_builder: CommandHeaderBuilder
    ) -> OptimalControlCommandBuilder:
        """Attach a header.

        Raises:
            ArgumentError: Something other than a :class:`CommandHeaderBuilder`.
        """
        if not isinstance(command_header_builder, CommandHeaderBuilder):
            raise ArgumentError(
                'command_header_builder must be a CommandHeaderBuilder, got '
                f'{type(command_header_builder).__name__}'
            )
        return self._set(header=command_header_builder.build())

    def build(self, model: Model | None = None) -> OptimalControlCommand:
        """Return the command; the builder may be used again.

        Args:
            model: Model in which to check names; None leaves the check to the solver.

        Raises:
            ArgumentError: No cost, an unknown link or joint, or a cost of the centre of mass for a
                model without mass.
        """
        command = self._command
        costs = (*command.cartesian_targets, *command.joint_position_targets)
        if not costs and command.center_of_mass_target is None:
            raise ArgumentError('the command has no target: add at least one')
        if model is not None:
            check_names(command, require_model(model))
            if command.center_of_mass_target is not None:
                check_mass(model)
        return command

    def _set(self, **changes: Any) -> OptimalControlCommandBuilder:
        self._command = dataclasses.replace(self._command, **changes)
        return self


def _rigid_transform(T: np.ndarray) -> np.ndarray:
    """Return a rigid transform or a pose as a read-only float64 [4, 4], or raise."""
    transform = real_value('T', T)
    if transform.shape not in ((4, 4), (7,)) or not np.all(np.isfinite(transform)):
        raise ArgumentError(f'T must be finite numbers of shape [4, 4] or [7], got {T!r}')
    if transform.ndim == 1:
        pose, transform = checked_pose('T', transform), np.eye(4)
        transform[:3, :3], transform[:3, 3] = matrix_from_quaternion(pose[3:]), pose[:3]
    rotation = transform[:3, :3]
    off = max(
        np.abs(rotation.T @ rotation - np.eye(3)).max(),
        np.abs(transform[3] - [0.0, 0.0, 0.0, 1.0]).max(),
    )
    if off > _RIGID_TOLERANCE or np.linalg.det(rotation) < 0.0:
        raise ArgumentError(f'T must be a rigid transform, rotation and translation, got {T!r}')
    transform.setflags(write=False)
    return transform

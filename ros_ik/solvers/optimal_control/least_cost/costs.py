# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Costs of an optimal-control command as objectives, whose squared residuals they are."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.model import Model
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.model.conventions.rotations import quaternion_from_matrix
from ros_ik.objectives import IKObjectiveCenterOfMass
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers.optimal_control.commands.targets import JointPositionTarget
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.commands.targets import target_dof


@dataclasses.dataclass(frozen=True)
class Costs:
    """Parts of the cost of a configuration, including the error scaling.

    Attributes:
        cartesian: Cost of each Cartesian target.
        center_of_mass: Cost of the centre of mass, 0 without one.
        joint_positions: Cost of each joint target.
    """

    cartesian: tuple[float, ...]
    center_of_mass: float
    joint_positions: tuple[float, ...]

    @property
    def total(self) -> float:
        """Sum of all parts."""
        return sum(self.cartesian) + self.center_of_mass + sum(self.joint_positions)


class CommandCosts:
    """Costs of commands of one structure.

    Attributes:
        objectives: The objectives: Cartesian, centre of mass, all joints.
        start: First residual of each, [objectives + 1].
        constant: Constant part of the cost, which the squared residuals lack because several
            targets of a joint are merged.
    """

    def __init__(self, model: Model, command: OptimalControlCommand) -> None:
        """Create the objectives of the command's structure.

        Raises:
            ArgumentError: An unknown link or joint.
        """
        self._model = model
        self.objectives = self._make_objectives(command)
        dims = [objective.residual_dim() for objective in self.objectives]
        self.start = np.concatenate(([0], np.cumsum(dims))).astype(int)
        self.constant = 0.0

    def load(self, command: OptimalControlCommand) -> None:
        """Write the targets and weights of a command of this structure."""
        scaling = command.error_scaling
        objectives = iter(self.objectives)
        for target, objective in zip(command.cartesian_targets, objectives, strict=False):
            quaternion = quaternion_from_matrix(target.T[:3, :3])
            objective.set_target_pose(0, np.concatenate([target.T[:3, 3], quaternion]))
            weights = (target.translation_weight, target.rotation_weight)
            objective.weight = scaling * np.sqrt(np.repeat(weights, 3))
        center = command.center_of_mass_target
        if center is not None:
            objective = self.objectives[len(command.cartesian_targets)]
            objective.set_target_position(0, center.position)
            objective.weight = scaling * np.sqrt(center.weight)
        if command.joint_position_targets:
            self._load_joint_targets(command)

    def parts(
        self, command: OptimalControlCommand, residuals: np.ndarray, joint_q: np.ndarray
    ) -> Costs:
        """Return the parts of the cost.

        Args:
            command: The loaded command.
            residuals: Residuals of the objectives, [total_residuals].
            joint_q: The configuration of the residuals, [joint_coord_count].
        """
        squares = residuals**2
        parts = [float(squares[a:b].sum()) for a, b in itertools.pairwise(self.start)]
        n_cartesian = len(command.cartesian_targets)
        has_center = command.center_of_mass_target is not None
        return Costs(
            tuple(parts[:n_cartesian]),
            parts[n_cartesian] if has_center else 0.0,
            self._joint_costs(command, joint_q),
        )

    def _joint_costs(
        self, command: OptimalControlCommand, joint_q: np.ndarray
    ) -> tuple[float, ...]:
        scaling = command.error_scaling
        return tuple(
            float(t.weight * (scaling * (t.target_position - joint_q[self._coord(t)])) ** 2)
            for t in command.joint_position_targets
        )

    def _coord(self, target: JointPositionTarget) -> int:
        return int(dof_coordinates(self._model)[target_dof(target, self._model)])

    def _load_joint_targets(self, command: OptimalControlCommand) -> None:
        """Merge the targets of each joint: sum_i w_i (q_i - q)^2 = W (mean - q)^2 + constant."""
        model = self._model
        positions = np.zeros(model.joint_coord_count)
        weights = np.zeros(model.joint_dof_count)
        constant = 0.0
        for target in command.joint_position_targets:
            dof, coord, weight = target_dof(target, model), self._coord(target), target.weight
            total = weights[dof] + weight
            away = target.target_position - positions[coord]
            if total > 0.0:
                constant += weights[dof] * weight / total * away**2
                positions[coord] += weight / total * away
            weights[dof] = total
        objective = self.objectives[-1]
        objective.set_target_positions(positions)
        objective.weight = command.error_scaling * np.sqrt(weights)
        self.constant = command.error_scaling**2 * constant

    def _make_objectives(self, command: OptimalControlCommand) -> list[Any]:
        model = self._model

        def link(name: str) -> int:
            return model.body_index(name) if name else -1

        objectives: list[Any] = [
            IKObjectivePose(
                link(target.link_name),
                IDENTITY_POSE,
                reference_link_index=link(target.ref_link_name),
            )
            for target in command.cartesian_targets
        ]
        if command.center_of_mass_target is not None:
            reference = link(command.center_of_mass_target.ref_link_name)
            objectives.append(IKObjectiveCenterOfMass(np.zeros(3), reference_link_index=reference))
        if command.joint_position_targets:
            positions = np.zeros(model.joint_coord_count)
            objectives.append(IKObjectiveJointPosition(model, positions))
        return objectives

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal-control command and its targets.

See :mod:`ros_ik.solvers.optimal_control.commands.command`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_items


@dataclasses.dataclass(frozen=True, eq=False)
class CartesianTarget:
    """Target pose of a link in a reference link.

    Attributes:
        ref_link_name: Link in which the target is given, '' for the world.
        link_name: Link that is controlled.
        T: Target pose of the link in the reference link, homogeneous, shape [4, 4], m.
        translation_weight: w_t [1/m^2].
        rotation_weight: w_r [1/rad^2].
    """

    ref_link_name: str
    link_name: str
    T: np.ndarray
    translation_weight: float
    rotation_weight: float


@dataclasses.dataclass(frozen=True)
class JointPositionTarget:
    """Target position of a joint.

    Attributes:
        joint_name: Joint with one degree of freedom.
        target_position: q_d [rad or m].
        weight: w_q [1/rad^2 or 1/m^2].
        dof: Degree of freedom in the model, -1 for that of the joint. A search sets it for joints
            that have several, or share a name.
    """

    joint_name: str
    target_position: float
    weight: float
    dof: int = -1


@dataclasses.dataclass(frozen=True, eq=False)
class CenterOfMassTarget:
    """Target position of the robot's centre of mass in a reference link.

    Attributes:
        ref_link_name: Link in which the target is given, '' for the world.
        position: c_d [m], shape [3].
        weight: w_com [1/m^2].
    """

    ref_link_name: str
    position: np.ndarray
    weight: float


@dataclasses.dataclass(frozen=True)
class CommandHeader:
    """Fields of every command.

    Attributes:
        control_hold_time: Duration for which the last point is held [s].
    """

    control_hold_time: float = 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class OptimalControlCommand:
    """Costs, speeds and stopping rules, from :class:`OptimalControlCommandBuilder`.

    Attributes:
        cartesian_targets: Pose costs, in the order in which they were added.
        joint_position_targets: Joint costs, in the order in which they were added.
        center_of_mass_target: Centre-of-mass cost, or None.
        velocity_limit_scaling: Fraction of the velocity limits that is used, (0, 1].
        acceleration_limit_scaling: Factor on the acceleration limits, positive.
        error_scaling: Factor on every error before it is squared, positive.
        stop_cost: Cost below which the command is solved, None for the solver's.
        min_delta_cost: Improvement per iteration below which ``patience`` applies, None for the
            solver's.
        patience: Number of tolerated iterations without such an improvement, None for the
            solver's.
        header: Fields common to all commands.
    """

    cartesian_targets: tuple[CartesianTarget, ...] = ()
    joint_position_targets: tuple[JointPositionTarget, ...] = ()
    center_of_mass_target: CenterOfMassTarget | None = None
    velocity_limit_scaling: float = 1.0
    acceleration_limit_scaling: float = 1.0
    error_scaling: float = 1.0
    stop_cost: float | None = None
    min_delta_cost: float | None = None
    patience: int | None = None
    header: CommandHeader = CommandHeader()

    def __post_init__(self) -> None:
        """Check the values, and store numbers as such.

        Raises:
            ArgumentError: A number out of range, or another type; it names the field.
        """
        kinds = {
            'cartesian_targets': CartesianTarget, 'joint_position_targets': JointPositionTarget,
        }  # fmt: skip
        for name, kind in kinds.items():
            targets = checked_items(name, getattr(self, name), 'targets')
            for k, target in enumerate(targets):
                checked_instance(f'{name}[{k}]', kind, target)
            self._store(name, targets)
        if self.center_of_mass_target is not None:
            center = self.center_of_mass_target
            checked_instance('center_of_mass_target', CenterOfMassTarget, center)
        checked_instance('header', CommandHeader, self.header)
        speed = _positive('velocity_limit_scaling', self.velocity_limit_scaling, maximum=1.0)
        self._store('velocity_limit_scaling', speed)
        for name in ('acceleration_limit_scaling', 'error_scaling'):
            self._store(name, _positive(name, getattr(self, name)))
        for name in ('stop_cost', 'min_delta_cost'):
            if getattr(self, name) is not None:
                self._store(name, finite_number(name, getattr(self, name), minimum=0.0))
        if self.patience is not None:
            self._store('patience', checked_count('patience', self.patience, 1))

    def _store(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def check_names(command: OptimalControlCommand, model: Model) -> None:
    """Raise ArgumentError if the model lacks a link or joint of the command."""
    links = [name for t in command.cartesian_targets for name in (t.ref_link_name, t.link_name)]
    if command.center_of_mass_target is not None:
        links.append(command.center_of_mass_target.ref_link_name)
    for link in filter(None, links):
        model.body_index(link)
    starts = model.joint_qd_start.numpy()
    for target in _named(command):
        joint = model.joint_index(target.joint_name)
        dofs = int(starts[joint + 1] - starts[joint])
        if dofs != 1:
            raise ArgumentError(
                f'joint_name: {target.joint_name!r} has {dofs} degrees of freedom, expected 1'
            )


def check_joints(command: OptimalControlCommand, model: Model, group: JointGroup) -> None:
    """Raise ArgumentError for a target of a joint outside the group: it would have no effect."""
    for target in _named(command):
        check_joint(target.joint_name, model, group)


def check_joint(name: str, model: Model, group: JointGroup) -> None:
    """Raise ArgumentError for a joint outside the group."""
    dof = int(model.joint_qd_start.numpy()[model.joint_index(name)])
    if group.dof_variable[dof] < 0:
        raise ArgumentError(
            f'joint_name: {name!r} does not move with {group.title}, whose joints are '
            f'{", ".join(group.joint_names)}'
        )


def target_dof(target: JointPositionTarget, model: Model) -> int:
    """Return the degree of freedom of a joint target."""
    if target.dof >= 0:
        return target.dof
    return int(model.joint_qd_start.numpy()[model.joint_index(target.joint_name)])


def variable_of(target: JointPositionTarget, model: Model, group: JointGroup) -> int:
    """Return the variable of a joint target, -1 for a mimic joint or one outside the group."""
    dof = target_dof(target, model)
    variable = int(group.dof_variable[dof])
    return variable if variable >= 0 and group.variable_dof[variable] == dof else -1


def _named(command: OptimalControlCommand) -> list[JointPositionTarget]:
    """Return the joint targets that name a joint."""
    return [target for target in command.joint_position_targets if target.dof < 0]


def structure_of(command: OptimalControlCommand) -> tuple:
    """Return the structure that commands of one problem have in common, as a key."""
    center = command.center_of_mass_target
    return (
        tuple((t.ref_link_name, t.link_name) for t in command.cartesian_targets),
        None if center is None else center.ref_link_name,
        bool(command.joint_position_targets),
    )


def finite_number(argument: str, value: float, minimum: float = -math.inf) -> float:
    """Return a finite number that is at least ``minimum``, or raise naming the argument."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{argument} must be a number, got {value!r}') from error
    if not math.isfinite(number) or number < minimum:
        least = '' if minimum == -math.inf else f' of at least {minimum:g}'
        raise ArgumentError(f'{argument} must be a finite number{least}, got {value!r}')
    return number


def _positive(argument: str, value: float, maximum: float = math.inf) -> float:
    number = finite_number(argument, value)
    if not 0.0 < number <= maximum:
        wanted = 'positive' if maximum == math.inf else f'in (0, {maximum:g}]'
        raise ArgumentError(f'{argument} must be {wanted}, got {value!r}')
    return number

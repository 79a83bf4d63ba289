# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limits of the variables of a joint group, from the limits of the joints that they drive."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.limits.arguments import check_some_may_move
from ros_ik.limits.arguments import dof_values
from ros_ik.limits.arguments import margin_values
from ros_ik.limits.arguments import position_bounds
from ros_ik.limits.default_acceleration import DEFAULT_ACCELERATION
from ros_ik.limits.default_acceleration import default_acceleration
from ros_ik.model import JointGroup
from ros_ik.model import JointType
from ros_ik.model import Model

# Value for no limit, large, but with finite products with times.
_UNBOUNDED = 1e9


@dataclasses.dataclass(frozen=True, eq=False)
class VariableLimits:
    """Limits of the variables, [n_variables] each, in rad and m.

    Attributes:
        low: Least displacements from the start; positive if the start is below its range.
        high: Largest displacements from the start.
        speed: Largest velocities.
        acceleration: Largest accelerations.
        turns: True if a whole turn of the variable leaves all links unmoved, bool.
    """

    low: np.ndarray
    high: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray
    turns: np.ndarray

    def without_turns(self, u: np.ndarray) -> np.ndarray:
        """Return displacements [.., n_variables] without whole turns, if the limits permit."""
        nearer = u - 2.0 * np.pi * np.round(u / (2.0 * np.pi))
        return np.where(self.turns & (nearer >= self.low) & (nearer <= self.high), nearer, u)


class GroupLimits:
    """Limits of the joints of a group.

    Attributes:
        driven: Degrees of freedom that the variables drive, int [driven].
        variable: The variable of each of them, int [driven].
        scale: Factor from the variable to each of them, [driven].
        coords: Coordinate of each of them, int [driven].
        names: Joint of each variable.
    """

    def __init__(
        self,
        model: Model,
        group: JointGroup,
        velocity: np.ndarray | None,
        acceleration: np.ndarray | None,
        position_margin: float | np.ndarray,
    ) -> None:
        """Collect the limits.

        Args:
            model: The model.
            group: The joints that may move.
            velocity: Limits [joint_dof_count], rad/s or m/s; None for those of the model.
            acceleration: Limits [joint_dof_count], rad/s^2 or m/s^2. None to reach the velocity
                limit in 0.2 s, or for 10 without a velocity limit.
            position_margin: Distance kept from position limits [rad or m], one or
                [joint_dof_count].

        Raises:
            ArgumentError: A joint without a coordinate for each degree of freedom, a wrong shape,
                a value outside its range.
        """
        coords = dof_coordinates(model)
        driven = (group.dof_variable >= 0) & (group.dof_scale != 0.0)
        self.driven = np.flatnonzero(driven)
        self.variable, self.scale = group.dof_variable[driven], group.dof_scale[driven]
        self.coords = coords[driven]
        joint_of = np.searchsorted(model.joint_qd_start.numpy(), np.arange(len(coords)), 'right')
        labels = [model.joint_label[joint - 1] for joint in joint_of]
        self.names = tuple(labels[dof] for dof in group.variable_dof)
        if np.any(self.coords < 0):
            name = labels[self.driven[np.argmax(self.coords < 0)]]
            raise ArgumentError(
                f'group: joint {name!r} is a free or ball joint; leave it out of the joint group'
            )
        self._n = group.n_variables
        alone = np.bincount(self.variable, minlength=self._n) == 1
        kinds = model.joint_type.numpy()[joint_of[group.variable_dof] - 1]
        self._turns = alone & (kinds == JointType.REVOLUTE)
        margin = margin_values('position_margin', position_margin)
        lower, upper = position_bounds('position_margin', margin, model, group)
        self._lower, self._upper = lower[self.driven], upper[self.driven]
        speed = model.limits64()[2]
        if velocity is not None:
            speed = _checked('velocity', velocity, len(coords))
            check_some_may_move('velocity', speed, group)
        self._is_pinned = group.variable_limits(speed) == 0.0
        if acceleration is None:
            acceleration = default_acceleration(speed)
        acceleration = _checked('acceleration', acceleration, len(coords))
        # That of a joint that cannot move has no effect.
        acceleration = np.where(speed > 0.0, acceleration, DEFAULT_ACCELERATION)
        if not np.all(acceleration[self.driven] > 0.0):
            raise ArgumentError(f'acceleration must be positive, got {acceleration.tolist()}')
        self._speed, self._acceleration = (
            np.minimum(group.variable_limits(limits), _UNBOUNDED)
            for limits in (speed, acceleration)
        )

    def at(
        self, joint_q: np.ndarray, velocity_scaling: float, acceleration_scaling: float
    ) -> VariableLimits:
        """Return the limits for motions that start at ``joint_q`` [joint_coord_count]."""
        q = joint_q[self.coords]
        ends = np.sort([(self._lower - q) / self.scale, (self._upper - q) / self.scale], axis=0)
        low, high = np.full(self._n, -np.inf), np.full(self._n, np.inf)
        np.maximum.at(low, self.variable, ends[0])
        np.minimum.at(high, self.variable, ends[1])
        # Joints that share a variable may leave it no position within all their limits.
        crossed = low > high
        low[crossed] = high[crossed] = 0.5 * (low[crossed] + high[crossed])
        low[self._is_pinned] = high[self._is_pinned] = 0.0
        return VariableLimits(
            low,
            high,
            np.where(self._is_pinned, 1.0, velocity_scaling * self._speed),
            np.minimum(acceleration_scaling * self._acceleration, _UNBOUNDED),
            self._turns,
        )

    def coordinates(self, joint_q: np.ndarray, displacements: np.ndarray) -> np.ndarray:
        """Return the coordinates [k, joint_coord_count] at displacements [k, n_variables]."""
        result = np.tile(joint_q, (len(displacements), 1))
        result[:, self.coords] += self.scale * displacements[:, self.variable]
        return result

    def degrees_of_freedom(self, values: np.ndarray, count: int) -> np.ndarray:
        """Return joint velocities or accelerations [k, count] from those of variables [k, n]."""
        result = np.zeros((len(values), count))
        result[:, self.driven] = self.scale * values[:, self.variable]
        return result


def _checked(name: str, value: float | np.ndarray, count: int) -> np.ndarray:
    """Return non-negative limits [count], given as one or as many, or raise ArgumentError."""
    array = dof_values(name, value)
    if array.shape not in ((), (count,)):
        raise ArgumentError(f'{name} must be one number or {count} of them, got {value}')
    return np.broadcast_to(array, (count,))

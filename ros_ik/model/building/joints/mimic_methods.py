# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mimic constraints of a ModelBuilder, under Newton's names before and after 1.7."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math
from typing import Any

from ros_ik.errors import ArgumentError
from ros_ik.model.building.tables.collision_filters import CollisionFilters
from ros_ik.model.building.tables.rows import FIXED_SIZES
from ros_ik.model.conventions.checks import as_number
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import label_or
from ros_ik.model.conventions.joint_type import JointType

# Larger coefficients are errors in a description, and would overflow float32 along chains.
MAX_COEFFICIENT = 1e9


class MimicMethods(CollisionFilters):
    """Methods of ModelBuilder for mimic constraints."""

    def add_constraint_mimic(
        self,
        joint0: int,
        joint1: int,
        coef0: float = 0.0,
        coef1: float = 1.0,
        enabled: bool = True,
        label: str | None = None,
        custom_attributes: Mapping[str, Any] | None = None,
    ) -> int:
        """Make joint0 follow joint1: q0 = coef0 + coef1 q1. Return the index of the constraint.

        Args:
            joint0: Follower, with one coordinate.
            joint1: Driver, with one coordinate; may be a mimic joint itself.
            coef0: Offset [rad or m].
            coef1: Factor.
            enabled: False to store a constraint without effect.
            label: Name.
            custom_attributes: Values by ``namespace:name``.

        Raises:
            ArgumentError: A joint that does not exist, lies in another world or does not have
                exactly one coordinate, or a coefficient that is not finite.
        """
        for name, joint in (('joint0', joint0), ('joint1', joint1)):
            checked_index(f'mimic {name}', joint, self.joint_count)
        for name, joint in (('joint0', joint0), ('joint1', joint1)):
            where = f'mimic {name} {self.joint_label[joint]!r}'
            if self.joint_world[joint] != self.current_world:
                raise ArgumentError(
                    f'{where} is in world {self.joint_world[joint]}, '
                    f'the current one is {self.current_world}'
                )
            kind = JointType(self.joint_type[joint])
            if kind in FIXED_SIZES or sum(self.joint_dof_dim[joint]) != 1:
                raise ArgumentError(f'{where} is {kind.name}: needs one coordinate')
        where = f'mimic of joint {self.joint_label[joint0]!r}'
        coef0, coef1 = as_number(f'{where} coef0', coef0), as_number(f'{where} coef1', coef1)
        for name, value in (('coef0', coef0), ('coef1', coef1)):
            if not (math.isfinite(value) and abs(value) <= MAX_COEFFICIENT):
                raise ArgumentError(f'{where}: {name} must be finite, got {value}')
        self.checked_custom_values(
            'constraint_mimic', self.row_count('constraint_mimic'), custom_attributes
        )
        constraint = self.append_row(
            'constraint_mimic',
            constraint_mimic_label=label_or(label, ''),
            constraint_mimic_joint0=int(joint0),
            constraint_mimic_joint1=int(joint1),
            constraint_mimic_coef0=coef0,
            constraint_mimic_coef1=coef1,
            constraint_mimic_enabled=checked_flag('enabled', enabled),
            constraint_mimic_world=self.current_world,
        )
        self.set_custom_values('constraint_mimic', constraint, custom_attributes)
        return constraint

    def set_joint_mimic(
        self, joint: int, reference_joint: int | None, *, coeffs: Sequence[float] = (0.0, 1.0)
    ) -> None:
        """Make a joint follow only the given one, under Newton's newer name.

        Args:
            joint: Follower.
            reference_joint: Driver, or None.
            coeffs: Offset [rad or m] and factor.

        Raises:
            ArgumentError: As :meth:`add_constraint_mimic`.
        """
        checked_index('mimic joint', joint, self.joint_count)
        before = [k for k, one in enumerate(self.constraint_mimic_joint0) if one == joint]
        if reference_joint is not None:
            self.add_constraint_mimic(joint, reference_joint, coeffs[0], coeffs[1])
        for constraint in before:
            self.constraint_mimic_enabled[constraint] = False

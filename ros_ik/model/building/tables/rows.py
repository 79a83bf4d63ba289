# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of a builder as objects: links, joints, shapes, mimic constraints."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import Generic
from typing import overload
from typing import TYPE_CHECKING
from typing import TypeVar

import numpy as np

from ros_ik.model.building.tables.joint_dof import DofData
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.joint_type import JointType

if TYPE_CHECKING:
    from ros_ik.model.building.tables.columns import BuilderColumns

Row = TypeVar('Row')
# Number of coordinates, degrees of freedom and constraints of joints with fixed axes.
FIXED_SIZES = {
    JointType.BALL: (4, 3, 3),
    JointType.FIXED: (0, 0, 6),
    JointType.FREE: (7, 6, 0),
    JointType.DISTANCE: (7, 6, 0),
}


@dataclasses.dataclass(frozen=True)
class LinkData:
    """One link: mass [kg], centre of mass in it [m], inertia about that in its axes [kg m^2]."""

    label: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclasses.dataclass(frozen=True)
class JointData:
    """One joint between two bodies; ``linear`` of its ``dofs`` come first and translate.

    Joints with fixed axes (ball, free, distance) have no ``dofs``.
    """

    label: str
    joint_type: JointType
    parent: int
    child: int
    parent_xform: np.ndarray
    child_xform: np.ndarray
    dofs: tuple[DofData, ...] = ()
    linear: int = 0

    @property
    def dof_count(self) -> int:
        """Number of degrees of freedom."""
        return FIXED_SIZES.get(self.joint_type, (0, len(self.dofs)))[1]

    @property
    def coord_count(self) -> int:
        """Number of coordinates."""
        return FIXED_SIZES.get(self.joint_type, (len(self.dofs), 0))[0]

    @property
    def dof_dim(self) -> tuple[int, int]:
        """Number of prismatic and of revolute degrees of freedom."""
        linear = 3 if self.joint_type in (JointType.FREE, JointType.DISTANCE) else self.linear
        return linear, self.dof_count - linear


@dataclasses.dataclass(frozen=True)
class ShapeData:
    """One shape on a body; ``source`` is the mesh of a MESH."""

    label: str
    body: int
    geo_type: GeoType
    xform: np.ndarray
    scale: tuple[float, float, float]
    source: object | None
    is_collision: bool


@dataclasses.dataclass(frozen=True)
class MimicData:
    """q(joint0) = coef0 + coef1 q(joint1)."""

    joint0: int
    joint1: int
    coef0: float
    coef1: float


class Rows(Sequence[Row], Generic[Row]):
    """A view of the rows of a builder; objects are created on demand."""

    def __init__(self, count: int, make: Callable[[int], Row]) -> None:
        """Create a view of ``count`` rows; ``make`` creates one by index."""
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._make(row) for row in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(f'row {index} of {self._count}')
        return self._make(index % self._count)


def link_row(builder: BuilderColumns, body: int) -> LinkData:
    """Return one link."""
    return LinkData(
        builder.body_label[body],
        builder.body_mass[body],
        builder.body_com[body],
        builder.body_inertia[body],
    )


def joint_row(builder: BuilderColumns, joint: int) -> JointData:
    """Return one joint."""
    kind = JointType(builder.joint_type[joint])
    linear, angular = builder.joint_dof_dim[joint]
    first = builder.joint_qd_start[joint]
    count = 0 if kind in FIXED_SIZES else linear + angular
    dofs = tuple(
        DofData(
            axis=builder.joint_axis[dof],
            lower=builder.joint_limit_lower[dof],
            upper=builder.joint_limit_upper[dof],
            velocity=builder.joint_velocity_limit[dof],
            effort=builder.joint_effort_limit[dof],
        )
        for dof in range(first, first + count)
    )
    return JointData(
        label=builder.joint_label[joint],
        joint_type=kind,
        parent=builder.joint_parent[joint],
        child=builder.joint_child[joint],
        parent_xform=builder.joint_X_p[joint],
        child_xform=builder.joint_X_c[joint],
        dofs=dofs,
        linear=linear if count else 0,
    )


def shape_row(builder: BuilderColumns, shape: int) -> ShapeData:
    """Return one shape."""
    return ShapeData(
        label=builder.shape_label[shape],
        body=builder.shape_body[shape],
        geo_type=GeoType(builder.shape_type[shape]),
        xform=builder.shape_transform[shape],
        scale=builder.shape_scale[shape],
        source=builder.shape_source[shape],
        is_collision=builder.shape_collision_group[shape] != 0,
    )


def mimic_row(builder: BuilderColumns, constraint: int) -> MimicData:
    """Return one mimic constraint."""
    return MimicData(
        builder.constraint_mimic_joint0[constraint],
        builder.constraint_mimic_joint1[constraint],
        builder.constraint_mimic_coef0[constraint],
        builder.constraint_mimic_coef1[constraint],
    )

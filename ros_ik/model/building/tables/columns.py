# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Columns of a ModelBuilder: one list per field, under the name of the model's field.

A domain (body, joint, ...) has one row per element. ``COLUMNS`` lists the domain, the type and the
references of each field; merging of builders and creation of arrays use that table.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import warp as wp

from ros_ik.model.conventions.attribute_enums import AttributeFrequency


@dataclasses.dataclass(frozen=True)
class Column:
    """One field.

    Attributes:
        domain: Kind of element of its rows; the names are those of AttributeFrequency.
        dtype: Warp type of the model's array, None for a list on the host.
        grad: True if the array carries gradients in a model with ``requires_grad``.
        references: Domain that its values index (-1 for none), 'world' for worlds.
        on_model: True if the model has the field too.
        check: Name of the rule for its values, one of ``column_checks.RULES``; None for any value.
        least: Smallest index; 0 if it must refer to an element.
    """

    domain: str
    dtype: Any = None
    grad: bool = False
    references: str | None = None
    on_model: bool = True
    check: str | None = None
    least: int = -1


def _real(domain: str, dtype: Any = wp.float32, check: str = 'finite') -> Column:
    return Column(domain, dtype, grad=True, check=check)


def _index(domain: str, references: str, least: int = -1) -> Column:
    return Column(domain, wp.int32, references=references, check='index', least=least)


def _integer(domain: str, check: str = 'integer') -> Column:
    return Column(domain, wp.int32, check=check)


def _flag(domain: str, *, on_model: bool = True) -> Column:
    return Column(domain, wp.bool if on_model else None, on_model=on_model, check='flag')


def _label(domain: str) -> Column:
    return Column(domain, check='label')


COLUMNS: dict[str, Column] = {
    'body_label': _label('body'),
    'body_mass': _real('body', check='amount'),
    'body_com': _real('body', wp.vec3),
    'body_inertia': _real('body', wp.mat33, 'inertia'),
    'body_q': _real('body', wp.transform, 'pose'),
    'body_qd': _real('body', wp.spatial_vector),
    'body_flags': _integer('body'),
    'body_world': _index('body', 'world'),
    'body_lock_inertia': _flag('body', on_model=False),
    'joint_label': _label('joint'),
    'joint_type': _integer('joint', 'joint type'),
    'joint_parent': _index('joint', 'body'),
    'joint_child': _index('joint', 'body', 0),
    'joint_X_p': _real('joint', wp.transform, 'pose'),
    'joint_X_c': _real('joint', wp.transform, 'pose'),
    'joint_dof_dim': _integer('joint'),
    'joint_enabled': _flag('joint'),
    'joint_world': _index('joint', 'world'),
    'joint_articulation': _index('joint', 'articulation'),
    'joint_q_start': Column('joint', wp.int32, references='joint_coord', check='integer'),
    'joint_qd_start': Column('joint', wp.int32, references='joint_dof', check='integer'),
    'joint_cts_start': Column(
        'joint', references='joint_constraint', on_model=False, check='integer'
    ),
    'joint_collision_filter_parent': _flag('joint', on_model=False),
    'joint_axis': _real('joint_dof', wp.vec3, 'axis'),
    'joint_limit_lower': _real('joint_dof', check='limit'),
    'joint_limit_upper': _real('joint_dof', check='limit'),
    'joint_velocity_limit': _real('joint_dof', check='bound'),
    'joint_effort_limit': _real('joint_dof', check='bound'),
    'joint_qd': _real('joint_dof'),
    'joint_target_qd': _real('joint_dof'),
    'joint_armature': _real('joint_dof', check='amount'),
    'joint_friction': _real('joint_dof', check='amount'),
    'joint_q': _real('joint_coord'),
    'joint_target_q': _real('joint_coord'),
    'shape_label': _label('shape'),
    'shape_type': _integer('shape', 'shape type'),
    'shape_body': _index('shape', 'body'),
    'shape_transform': _real('shape', wp.transform, 'pose'),
    'shape_scale': _real('shape', wp.vec3),
    'shape_source': Column('shape'),
    'shape_flags': _integer('shape'),
    'shape_margin': _real('shape'),
    'shape_is_solid': _flag('shape'),
    'shape_collision_group': _integer('shape'),
    'shape_collision_radius': _real('shape', check='bound'),
    'shape_world': _index('shape', 'world'),
    'articulation_label': _label('articulation'),
    'articulation_start': Column('articulation', wp.int32, references='joint', check='integer'),
    'articulation_end': Column('articulation', wp.int32, references='joint', check='integer'),
    'articulation_world': _index('articulation', 'world'),
    'constraint_mimic_label': _label('constraint_mimic'),
    'constraint_mimic_joint0': _index('constraint_mimic', 'joint', 0),
    'constraint_mimic_joint1': _index('constraint_mimic', 'joint', 0),
    'constraint_mimic_coef0': Column('constraint_mimic', wp.float32, check='coefficient'),
    'constraint_mimic_coef1': Column('constraint_mimic', wp.float32, check='coefficient'),
    'constraint_mimic_enabled': _flag('constraint_mimic'),
    'constraint_mimic_world': _index('constraint_mimic', 'world'),
}
# A field of each domain, for its number of rows.
_COUNTED = {
    'body': 'body_label',
    'joint': 'joint_label',
    'joint_dof': 'joint_qd',
    'joint_coord': 'joint_q',
    'shape': 'shape_label',
    'articulation': 'articulation_label',
    'constraint_mimic': 'constraint_mimic_label',
}
_OF_DOMAIN = {
    domain: [name for name, column in COLUMNS.items() if column.domain == domain]
    for domain in _COUNTED
}


class BuilderColumns:
    """The lists of a builder; poses are float64 [7], vectors float64 [3], shared by copies.

    Attributes:
        world_count: Worlds begun so far.
        world_gravity: Gravity of each [m/s^2].
        joint_constraint_count: Velocity constraints of all joints.
        shape_collision_filter_pairs: Pairs of shapes (s1 < s2) that must not collide.
    """

    body_label: list[str]
    body_mass: list[float]
    body_com: list[np.ndarray]
    body_inertia: list[np.ndarray]
    body_q: list[np.ndarray]
    body_qd: list[np.ndarray]
    body_flags: list[int]
    body_world: list[int]
    body_lock_inertia: list[bool]
    joint_label: list[str]
    joint_type: list[int]
    joint_parent: list[int]
    joint_child: list[int]
    joint_X_p: list[np.ndarray]
    joint_X_c: list[np.ndarray]
    joint_dof_dim: list[tuple[int, int]]
    joint_enabled: list[bool]
    joint_world: list[int]
    joint_articulation: list[int]
    joint_q_start: list[int]
    joint_qd_start: list[int]
    joint_cts_start: list[int]
    joint_collision_filter_parent: list[bool]
    joint_axis: list[np.ndarray]
    joint_limit_lower: list[float]
    joint_limit_upper: list[float]
    joint_velocity_limit: list[float]
    joint_effort_limit: list[float]
    joint_qd: list[float]
    joint_target_qd: list[float]
    joint_armature: list[float]
    joint_friction: list[float]
    joint_q: list[float]
    joint_target_q: list[float]
    shape_label: list[str]
    shape_type: list[int]
    shape_body: list[int]
    shape_transform: list[np.ndarray]
    shape_scale: list[tuple[float, float, float]]
    shape_source: list[Any]
    shape_flags: list[int]
    shape_margin: list[float]
    shape_is_solid: list[bool]
    shape_collision_group: list[int]
    shape_collision_radius: list[float]
    shape_world: list[int]
    articulation_label: list[str]
    articulation_start: list[int]
    articulation_end: list[int]
    articulation_world: list[int]
    constraint_mimic_label: list[str]
    constraint_mimic_joint0: list[int]
    constraint_mimic_joint1: list[int]
    constraint_mimic_coef0: list[float]
    constraint_mimic_coef1: list[float]
    constraint_mimic_enabled: list[bool]
    constraint_mimic_world: list[int]

    def __init__(self) -> None:
        """Start empty, outside of every world."""
        for name in COLUMNS:
            setattr(self, name, [])
        self.world_count = 0
        self.world_gravity: list[np.ndarray] = []
        self.joint_constraint_count = 0
        self.shape_collision_filter_pairs: list[tuple[int, int]] = []
        self._current_world = -1

    @property
    def current_world(self) -> int:
        """World that elements are added to, -1 outside of every world."""
        return self._current_world

    @property
    def body_count(self) -> int:
        """Number of bodies."""
        return len(self.body_label)

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self.joint_label)

    @property
    def joint_dof_count(self) -> int:
        """Number of degrees of freedom."""
        return len(self.joint_qd)

    @property
    def joint_coord_count(self) -> int:
        """Number of coordinates."""
        return len(self.joint_q)

    @property
    def shape_count(self) -> int:
        """Number of shapes."""
        return len(self.shape_label)

    @property
    def articulation_count(self) -> int:
        """Number of articulations added so far; joints outside of all get one when finalized."""
        return len(self.articulation_label)

    def row_count(self, domain: str) -> int:
        """Return the number of rows of a domain, 0 for an unknown domain."""
        if domain == 'joint_constraint':
            return self.joint_constraint_count
        if domain in ('world', 'once'):
            return self.world_count if domain == 'world' else 1
        return len(getattr(self, _COUNTED[domain])) if domain in _COUNTED else 0

    def append_row(self, domain: str, **values: Any) -> int:
        """Append one row and return its index; every field of the domain must be given."""
        for name in _OF_DOMAIN[domain]:
            getattr(self, name).append(values[name])
        return self.row_count(domain) - 1


def frequency_of(domain: str) -> AttributeFrequency:
    """Return the frequency of a domain."""
    return AttributeFrequency[domain.upper()]

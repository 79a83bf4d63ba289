# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The fields of a model: Newton's names, shapes and types, on the model's device."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ros_ik.model.model_attributes import ModelAttributes


class ModelFields(ModelAttributes):
    """Part of Model: declaration of its fields.

    Indices are int32, or -1 (the world as a body, no world at all); numbers are float32.
    ``*_world_start`` have Newton's layout [world_count + 2]: the first row of each world, the
    first global row, and the number of rows. Fields that end in 64 are host copies with the
    precision of the description.
    """

    device: Any
    requires_grad: bool
    world_count: int
    gravity: wp.array  # [world_count + 1] vec3, the last one global; [1] without worlds [m/s^2]

    body_count: int
    body_label: list[str]
    body_mass: wp.array  # [body_count], kg
    body_com: wp.array  # [body_count] vec3, m, in the body
    body_inertia: wp.array  # [body_count] mat33, kg m^2, about the centre of mass, in body axes
    body_inv_mass: wp.array  # [body_count], 1/kg, 0 without mass
    body_inv_inertia: wp.array  # [body_count] mat33, 0 without mass
    body_q: wp.array  # [body_count] transform, poses to start from
    body_qd: wp.array  # [body_count] spatial vector, velocities to start from
    body_flags: wp.array  # [body_count], BodyFlags
    body_world: wp.array  # [body_count]
    body_world_start: wp.array  # [world_count + 2]
    body_mass64: np.ndarray
    body_com64: np.ndarray
    body_inertia64: np.ndarray

    joint_count: int
    joint_coord_count: int
    joint_dof_count: int
    joint_constraint_count: int
    joint_label: list[str]
    joint_type: wp.array  # [joint_count], JointType
    joint_parent: wp.array  # [joint_count], body
    joint_child: wp.array  # [joint_count], body
    joint_ancestor: wp.array  # [joint_count], joint that places the parent body
    joint_articulation: wp.array  # [joint_count]
    joint_X_p: wp.array  # [joint_count] transform, joint in the parent
    joint_X_c: wp.array  # [joint_count] transform, joint in the child
    joint_dof_dim: wp.array  # [joint_count, 2]: prismatic and revolute degrees of freedom
    joint_enabled: wp.array  # [joint_count] bool; stored for simulators, kinematics moves all
    joint_q_start: wp.array  # [joint_count + 1], the last one is joint_coord_count
    joint_qd_start: wp.array  # [joint_count + 1], the last one is joint_dof_count
    joint_mimic_joint: wp.array  # [joint_count], joint that it follows, which follows none
    joint_mimic_coeffs: wp.array  # [joint_count] vec2: offset and factor
    joint_world: wp.array  # [joint_count]
    joint_world_start: wp.array  # [world_count + 2]
    joint_coord_world_start: wp.array  # [world_count + 2]
    joint_dof_world_start: wp.array  # [world_count + 2]
    joint_constraint_world_start: wp.array  # [world_count + 2]
    joint_X_p64: np.ndarray
    joint_X_c64: np.ndarray

    joint_axis: wp.array  # [joint_dof_count] vec3, unit, in the joint's frame
    joint_limit_lower: wp.array  # [joint_dof_count], rad or m, -1e10 for none
    joint_limit_upper: wp.array  # [joint_dof_count], rad or m, 1e10 for none
    joint_velocity_limit: wp.array  # [joint_dof_count], rad/s or m/s, 1e10 for none
    joint_effort_limit: wp.array  # [joint_dof_count], Nm or N, 1e10 for none
    joint_qd: wp.array  # [joint_dof_count], velocities to start from
    joint_target_qd: wp.array  # [joint_dof_count], velocity targets
    joint_armature: wp.array  # [joint_dof_count], kg m^2 or kg
    joint_friction: wp.array  # [joint_dof_count], Nm or N
    joint_axis64: np.ndarray
    joint_q: wp.array  # [joint_coord_count], coordinates to start from
    joint_target_q: wp.array  # [joint_coord_count], position targets

    shape_count: int
    shape_label: list[str]
    shape_type: wp.array  # [shape_count], GeoType
    shape_body: wp.array  # [shape_count]
    shape_transform: wp.array  # [shape_count] transform, in the body
    shape_scale: wp.array  # [shape_count] vec3
    shape_source: list[Any]  # mesh of each shape, None for the others
    shape_flags: wp.array  # [shape_count], ShapeFlags
    shape_margin: wp.array  # [shape_count], m
    shape_is_solid: wp.array  # [shape_count] bool
    shape_collision_group: wp.array  # [shape_count]
    shape_collision_radius: wp.array  # [shape_count], m
    shape_world: wp.array  # [shape_count]
    shape_world_start: wp.array  # [world_count + 2]

    articulation_count: int
    articulation_label: list[str]
    articulation_start: wp.array  # [articulation_count + 1], joint; the last one is joint_count
    articulation_end: wp.array  # [articulation_count], joint behind the last one
    articulation_world: wp.array  # [articulation_count]
    articulation_world_start: wp.array  # [world_count + 2]
    max_joints_per_articulation: int
    max_dofs_per_articulation: int

    constraint_mimic_count: int
    constraint_mimic_label: list[str]
    constraint_mimic_joint0: wp.array  # [constraint_mimic_count], follower
    constraint_mimic_joint1: wp.array  # [constraint_mimic_count], leader
    constraint_mimic_coef0: wp.array  # [constraint_mimic_count], rad or m
    constraint_mimic_coef1: wp.array  # [constraint_mimic_count]
    constraint_mimic_enabled: wp.array  # [constraint_mimic_count] bool
    constraint_mimic_world: wp.array  # [constraint_mimic_count]

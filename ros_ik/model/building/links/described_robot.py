# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Changes to a robot after it was read from its description: scaling, merging links.

Each function changes a builder that contains only that robot.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.links.shape_methods import ShapeMethods
from ros_ik.model.building.links.shape_properties import mass_properties
from ros_ik.model.building.links.shape_properties import shape_radius
from ros_ik.model.building.tables.columns import COLUMNS
from ros_ik.model.building.tables.joint_dof import UNLIMITED
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.checks import checked_amount
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.joint_type import JointType


def scale_robot(robot: ShapeMethods, scale: float) -> None:
    """Scale all lengths; masses are unchanged, as in Newton.

    Raises:
        ArgumentError: A factor that is not positive and finite.
    """
    if checked_amount('scale', scale) == 0.0:
        raise ArgumentError('scale must not be 0')
    for column in (robot.joint_X_p, robot.joint_X_c, robot.shape_transform, robot.body_q):
        column[:] = [np.concatenate([scale * pose[:3], pose[3:]]) for pose in column]
    robot.body_com[:] = [scale * com for com in robot.body_com]
    robot.body_inertia[:] = [scale * scale * inertia for inertia in robot.body_inertia]
    robot.shape_scale[:] = [(scale * x, scale * y, scale * z) for x, y, z in robot.shape_scale]
    robot.shape_collision_radius[:] = [
        shape_radius(GeoType(kind), size, source)
        for kind, size, source in zip(
            robot.shape_type, robot.shape_scale, robot.shape_source, strict=True
        )
    ]
    factor = [scale if kind == JointType.PRISMATIC else 1.0 for kind in robot.joint_type]
    for joint, start in enumerate(robot.joint_qd_start):
        if robot.joint_type[joint] == JointType.PRISMATIC:
            for name in ('joint_limit_lower', 'joint_limit_upper', 'joint_velocity_limit'):
                column = getattr(robot, name)
                if abs(column[start]) < UNLIMITED:
                    column[start] *= scale
            robot.joint_target_q[robot.joint_q_start[joint]] *= scale
    for k, (follower, driver) in enumerate(
        zip(robot.constraint_mimic_joint0, robot.constraint_mimic_joint1, strict=True)
    ):
        robot.constraint_mimic_coef0[k] *= factor[follower]
        robot.constraint_mimic_coef1[k] *= factor[follower] / factor[driver]


def set_masses_of_shapes(robot: ShapeMethods, density: float) -> list[str]:
    """Replace mass and inertia of each link by those of its collision shapes.

    Args:
        robot: The robot.
        density: Density of every shape [kg/m^3].

    Returns:
        Names of shapes without a computable mass.
    """
    for body in range(robot.body_count):
        robot.body_mass[body] = 0.0
        robot.body_com[body], robot.body_inertia[body] = np.zeros(3), np.zeros((3, 3))
    warnings = []
    for shape, label in enumerate(robot.shape_label):
        if not robot.shape_flags[shape] & ShapeFlags.COLLIDE_SHAPES:
            continue
        kind, size = GeoType(robot.shape_type[shape]), robot.shape_scale[shape]
        try:
            added = mass_properties(
                f'shape {label!r}', kind, size, robot.shape_source[shape], density
            )
        except ArgumentError as error:
            warnings.append(f'{error}; it adds no mass')
            continue
        robot.add_mass(robot.shape_body[shape], robot.shape_transform[shape], added)
    return warnings


def rotate_cylinders(robot: ShapeMethods, up_axis: int) -> None:
    """Rotate the axes of cylinders and capsules from z to another axis, as in Newton."""
    turn = np.concatenate(
        [np.zeros(3), poses.quaternion_between(np.eye(3)[2], np.eye(3)[up_axis])]
    )
    for shape, kind in enumerate(robot.shape_type):
        if kind in (GeoType.CYLINDER, GeoType.CAPSULE):
            robot.shape_transform[shape] = poses.multiply(robot.shape_transform[shape], turn)


def hide_visuals(robot: ShapeMethods) -> None:
    """Mark visual shapes as not visible."""
    robot.shape_flags[:] = [
        flags if flags & ShapeFlags.COLLIDE_SHAPES else flags & ~int(ShapeFlags.VISIBLE)
        for flags in robot.shape_flags
    ]


def disable_self_collisions(robot: ShapeMethods) -> None:
    """Disable collisions between all shapes of the robot."""
    colliding = [s for s, f in enumerate(robot.shape_flags) if f & ShapeFlags.COLLIDE_SHAPES]
    robot.shape_collision_filter_pairs = [
        (first, second) for k, first in enumerate(colliding) for second in colliding[k + 1 :]
    ]


def fixed_joints(robot: ShapeMethods, first: int) -> set[int]:
    """Return the fixed joints from an index on."""
    kinds = enumerate(robot.joint_type)
    return {joint for joint, kind in kinds if kind == JointType.FIXED and joint >= first}


def massless_root_joints(robot: ShapeMethods) -> set[int]:
    """Return the fixed joints below a free massless root link, as in Newton."""
    found: set[int] = set()
    massless: set[int] = set()
    for joint in _parents_first(robot):
        parent, child = robot.joint_parent[joint], robot.joint_child[joint]
        is_root = parent < 0 and robot.joint_type[joint] == JointType.FREE
        if robot.joint_type[joint] == JointType.FIXED and parent in massless:
            found.add(joint)
        if (is_root or joint in found) and robot.body_mass[child] <= 0.0:
            massless.add(child)
    return found


def collapse_joints(robot: ShapeMethods, collapsed: Collection[int]) -> None:
    """Merge the child link of each given fixed joint into its parent link, or into the world.

    The remaining link receives masses and shapes; masses merged into the world are dropped.

    Args:
        robot: The robot; its joints are not in an articulation yet.
        collapsed: The joints.
    """
    identity = np.array(poses.IDENTITY_POSE)
    remains, placed = {-1: -1}, {-1: identity}
    for joint in _parents_first(robot):
        parent, child = robot.joint_parent[joint], robot.joint_child[joint]
        to_joint = poses.multiply(placed[parent], robot.joint_X_p[joint])
        if joint in collapsed:
            remains[child] = remains[parent]
            placed[child] = poses.multiply(to_joint, poses.inverse(robot.joint_X_c[joint]))
            if remains[child] >= 0:
                added = robot.body_mass[child], robot.body_com[child], robot.body_inertia[child]
                robot.add_mass(remains[child], placed[child], added)
        else:
            remains[child], placed[child] = child, identity
            robot.joint_X_p[joint], robot.joint_parent[joint] = to_joint, remains[parent]
    for shape, body in enumerate(robot.shape_body):
        pose = poses.multiply(placed[body], robot.shape_transform[shape])
        robot.shape_transform[shape], robot.shape_body[shape] = pose, remains[body]
    bodies = [body for body in range(robot.body_count) if remains[body] == body]
    joints = [joint for joint in range(robot.joint_count) if joint not in collapsed]
    _keep_rows(robot, {'body': bodies, 'joint': joints})


def _keep_rows(robot: ShapeMethods, kept: dict[str, list[int]]) -> None:
    """Remove the other rows of some domains, and renumber references."""
    starts = [*robot.joint_cts_start, robot.joint_constraint_count]
    constraints = [starts[joint + 1] - starts[joint] for joint in kept['joint']]
    numbers = {
        domain: {-1: -1, **{old: new for new, old in enumerate(rows)}}
        for domain, rows in kept.items()
    }
    for name, column in COLUMNS.items():
        values = getattr(robot, name)
        if column.domain in kept:
            values = [values[row] for row in kept[column.domain]]
        if column.references in kept:
            values = [numbers[column.references][value] for value in values]
        setattr(robot, name, values)
    ends = np.cumsum([0, *constraints]).tolist()
    robot.joint_cts_start, robot.joint_constraint_count = ends[:-1], ends[-1]


def _parents_first(robot: ShapeMethods) -> list[int]:
    """Return the joints so that each comes after the one that places its parent link."""
    below: dict[int, list[int]] = {}
    for joint, parent in enumerate(robot.joint_parent):
        below.setdefault(parent, []).append(joint)
    order = list(below.get(-1, []))
    for joint in order:  # grows during the iteration
        order.extend(below.get(robot.joint_child[joint], []))
    return order

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a ModelBuilder of any type: checks, rows, initial coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.joints.joint_axes import checked_axes
from ros_ik.model.building.joints.joint_axes import joint_sizes
from ros_ik.model.building.joints.mimic_methods import MimicMethods
from ros_ik.model.building.tables.joint_dof import DofData
from ros_ik.model.building.tables.joint_dof import JointDofConfig
from ros_ik.model.building.tables.rows import FIXED_SIZES
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.attribute_enums import AttributeFrequency
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.joint_type import JointType


class JointRows(MimicMethods):
    """Methods of ModelBuilder for joints of a type given as an argument."""

    def add_joint(
        self,
        joint_type: JointType,
        parent: int,
        child: int,
        *,
        linear_axes: Sequence[DofData | JointDofConfig] | None = None,
        angular_axes: Sequence[DofData | JointDofConfig] | None = None,
        dofs: Sequence[DofData | JointDofConfig] = (),
        linear: int = 0,
        label: str | None = None,
        parent_xform: Any = None,
        child_xform: Any = None,
        collision_filter_parent: bool | None = None,
        enabled: bool = True,
        custom_attributes: Mapping[str, Any] | None = None,
    ) -> int:
        """Add a joint and return its index.

        Args:
            joint_type: Type of joint.
            parent: Parent body, -1 for the world.
            child: Child body.
            linear_axes: Prismatic axes with their limits; not for ball, free and distance joints.
            angular_axes: Revolute axes with their limits.
            dofs: Both in one list, prismatic ones first, instead of these two.
            linear: Number of prismatic axes in ``dofs``.
            label: Name; made from the index where empty.
            parent_xform: Pose of the joint in the parent, shape [7]; the identity where None.
            child_xform: Pose of the joint in the child, shape [7]; the identity where None.
            collision_filter_parent: True if shapes of parent and child never collide; None selects
                True, except for joints to the world that are not fixed.
            enabled: Stored for simulators; kinematics moves every joint.
            custom_attributes: Values by ``namespace:name``.

        Raises:
            ArgumentError: A body that does not exist or is in another world, an axis of zero
                length, an empty range of limits, a wrong number of axes, or a pose that is not
                finite; the error names the joint.
        """
        label = label or f'joint_{self.joint_count}'
        where = f'joint {label!r}'
        kind = JointType(checked_index(f'type of {where}', joint_type, len(JointType)))
        self._check_ends(where, parent, child)
        if parent == child:
            raise ArgumentError(f'{where}: joins body {child} to itself')
        if dofs:
            linear_axes, angular_axes = dofs[:linear], dofs[linear:]
        sliding, turning = checked_axes(where, kind, linear_axes, angular_axes)
        if collision_filter_parent is None:
            collision_filter_parent = parent >= 0 or kind == JointType.FIXED
        coord_count, constraint_count = joint_sizes(kind, len(sliding) + len(turning))
        counts = {
            AttributeFrequency.JOINT_DOF: len(sliding) + len(turning),
            AttributeFrequency.JOINT_COORD: coord_count,
            AttributeFrequency.JOINT_CONSTRAINT: constraint_count,
        }
        self.check_joint_custom_values(self.joint_count, custom_attributes, counts)
        joint = self.append_row(
            'joint',
            joint_label=label,
            joint_type=int(kind),
            joint_parent=int(parent),
            joint_child=int(child),
            joint_X_p=checked_pose(f'{where} parent_xform', parent_xform),
            joint_X_c=checked_pose(f'{where} child_xform', child_xform),
            joint_dof_dim=(len(sliding), len(turning)),
            joint_enabled=bool(enabled),
            joint_world=self.current_world,
            joint_articulation=-1,
            joint_q_start=self.joint_coord_count,
            joint_qd_start=self.joint_dof_count,
            joint_cts_start=self.joint_constraint_count,
            joint_collision_filter_parent=bool(collision_filter_parent),
        )
        self.joint_constraint_count += constraint_count
        for dof in sliding + turning:
            self._append_dof(dof)
        self._append_coordinates(kind, coord_count, sliding + turning, joint)
        if collision_filter_parent:
            self.filter_joint(joint)
        self.set_joint_custom_values(joint, custom_attributes)
        return joint

    def _check_ends(self, where: str, parent: int, child: int) -> None:
        """Raise ArgumentError unless both bodies exist, in the current world."""
        for name, body, least in (('parent', parent, -1), ('child', child, 0)):
            checked_index(f'{name} of {where}', body, self.body_count, least=least)
            if body >= 0 and self.body_world[body] != self.current_world:
                raise ArgumentError(
                    f'{name} of {where}: body {self.body_label[body]!r} is in world '
                    f'{self.body_world[body]}, the current one is {self.current_world}'
                )

    def _append_dof(self, dof: DofData) -> None:
        """Append one degree of freedom."""
        self.append_row(
            'joint_dof',
            joint_axis=np.asarray(dof.axis),
            joint_limit_lower=dof.lower,
            joint_limit_upper=dof.upper,
            joint_velocity_limit=dof.velocity,
            joint_effort_limit=dof.effort,
            joint_qd=0.0,
            joint_target_qd=dof.target_qd,
            joint_armature=dof.armature,
            joint_friction=dof.friction,
        )

    def _append_coordinates(
        self, kind: JointType, count: int, axes: tuple[DofData, ...], joint: int
    ) -> None:
        """Append the initial coordinates: zero, unit quaternions, the pose for a free joint."""
        targets = [dof.target_q for dof in axes] if kind not in FIXED_SIZES else [0.0] * count
        values = [0.0] * count
        if count and kind in FIXED_SIZES:
            values[-1] = targets[-1] = 1.0
        if kind == JointType.FREE:
            values = self._coordinates_in_place(joint).tolist()
        for value, target in zip(values, targets, strict=True):
            self.append_row('joint_coord', joint_q=value, joint_target_q=target)

    def _coordinates_in_place(self, joint: int) -> np.ndarray:
        """Return (X_wp X_p)^-1 X_wc X_c, the coordinates for the current pose of the child."""
        parent, child = self.joint_parent[joint], self.joint_child[joint]
        anchor = self.joint_X_p[joint]
        if parent >= 0:
            anchor = poses.multiply(self.body_q[parent], anchor)
        placed = poses.multiply(self.body_q[child], self.joint_X_c[joint])
        return poses.multiply(poses.inverse(anchor), placed)

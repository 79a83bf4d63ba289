# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a ModelBuilder, under Newton's names.

Every method takes these keyword arguments: ``label``, ``parent_xform`` and ``child_xform`` (pose
of the joint in parent and child, [7], identity if None), ``collision_filter_parent`` (True if
shapes of parent and child never collide: the default, except for joints to the world that are not
fixed), ``enabled``, ``custom_attributes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ros_ik.errors import ArgumentError
from ros_ik.model.building.joints.joint_axes import one_axis
from ros_ik.model.building.joints.joint_rows import JointRows
from ros_ik.model.building.tables.joint_dof import DofData
from ros_ik.model.building.tables.joint_dof import JointDofConfig
from ros_ik.model.conventions.checks import as_number
from ros_ik.model.conventions.checks import checked_amount
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.keywords import JOINT
from ros_ik.model.conventions.keywords import UNUSED_BALL
from ros_ik.model.conventions.keywords import used


class JointMethods(JointRows):
    """Methods of ModelBuilder for joints.

    Attributes:
        default_joint_cfg: Default settings of revolute and prismatic joints.
    """

    def __init__(self) -> None:
        """Start without joints."""
        super().__init__()
        self.default_joint_cfg = JointDofConfig()

    def add_joint_revolute(
        self, parent: int, child: int, *, axis: Any = None, dof: Any = None, **settings: Any
    ) -> int:
        """Add a revolute joint and return its index.

        Args:
            parent: Parent body, -1 for the world.
            child: Child body.
            axis: Axis in the joint's frame on the parent, x if None; or a JointDofConfig or
                DofData with axis and limits.
            dof: Another name for ``axis``.
            **settings: Limits and targets as in JointDofConfig (``limit_lower`` [rad],
                ``limit_upper``, ``velocity_limit`` [rad/s], ``effort_limit`` [Nm], ``target_q``,
                ``target_qd``, ``armature``, ``friction``) and what :meth:`add_joint` takes. Those
                that concern the simulation (``target_ke``, ``damping``, ..) are not used.

        Raises:
            ArgumentError: As :meth:`add_joint`.
        """
        axis = axis if dof is None else dof
        axes, common = one_axis('add_joint_revolute', axis, settings, self.default_joint_cfg)
        return self.add_joint(JointType.REVOLUTE, parent, child, angular_axes=axes, **common)

    def add_joint_prismatic(
        self, parent: int, child: int, *, axis: Any = None, dof: Any = None, **settings: Any
    ) -> int:
        """Add a prismatic joint; see :meth:`add_joint_revolute`, with m and N."""
        axis = axis if dof is None else dof
        axes, common = one_axis('add_joint_prismatic', axis, settings, self.default_joint_cfg)
        return self.add_joint(JointType.PRISMATIC, parent, child, linear_axes=axes, **common)

    def add_joint_fixed(self, parent: int, child: int, **joint: Any) -> int:
        """Add a fixed joint; see :meth:`add_joint`."""
        return self.add_joint(
            JointType.FIXED, parent, child, **used('add_joint_fixed', joint, JOINT)
        )

    def add_joint_ball(
        self,
        parent: int,
        child: int,
        *,
        armature: float | None = None,
        friction: float | None = None,
        **joint: Any,
    ) -> int:
        """Add a ball joint with coordinates qx qy qz qw; see :meth:`add_joint`.

        Args:
            parent: Parent body, -1 for the world.
            child: Child body.
            armature: Inertia added about each axis [kg m^2].
            friction: Friction about each axis [Nm].
            **joint: Arguments of :meth:`add_joint`; ``damping``, ``stiffness`` and
                ``actuator_mode`` are not used.
        """
        common = used('add_joint_ball', joint, JOINT, UNUSED_BALL)
        default = self.default_joint_cfg
        armature = default.armature if armature is None else armature
        friction = default.friction if friction is None else friction
        where = f'joint {common.get("label") or ""!r}'
        armature = checked_amount(f'{where} armature', 0.0 if armature is None else armature)
        friction = checked_amount(f'{where} friction', 0.0 if friction is None else friction)
        index = self.add_joint(JointType.BALL, parent, child, **common)
        first = self.joint_qd_start[index]
        self.joint_armature[first : first + 3] = [armature] * 3
        self.joint_friction[first : first + 3] = [friction] * 3
        return index

    def add_joint_free(
        self, *bodies: int, child: int | None = None, parent: int | None = None, **joint: Any
    ) -> int:
        """Add a free joint with coordinates x y z qx qy qz qw; see :meth:`add_joint`.

        The initial coordinates follow from the poses of the bodies (``xform`` of
        :meth:`add_link`).

        Args:
            *bodies: The child, connected to the world as in Newton, or parent and child.
            child: The child by name.
            parent: The parent by name, -1 for the world.
            **joint: Arguments of :meth:`add_joint`.
        """
        given = [body for body in (parent, child) if body is not None]
        if not 1 <= len(bodies) + len(given) <= 2 or (len(bodies) == 1 and child is not None):
            raise ArgumentError(
                f'add_joint_free takes a child, or parent and child; got {bodies}, '
                f'child={child}, parent={parent}'
            )
        if len(bodies) == 2:
            parent, child = bodies
        elif bodies:
            child = bodies[0]
        if child is None:
            raise ArgumentError('add_joint_free needs a child')
        common = used('add_joint_free', joint, JOINT)
        return self.add_joint(JointType.FREE, -1 if parent is None else parent, child, **common)

    def add_joint_distance(
        self,
        parent: int,
        child: int,
        *,
        min_distance: float = -1.0,
        max_distance: float = 1.0,
        **joint: Any,
    ) -> int:
        """Add a joint that bounds the distance between its frames on parent and child.

        The bounds [m] (negative for none) are stored as limits of the first degree of freedom, as
        in Newton. Kinematics and :meth:`Model.limits64` ignore them, because they do not bound a
        coordinate. See :meth:`add_joint`.
        """
        where = f'joint {joint.get("label") or ""!r}'
        min_distance = as_number(f'{where} min_distance', min_distance)
        max_distance = as_number(f'{where} max_distance', max_distance)
        if max_distance >= 0.0 and min_distance > max_distance:
            raise ArgumentError(
                f'{where}: min_distance {min_distance} lies above max_distance {max_distance}'
            )
        common = used('add_joint_distance', joint, JOINT)
        index = self.add_joint(JointType.DISTANCE, parent, child, **common)
        first = self.joint_qd_start[index]
        self.joint_limit_lower[first] = min_distance
        self.joint_limit_upper[first] = max_distance
        return index

    def add_joint_d6(
        self,
        parent: int,
        child: int,
        *,
        linear_axes: Sequence[DofData | JointDofConfig] | None = None,
        angular_axes: Sequence[DofData | JointDofConfig] | None = None,
        **joint: Any,
    ) -> int:
        """Add a joint with up to three prismatic and three revolute axes; see above."""
        return self.add_joint(
            JointType.D6, parent, child,
            linear_axes=linear_axes, angular_axes=angular_axes,
            **used('add_joint_d6', joint, JOINT),
        )  # fmt: skip

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Import of robot descriptions into a ModelBuilder, like ``newton.ModelBuilder.add_urdf``."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from collections.abc import Sequence
import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.arrays import active_mimics
from ros_ik.model.arrays import configuration_space
from ros_ik.model.arrays import limits
from ros_ik.model.building.links import described_robot
from ros_ik.model.building.tables.columns import COLUMNS
from ros_ik.model.building.worlds.worlds import Worlds
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.checks import axis_number
from ros_ik.model.conventions.checks import check_flags
from ros_ik.model.conventions.checks import checked_amount
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import checked_text
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.keywords import UNUSED_URDF
from ros_ik.model.conventions.keywords import used
from ros_ik.model.readers.mesh_lookup import checked_folders
from ros_ik.model.readers.srdf import read_srdf
from ros_ik.model.readers.srdf import SemanticDescription
from ros_ik.model.readers.urdf_source import read_source
from ros_ik.model.urdf.parser import parse_urdf


class UrdfMethods(Worlds):
    """Methods of ModelBuilder for the import of robot descriptions.

    Attributes:
        semantic: SRDF of the last robot description that had one, or None.
    """

    def __init__(self) -> None:
        """Start without an SRDF."""
        super().__init__()
        self.semantic: SemanticDescription | None = None

    @abc.abstractmethod
    def _empty(self) -> UrdfMethods:
        """Return an empty builder with the same defaults."""

    def add_urdf(
        self,
        source: str | os.PathLike[str] | None = None,
        *,
        text: str | None = None,
        srdf: str | os.PathLike[str] | None = None,
        package_paths: Sequence[str | Path] = (),
        package_dirs: Sequence[str | Path] | None = None,
        xform: Any = None,
        floating: bool | None = None,
        base_joint: Mapping[str, Any] | None = None,
        parent_body: int = -1,
        override_root_xform: bool = False,
        scale: float = 1.0,
        up_axis: Any = 2,
        hide_visuals: bool = False,
        parse_visuals_as_colliders: bool = False,
        enable_self_collisions: bool = True,
        ignore_inertial_definitions: bool = False,
        joint_ordering: str | None = 'dfs',
        bodies_follow_joint_ordering: bool = True,
        collapse_fixed_joints: bool = False,
        collapse_massless_fixed_root: bool = False,
        label_prefix: str | None = None,
        **unused: Any,
    ) -> None:
        """Add a robot description to the current world.

        Its links, joints, shapes and mimic joints become one articulation. Its coordinates start
        at zero, clipped to the limits. Adjacent links and pairs that the SRDF disables never
        collide.

        Args:
            source: The URDF document, or the path of its file. For a file, meshes are also looked
                up in its folder, in the two above it, and in ``share``.
            text: The URDF document, under the argument name of :meth:`Model.from_urdf`.
            srdf: The SRDF document, or the path of its file: as a ``pathlib.Path`` if ``text`` is
                given, otherwise in any form that ``source`` takes.
            package_paths: Folders in which meshes are looked up.
            package_dirs: More of them, under the argument name of Newton.
            xform: Pose of the robot in the world, or in ``parent_body``, shape [7]; the identity
                where None.
            floating: Connect the root link to the world by a free joint instead of a fixed one.
            base_joint: Joint that connects the root link, as arguments of :meth:`add_joint`; its
                axes keep their directions when ``xform`` rotates the robot.
            parent_body: Body that carries the robot, of the articulation added last; -1 for the
                world.
            override_root_xform: True if ``xform`` rotates the axes of ``base_joint`` too.
            scale: Factor on all lengths; masses are unchanged.
            up_axis: Axis of the description that points up, 0 to 2 or 'x' to 'z', and along which
                its cylinders and capsules lie.
            hide_visuals: Mark visual shapes as not visible.
            parse_visuals_as_colliders: Use visual shapes as collision shapes.
            enable_self_collisions: False disables all collisions between shapes of the robot.
            ignore_inertial_definitions: Compute masses from collision shapes with the density of
                ``default_shape_cfg``; meshes have no mass.
            joint_ordering: 'dfs' or 'bfs' for depth or breadth first, None for that of the
                document.
            bodies_follow_joint_ordering: True if links come in the order of their joints, or in
                that of the document.
            collapse_fixed_joints: Merge links that are connected by fixed joints, and links fixed
                to the world into it. SRDF groups that name a merged link are lost.
            collapse_massless_fixed_root: Merge only links that are fixed to a floating root
                without mass.
            label_prefix: Prefix of all labels, as ``prefix/``.
            **unused: Newton's arguments for simulation and drawing, ignored.

        Raises:
            ModelError: A description is malformed; the error names the element.
            ArgumentError: Arguments that are inconsistent or invalid.
        """
        used('add_urdf', unused, (), UNUSED_URDF)
        if (source is None) == (text is None):
            raise ArgumentError('source: add_urdf takes a description, as source or as text')
        check_flags(
            floating=False if floating is None else floating,
            override_root_xform=override_root_xform,
            hide_visuals=hide_visuals,
            parse_visuals_as_colliders=parse_visuals_as_colliders,
            enable_self_collisions=enable_self_collisions,
            ignore_inertial_definitions=ignore_inertial_definitions,
            bodies_follow_joint_ordering=bodies_follow_joint_ordering,
            collapse_fixed_joints=collapse_fixed_joints,
            collapse_massless_fixed_root=collapse_massless_fixed_root,
        )
        checked_text('label_prefix', '' if label_prefix is None else label_prefix)
        self._check_base(floating, base_joint, parent_body)
        if override_root_xform and xform is None:
            raise ArgumentError('override_root_xform needs xform')
        up = axis_number('up_axis', up_axis)
        folders = (
            *checked_folders('package_paths', package_paths),
            *checked_folders('package_dirs', () if package_dirs is None else package_dirs),
        )
        if source is not None:
            text, folders = read_source(source, folders)
        described = self._empty()
        parse_urdf(
            described,
            text,  # type: ignore[arg-type]  # read from source if it was None
            package_paths=folders,
            floating=bool(floating),
            base_joint=base_joint,
            joint_ordering=joint_ordering,
            bodies_follow_joint_ordering=bodies_follow_joint_ordering,
            visuals_as_colliders=parse_visuals_as_colliders,
        )
        semantic = None
        if srdf is not None and not (isinstance(srdf, str) and not srdf):
            semantic = read_srdf(srdf, folders, may_name_file=source is not None)
            semantic = semantic.named_as(described.joint_label, described.body_label)
            described.srdf_warnings += semantic.faults(described.joint_label, described.body_label)
            kinds = zip(described.joint_label, described.joint_type, strict=True)
            fixed = {label for label, kind in kinds if kind == JointType.FIXED}
            semantic = semantic.without_positions_of(fixed)
        described.filter_description(semantic)
        self._adapt(
            described,
            scale=checked_amount('scale', scale),
            up_axis=up,
            hide_visuals=hide_visuals,
            enable_self_collisions=enable_self_collisions,
            ignore_inertial_definitions=ignore_inertial_definitions,
        )
        if collapse_fixed_joints or collapse_massless_fixed_root:
            collapsed = described_robot.massless_root_joints(described)
            if collapse_fixed_joints:
                # The base joint of the parent's robot is kept.
                collapsed = described_robot.fixed_joints(described, int(parent_body >= 0))
            described_robot.collapse_joints(described, collapsed)
        described.gravity = self.gravity if self.current_world < 0 else self.world_gravity[-1]
        space = configuration_space(described, limits(described), active_mimics(described))
        described.joint_q = space.neutral().tolist()
        pose = checked_pose('xform', xform)
        turn = poses.quaternion_between(np.eye(3)[up], np.eye(3)[self.up_axis])
        pose = poses.multiply(pose, np.concatenate([np.zeros(3), turn]))
        first_joint = self.joint_count
        self.add_builder(described, pose, label_prefix)
        if base_joint is not None and not override_root_xform:
            self._keep_base_axes(first_joint, pose)
        if parent_body >= 0:
            self._attach_to_body(parent_body, first_joint, described.body_count)
        if semantic is not None and not label_prefix:
            self.semantic = semantic

    def _adapt(
        self,
        robot: UrdfMethods,
        *,
        scale: float,
        up_axis: int,
        hide_visuals: bool,
        enable_self_collisions: bool,
        ignore_inertial_definitions: bool,
    ) -> None:
        """Change a new robot according to the arguments of :meth:`add_urdf`."""
        if scale != 1.0:
            described_robot.scale_robot(robot, scale)
        if ignore_inertial_definitions:
            density = self.default_shape_cfg.density
            robot.urdf_warnings += described_robot.set_masses_of_shapes(robot, density)
        if hide_visuals:
            described_robot.hide_visuals(robot)
        if not enable_self_collisions:
            described_robot.disable_self_collisions(robot)
        if up_axis != 2:
            described_robot.rotate_cylinders(robot, up_axis)

    def _check_base(
        self, floating: bool | None, base_joint: Mapping[str, Any] | None, parent_body: int
    ) -> None:
        """Raise ArgumentError unless the arguments for the root link are consistent."""
        if floating is not None and base_joint is not None:
            raise ArgumentError('base_joint: give it or floating, not both')
        if base_joint is not None:
            known = inspect.signature(self.add_joint).parameters
            if not isinstance(base_joint, Mapping) or not set(base_joint) <= set(known):
                raise ArgumentError(
                    f'base_joint must hold arguments of add_joint by name, got {base_joint!r}'
                )
            taken = {'parent', 'child', 'parent_xform', 'child_xform'} & set(base_joint)
            if taken:
                raise ArgumentError(f'base_joint must not hold {", ".join(sorted(taken))}')
        checked_index('parent_body', parent_body, self.body_count, least=-1)
        if parent_body < 0:
            return
        if floating:
            raise ArgumentError('floating: a robot that parent_body carries does not float')
        label = self.body_label[parent_body]
        if self.body_world[parent_body] != self.current_world:
            raise ArgumentError(f'parent_body {label!r} is not in the current world')
        self.close_articulations()
        joints = [j for j, child in enumerate(self.joint_child) if child == parent_body]
        if not joints or self.joint_articulation[joints[0]] != self.articulation_count - 1:
            raise ArgumentError(
                f'parent_body {label!r} must belong to the articulation that was added last'
            )

    def _keep_base_axes(self, joint: int, pose: np.ndarray) -> None:
        """Rotate what the joint carries, not its axes: X_p J(q) X_c^-1 = T J(q) R."""
        if self.joint_type[joint] != JointType.FREE:
            self.joint_X_p[joint] = np.array([*pose[:3], 0.0, 0.0, 0.0, 1.0])
            turn = np.array([0.0, 0.0, 0.0, *pose[3:]])
            self.joint_X_c[joint] = poses.inverse(turn)

    def _attach_to_body(self, body: int, first_joint: int, body_count: int) -> None:
        """Connect the robot whose joints start at an index to a body, in its articulation."""
        self.joint_parent[first_joint] = int(body)
        for moved in range(self.body_count - body_count, self.body_count):
            self.body_q[moved] = poses.multiply(self.body_q[body], self.body_q[moved])
        last = self.articulation_count - 1
        self.articulation_end[last - 1] = self.articulation_end[last]
        for joint in range(first_joint, self.joint_count):
            self.joint_articulation[joint] = last - 1
        for name, column in COLUMNS.items():
            if column.domain == 'articulation':
                getattr(self, name).pop()
        if self.joint_collision_filter_parent[first_joint]:
            self.filter_joint(first_joint)

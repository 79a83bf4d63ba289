# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collects links, joints, shapes and mimic constraints, and makes a Model of them.

Method names and conventions are Newton's: poses x y z qx qy qz qw, ``parent`` -1 for the world,
X_wc = X_wp X_p X_j(q) X_c^-1, box scales are half extents, capsules and cylinders lie along z.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import warp as wp

from ros_ik.model.arrays import active_mimics
from ros_ik.model.arrays import configuration_space
from ros_ik.model.arrays import limits
from ros_ik.model.custom_attribute import CustomAttribute
from ros_ik.model.custom_attribute import CustomFrequency
from ros_ik.model.joint_dof import DofData
from ros_ik.model.joint_dof import JointDofConfig
from ros_ik.model.model import Model
from ros_ik.model.poses import IDENTITY_POSE
from ros_ik.model.rows import joint_row
from ros_ik.model.rows import JointData
from ros_ik.model.rows import link_row
from ros_ik.model.rows import LinkData
from ros_ik.model.rows import mimic_row
from ros_ik.model.rows import MimicData
from ros_ik.model.rows import Rows
from ros_ik.model.rows import shape_row
from ros_ik.model.rows import ShapeData
from ros_ik.model.shape_config import ShapeConfig
from ros_ik.model.srdf import parse_srdf
from ros_ik.model.srdf import SemanticDescription
from ros_ik.model.worlds import Worlds

__all__ = [
    'CustomAttribute', 'CustomFrequency', 'DofData', 'IDENTITY_POSE', 'JointData',
    'JointDofConfig', 'LinkData', 'MimicData', 'ModelBuilder', 'ShapeConfig', 'ShapeData',
]  # fmt: skip


class ModelBuilder(Worlds):
    """Builds a :class:`Model` link by link.

    Its lists have the names of the model's fields (``joint_q``, ``body_mass``, ..) and hold what
    was given, in float64; start values such as ``joint_q`` may be written to.

    Attributes:
        semantic: The SRDF of the last robot description added with one, None without.
    """

    CustomAttribute = CustomAttribute
    CustomFrequency = CustomFrequency
    JointDofConfig = JointDofConfig
    ShapeConfig = ShapeConfig

    def __init__(self, *, gravity: Any = (0.0, 0.0, -9.81)) -> None:
        """Start empty.

        Args:
            gravity: Gravity [m/s^2], shape [3].
        """
        super().__init__()
        self.gravity = gravity
        self.semantic: SemanticDescription | None = None

    @property
    def links(self) -> Rows[LinkData]:
        """The links; the index is the body index."""
        return Rows(self.body_count, partial(link_row, self))

    @property
    def joints(self) -> Rows[JointData]:
        """The joints."""
        return Rows(self.joint_count, partial(joint_row, self))

    @property
    def shapes(self) -> Rows[ShapeData]:
        """The shapes."""
        return Rows(self.shape_count, partial(shape_row, self))

    @property
    def mimics(self) -> Rows[MimicData]:
        """The mimic constraints, those that are not enabled too."""
        return Rows(self.row_count('constraint_mimic'), partial(mimic_row, self))

    def add_body(
        self,
        *,
        label: str | None = None,
        custom_attributes: Mapping[str, Any] | None = None,
        **link: Any,
    ) -> int:
        """Add a body that moves freely: a link, a free joint, an articulation of both.

        The joint and the articulation are called ``<label>_free_joint`` and
        ``<label>_articulation``.

        Args:
            label: Name of the body.
            custom_attributes: Values of the body by ``namespace:name``.
            **link: What :meth:`add_link` takes.

        Returns:
            The body index.
        """
        body = self.add_link(label, custom_attributes=custom_attributes, **link)
        joint = self.add_joint_free(body, label=f'{label}_free_joint' if label else None)
        self.add_articulation([joint], f'{label}_articulation' if label else None)
        return body

    def add_urdf(
        self,
        text: str,
        *,
        srdf: str | None = None,
        package_paths: Sequence[str | Path] = (),
        floating: bool = False,
        xform: Any = None,
        label_prefix: str | None = None,
    ) -> None:
        """Add a robot description to the current world.

        Its links, joints, shapes and mimic joints come as one articulation; its coordinates start
        at zero moved inside the limits. Adjacent links and pairs that the SRDF disables never
        collide.

        Args:
            text: The URDF document.
            srdf: The SRDF document.
            package_paths: Folders in which meshes are looked up.
            floating: Hang the root link on the world by a free joint instead of a fixed one.
            xform: Pose of the robot, shape [7]; the identity where None.
            label_prefix: ``prefix/`` is put before every label.

        Raises:
            ModelError: A description is malformed; the error names the element.
        """
        from ros_ik.model.urdf import parse_urdf  # the importer builds on this module

        described = parse_urdf(text, package_paths=package_paths, floating=floating)
        semantic = parse_srdf(srdf) if srdf else None
        described.filter_description(semantic)
        described.gravity = self.gravity if self.current_world < 0 else self.world_gravity[-1]
        space = configuration_space(described, limits(described), active_mimics(described))
        described.joint_q = space.neutral().tolist()
        self.add_builder(described, xform, label_prefix)
        if semantic is not None and not label_prefix:
            self.semantic = semantic

    def finalize(self, device: wp.DeviceLike = None, *, requires_grad: bool = False) -> Model:
        """Make the model; the builder stays as it is.

        Args:
            device: Warp device; None for the current one.
            requires_grad: Whether the arrays of real numbers carry gradients.

        Raises:
            ArgumentError: A body with two incoming joints, a loop, articulations that a joint
                connects, joints that follow each other, or elements of worlds out of order.
        """
        return Model(self, device, requires_grad=requires_grad)

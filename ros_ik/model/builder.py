# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Builder that collects links, joints, shapes and mimic constraints of a Model.

Method names and conventions are those of Newton: poses x y z qx qy qz qw, ``parent`` -1 for the
world, X_wc = X_wp X_p X_j(q) X_c^-1, box scales are half extents, capsules and cylinders lie along
z.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import warp as wp

from ros_ik.model.building.links.shape_config import ShapeConfig
from ros_ik.model.building.tables.custom_attribute import CustomAttribute
from ros_ik.model.building.tables.custom_attribute import CustomFrequency
from ros_ik.model.building.tables.joint_dof import DofData
from ros_ik.model.building.tables.joint_dof import JointDofConfig
from ros_ik.model.building.tables.rows import joint_row
from ros_ik.model.building.tables.rows import JointData
from ros_ik.model.building.tables.rows import link_row
from ros_ik.model.building.tables.rows import LinkData
from ros_ik.model.building.tables.rows import mimic_row
from ros_ik.model.building.tables.rows import MimicData
from ros_ik.model.building.tables.rows import Rows
from ros_ik.model.building.tables.rows import shape_row
from ros_ik.model.building.tables.rows import ShapeData
from ros_ik.model.conventions.checks import axis_number
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.keywords import UNUSED_BUILDER
from ros_ik.model.conventions.keywords import UNUSED_FINALIZE
from ros_ik.model.conventions.keywords import used
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.model.model import Model
from ros_ik.model.urdf_methods import UrdfMethods

__all__ = [
    'CustomAttribute', 'CustomFrequency', 'DofData', 'IDENTITY_POSE', 'JointData',
    'JointDofConfig', 'LinkData', 'MimicData', 'ModelBuilder', 'ShapeConfig', 'ShapeData',
]  # fmt: skip


class ModelBuilder(UrdfMethods):
    """Builder of a :class:`Model`, link by link.

    Its lists have the names of the model's fields (``joint_q``, ``body_mass``, ..) and contain the
    given values in float64. Initial values such as ``joint_q`` may be changed.
    """

    CustomAttribute = CustomAttribute
    CustomFrequency = CustomFrequency
    JointDofConfig = JointDofConfig
    ShapeConfig = ShapeConfig

    def __init__(self, up_axis: Any = 2, gravity: Any = None, **unused: Any) -> None:
        """Start empty.

        Args:
            up_axis: Axis that points up, 0 to 2 or 'x' to 'z': of gravity, of the ground plane
                and of robot descriptions.
            gravity: Gravity [m/s^2], shape [3]; 9.81 down where None.
            **unused: ``sdf_texture_paired_samples``, which Newton takes.
        """
        super().__init__()
        used('ModelBuilder', unused, (), UNUSED_BUILDER)
        self.up_axis = axis_number('up_axis', up_axis)
        self.gravity = -9.81 * np.eye(3)[self.up_axis]
        if gravity is not None:
            self.gravity = checked_array('gravity', gravity, (3,))

    def _empty(self) -> ModelBuilder:
        """Return an empty builder with the same defaults."""
        return ModelBuilder()

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
        """The mimic constraints, including disabled ones."""
        return Rows(self.row_count('constraint_mimic'), partial(mimic_row, self))

    def add_body(
        self,
        *,
        label: str | None = None,
        custom_attributes: Mapping[str, Any] | None = None,
        **link: Any,
    ) -> int:
        """Add a floating body: a link and a free joint, in an articulation of their own.

        The joint and the articulation are called ``<label>_free_joint`` and
        ``<label>_articulation``.

        Args:
            label: Name of the body.
            custom_attributes: Values of the body by ``namespace:name``.
            **link: Arguments of :meth:`add_link`.

        Returns:
            The body index.
        """
        body = self.add_link(label, custom_attributes=custom_attributes, **link)
        joint = self.add_joint_free(body, label=f'{label}_free_joint' if label else None)
        self.add_articulation([joint], f'{label}_articulation' if label else None)
        return body

    def finalize(
        self, device: wp.DeviceLike = None, *, requires_grad: bool = False, **unused: Any
    ) -> Model:
        """Create the model; the builder stays unchanged.

        Args:
            device: Warp device; None for the current one.
            requires_grad: True if the arrays of real numbers carry gradients.
            **unused: Newton's ``skip_*``: ignored, because other code relies on all checks.

        Raises:
            ArgumentError: A value in a list that breaks its rule in ``COLUMNS``, lists that
                disagree, a body with two incoming joints, a loop, articulations that a joint
                connects, joints that follow each other, or elements of worlds out of order.
        """
        used('finalize', unused, (), UNUSED_FINALIZE)
        return Model(self, device, requires_grad=requires_grad)

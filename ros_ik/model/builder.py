# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collects links, joints, shapes and mimic constraints, and makes a Model of them.

Method names and conventions are Newton's: poses x y z qx qy qz qw, ``parent`` -1 for the world,
X_wc = X_wp X_p X_j(q) X_c^-1, box scales are half extents, capsules and cylinders lie along z.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model.joint_type import GeoType
from ros_ik.model.joint_type import JointType
from ros_ik.model.model import Model

IDENTITY_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@dataclasses.dataclass(frozen=True)
class LinkData:
    """One link: mass [kg], centre of mass in it [m], inertia about that in its axes [kg m^2]."""

    label: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclasses.dataclass(frozen=True)
class DofData:
    """One degree of freedom of one coordinate: unit axis and limits, +-inf where there is none."""

    axis: tuple[float, float, float]
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf


@dataclasses.dataclass(frozen=True)
class JointData:
    """One joint between two bodies; ``linear`` of its ``dofs`` come first and translate."""

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
        return _FIXED_SIZES.get(self.joint_type, (0, len(self.dofs)))[1]

    @property
    def coord_count(self) -> int:
        """Number of coordinates."""
        return _FIXED_SIZES.get(self.joint_type, (len(self.dofs), 0))[0]

    @property
    def dof_dim(self) -> tuple[int, int]:
        """Number of sliding and of turning degrees of freedom."""
        linear = 3 if self.joint_type in (JointType.FREE, JointType.DISTANCE) else self.linear
        return linear, self.dof_count - linear


@dataclasses.dataclass(frozen=True)
class ShapeData:
    """One shape on a body; ``source`` is a mesh where the type is MESH."""

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


# Coordinates and degrees of freedom of the joints whose dofs have no data of their own.
_FIXED_SIZES = {
    JointType.FIXED: (0, 0),
    JointType.BALL: (4, 3),
    JointType.FREE: (7, 6),
    JointType.DISTANCE: (7, 6),
}


class ModelBuilder:
    """Builds a :class:`Model` link by link.

    Attributes:
        links: Links so far; the index is the body index.
        joints: Joints so far.
        shapes: Shapes so far.
        mimics: Mimic constraints so far.
        warnings: What an importer found and passed over.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.links: list[LinkData] = []
        self.joints: list[JointData] = []
        self.shapes: list[ShapeData] = []
        self.mimics: list[MimicData] = []
        self.warnings: list[str] = []

    def add_link(
        self,
        label: str,
        *,
        mass: float = 0.0,
        com: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0),
        inertia: np.ndarray | None = None,
    ) -> int:
        """Add a link and return its body index.

        Args:
            label: Name.
            mass: Mass [kg].
            com: Centre of mass in the link [m], shape [3].
            inertia: Inertia about the centre of mass in link axes [kg m^2], shape [3, 3].
        """
        matrix = np.zeros((3, 3)) if inertia is None else np.asarray(inertia, dtype=np.float64)
        self.links.append(LinkData(label, float(mass), np.asarray(com, dtype=np.float64), matrix))
        return len(self.links) - 1

    def add_joint_revolute(self, parent: int, child: int, *, dof: DofData, **joint: Any) -> int:
        """Add a joint that turns about ``dof.axis``; see :meth:`add_joint`."""
        return self.add_joint(JointType.REVOLUTE, parent, child, dofs=(dof,), **joint)

    def add_joint_prismatic(self, parent: int, child: int, *, dof: DofData, **joint: Any) -> int:
        """Add a joint that slides along ``dof.axis``; see :meth:`add_joint`."""
        return self.add_joint(JointType.PRISMATIC, parent, child, dofs=(dof,), linear=1, **joint)

    def add_joint_fixed(self, parent: int, child: int, **joint: Any) -> int:
        """Add a joint that does not move; see :meth:`add_joint`."""
        return self.add_joint(JointType.FIXED, parent, child, **joint)

    def add_joint_ball(self, parent: int, child: int, **joint: Any) -> int:
        """Add a joint that turns freely, coordinates qx qy qz qw; see :meth:`add_joint`."""
        return self.add_joint(JointType.BALL, parent, child, **joint)

    def add_joint_free(self, parent: int, child: int, **joint: Any) -> int:
        """Add a joint that moves freely, coordinates x y z qx qy qz qw; see :meth:`add_joint`."""
        return self.add_joint(JointType.FREE, parent, child, **joint)

    def add_joint_d6(
        self,
        parent: int,
        child: int,
        *,
        linear_axes: Sequence[DofData] = (),
        angular_axes: Sequence[DofData] = (),
        **joint: Any,
    ) -> int:
        """Add a joint with up to three sliding and three turning axes; see :meth:`add_joint`."""
        dofs = (*linear_axes, *angular_axes)
        return self.add_joint(
            JointType.D6, parent, child, dofs=dofs, linear=len(linear_axes), **joint
        )

    def add_joint(
        self,
        joint_type: JointType,
        parent: int,
        child: int,
        *,
        label: str = '',
        parent_xform: Sequence[float] | np.ndarray = IDENTITY_POSE,
        child_xform: Sequence[float] | np.ndarray = IDENTITY_POSE,
        dofs: Sequence[DofData] = (),
        linear: int = 0,
    ) -> int:
        """Add a joint and return its index.

        Args:
            joint_type: Kind of joint.
            parent: Parent body, -1 for the world.
            child: Child body.
            label: Name; made from the index where empty.
            parent_xform: Pose of the joint in the parent, shape [7].
            child_xform: Pose of the joint in the child, shape [7].
            dofs: Axes and limits, sliding ones first.
            linear: How many of ``dofs`` slide.

        Raises:
            ArgumentError: A body that does not exist.
        """
        for name, body, least in (('parent', parent, -1), ('child', child, 0)):
            if not least <= body < len(self.links):
                raise ArgumentError(
                    f'{name} of joint {label!r} is body {body} of {len(self.links)}'
                )
        poses = (
            np.asarray(parent_xform, dtype=np.float64),
            np.asarray(child_xform, dtype=np.float64),
        )
        label = label or f'joint_{len(self.joints)}'
        self.joints.append(
            JointData(label, joint_type, parent, child, *poses, tuple(dofs), linear)
        )
        return len(self.joints) - 1

    def add_shape(
        self,
        body: int,
        geo_type: GeoType,
        *,
        label: str = '',
        xform: Sequence[float] | np.ndarray = IDENTITY_POSE,
        scale: Sequence[float] = (1.0, 1.0, 1.0),
        source: object | None = None,
        is_collision: bool = True,
    ) -> int:
        """Add a shape and return its index.

        Args:
            body: Body that carries it, -1 for the world.
            geo_type: Kind of shape.
            label: Name.
            xform: Pose in the body, shape [7].
            scale: Half extents of a box, radius of a sphere, radius and half height of a capsule
                or cylinder, factors of a mesh [m or 1], shape [3].
            source: The mesh of a MESH.
            is_collision: Whether it takes part in collisions; visual shapes do not.
        """
        pose = np.asarray(xform, dtype=np.float64)
        size = (float(scale[0]), float(scale[1]), float(scale[2]))
        self.shapes.append(ShapeData(label, body, geo_type, pose, size, source, is_collision))
        return len(self.shapes) - 1

    def add_constraint_mimic(self, joint0: int, joint1: int, coef0: float, coef1: float) -> int:
        """Make joint0 follow joint1: q0 = coef0 + coef1 q1. Return the index of the constraint."""
        self.mimics.append(MimicData(joint0, joint1, float(coef0), float(coef1)))
        return len(self.mimics) - 1

    def finalize(self, device: wp.DeviceLike = None) -> Model:
        """Make the model on ``device``; None for the current one."""
        return Model(self, device)

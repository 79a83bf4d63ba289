# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The robot: Newton's arrays of kinematics and inertia, with names and limits beside them."""

from __future__ import annotations

from collections.abc import Sequence
import difflib
from pathlib import Path
from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model.configuration_space import ConfigurationSpace
from ros_ik.model.configuration_space import resolve_mimics
from ros_ik.model.joint_group import JointGroup
from ros_ik.model.joint_group import make_joint_group

if TYPE_CHECKING:
    from ros_ik.model.builder import ModelBuilder
    from ros_ik.model.srdf import SemanticDescription

# Newton's sentinel for a limit that is not there; float32 arrays hold it in the place of infinity.
UNLIMITED = 1e10


class Model:
    """A robot for kinematics. Make one with :meth:`from_urdf` or :class:`ModelBuilder`.

    Array fields have the names, shapes and types of ``newton.Model`` (int32, float32, on
    ``device``). Fields that end in 64 are host copies in float64 that keep the precision of the
    description.

    Attributes:
        device: Device of the arrays.
        body_label: Names of the links, in body order.
        joint_label: Names of the joints.
        shape_label: Names of the shapes.
        shape_source: Mesh of each shape, None for the others.
        warnings: What the importer found and passed over.
        semantic: Groups and collision pairs of the SRDF, None without one.
    """

    def __init__(self, builder: ModelBuilder, device: wp.DeviceLike = None) -> None:
        """Turn what a builder collected into arrays.

        Args:
            builder: The collected links, joints, shapes and constraints.
            device: Warp device; None for the current one.
        """
        self.device = wp.get_device(device)
        self.warnings: tuple[str, ...] = tuple(builder.warnings)
        self.semantic: SemanticDescription | None = None
        self._finalize_bodies(builder)
        self._finalize_joints(builder)
        self._finalize_dofs(builder)
        self._finalize_mimics(builder)
        self._finalize_shapes(builder)
        self.gravity = wp.array([(0.0, 0.0, -9.81)], dtype=wp.vec3, device=self.device)
        neutral = self.neutral_joint_q()
        self.joint_q = self._floats(neutral)
        self.joint_qd = self._floats(np.zeros(self.joint_dof_count))
        # newton.ik reads these two; None and False mean: joints in order, none of them a rod.
        self._fk_joint_order = None
        self._has_rod_joints = False

    @classmethod
    def from_urdf(
        cls,
        text: str,
        srdf: str | None = None,
        package_paths: Sequence[str | Path] = (),
        device: wp.DeviceLike = None,
        *,
        floating: bool = False,
    ) -> Model:
        """Build the model of a robot description.

        Args:
            text: The URDF document (what ``robot_description`` holds).
            srdf: The SRDF document, for groups and disabled collision pairs.
            package_paths: Folders in which ``package://`` meshes are looked up; meshes outside
                them are not read. The kinematics need none.
            device: Warp device; None for the current one.
            floating: Hang the root link on the world by a free joint instead of a fixed one.

        Returns:
            The model: one body per link, fixed joints kept.

        Raises:
            ModelError: The description is malformed; the error names the element.
        """
        from ros_ik.model.srdf import parse_srdf  # the importers build on this module
        from ros_ik.model.urdf import parse_urdf

        builder = parse_urdf(text, package_paths=package_paths, floating=floating)
        semantic = parse_srdf(srdf) if srdf else None
        model = builder.finalize(device)
        model.semantic = semantic
        return model

    def body_index(self, name: str) -> int:
        """Return the index of a link, or raise ArgumentError with the closest names."""
        return _index('link', name, self._body_index)

    def joint_index(self, name: str) -> int:
        """Return the index of a joint, or raise ArgumentError with the closest names."""
        return _index('joint', name, self._joint_index)

    def joint_group(self, spec: str | Sequence[str] = '') -> JointGroup:
        """Return a set of joints that move together.

        Args:
            spec: '' for every joint, the name of an SRDF group, a chain ``'base_link:tip_link'``,
                or a list of joint names. Mimic joints follow their drivers, named or not.

        Raises:
            ArgumentError: An unknown group, link or joint, or a chain that does not connect.
        """
        return make_joint_group(self, spec)

    def apply_mimic(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the coordinates with those of mimic joints computed from their drivers.

        Args:
            joint_q: Coordinates, shape [.., joint_coord_count].
        """
        return self._space.apply_mimic(joint_q)

    def neutral_joint_q(self) -> np.ndarray:
        """Return zero moved inside the limits, quaternions unit, shape [joint_coord_count]."""
        return self._space.neutral()

    def random_joint_q(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return random configurations, shape [n, joint_coord_count].

        Limited joints are uniform inside their limits, unlimited ones within +-pi or +-1 m, free
        and ball joints have uniform rotations, free ones within +-1 m; mimic joints follow.

        Args:
            n: How many.
            rng: Source of randomness.
        """
        return self._space.random(n, rng)

    def limits64(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return copies of the lower, upper, velocity, effort limits, float64 [joint_dof_count].

        Units are rad, m, rad/s, m/s, Nm, N; +-inf where there is no limit.
        """
        lower, upper, velocity, effort = (limit.copy() for limit in self._limits)
        return lower, upper, velocity, effort

    def _finalize_bodies(self, builder: ModelBuilder) -> None:
        links = builder.links
        self.body_count = len(links)
        self.body_label = [link.label for link in links]
        self._body_index = {label: index for index, label in enumerate(self.body_label)}
        self.body_mass = self._floats([link.mass for link in links])
        self.body_com = self._array([link.com for link in links], wp.vec3)
        self.body_inertia = self._array([link.inertia for link in links], wp.mat33)
        self.body_q = self._array([_IDENTITY] * len(links), wp.transform)
        self.body_qd = self._array(np.zeros((len(links), 6)), wp.spatial_vector)
        self.body_flags = self._ints([1] * len(links))
        self.body_mass64 = np.array([link.mass for link in links])
        self.body_com64 = np.array([link.com for link in links]).reshape(-1, 3)
        self.body_inertia64 = np.array([link.inertia for link in links]).reshape(-1, 3, 3)

    def _finalize_joints(self, builder: ModelBuilder) -> None:
        joints = builder.joints
        self.joint_count = len(joints)
        self.joint_label = [joint.label for joint in joints]
        self._joint_index = {label: index for index, label in enumerate(self.joint_label)}
        self._joint_kinds = [joint.joint_type for joint in joints]
        self._q_start = np.cumsum([0] + [joint.coord_count for joint in joints])
        self._qd_start = np.cumsum([0] + [joint.dof_count for joint in joints])
        self.joint_coord_count = int(self._q_start[-1])
        self.joint_dof_count = int(self._qd_start[-1])
        incoming = {joint.child: index for index, joint in enumerate(joints)}
        self.joint_type = self._ints([int(kind) for kind in self._joint_kinds])
        self.joint_parent = self._ints([joint.parent for joint in joints])
        self.joint_child = self._ints([joint.child for joint in joints])
        self.joint_ancestor = self._ints([incoming.get(joint.parent, -1) for joint in joints])
        self.joint_q_start = self._ints(self._q_start)
        self.joint_qd_start = self._ints(self._qd_start)
        self.joint_enabled = self._array([True] * len(joints), wp.bool)
        self.joint_X_p64 = np.array([joint.parent_xform for joint in joints]).reshape(-1, 7)
        self.joint_X_c64 = np.array([joint.child_xform for joint in joints]).reshape(-1, 7)
        self.joint_X_p = self._array(self.joint_X_p64, wp.transform)
        self.joint_X_c = self._array(self.joint_X_c64, wp.transform)
        dims = [joint.dof_dim for joint in joints]
        self.joint_dof_dim = wp.array(
            np.array(dims, dtype=np.int32).reshape(-1, 2), dtype=wp.int32, device=self.device
        )
        # One articulation: a URDF is one tree.
        self.articulation_count = 1 if joints else 0
        self.joint_articulation = self._ints([0] * len(joints))
        self.articulation_start = self._ints([0, len(joints)] if joints else [0])
        self.articulation_end = self._ints([len(joints)] if joints else [])
        self.max_joints_per_articulation = len(joints)

    def _finalize_dofs(self, builder: ModelBuilder) -> None:
        n = self.joint_dof_count
        axis = np.zeros((n, 3))
        limits = np.array([[-np.inf], [np.inf], [np.inf], [np.inf]]) * np.ones(n)
        for joint, qd in zip(builder.joints, self._qd_start, strict=False):
            if joint.dofs:
                for k, dof in enumerate(joint.dofs):
                    axis[qd + k] = dof.axis
                    limits[:, qd + k] = dof.lower, dof.upper, dof.velocity, dof.effort
            elif joint.dof_count:
                axis[qd : qd + joint.dof_count] = np.tile(np.eye(3), (joint.dof_count // 3, 1))
        self._limits = limits
        self.joint_axis64 = axis
        self.joint_axis = self._array(axis, wp.vec3)
        finite = np.clip(limits, -UNLIMITED, UNLIMITED)
        self.joint_limit_lower, self.joint_limit_upper = (
            self._floats(finite[0]),
            self._floats(finite[1]),
        )
        self.joint_velocity_limit = self._floats(finite[2])
        self.joint_effort_limit = self._floats(finite[3])

    def _finalize_mimics(self, builder: ModelBuilder) -> None:
        mimics = builder.mimics
        self.constraint_mimic_count = len(mimics)
        self.constraint_mimic_joint0 = self._ints([mimic.joint0 for mimic in mimics])
        self.constraint_mimic_joint1 = self._ints([mimic.joint1 for mimic in mimics])
        self.constraint_mimic_coef0 = self._floats([mimic.coef0 for mimic in mimics])
        self.constraint_mimic_coef1 = self._floats([mimic.coef1 for mimic in mimics])
        self.constraint_mimic_enabled = self._array([True] * len(mimics), wp.bool)
        # following joint -> (driver that is no mimic itself, offset, factor)
        self.mimic_driver = resolve_mimics(mimics)
        self._space = self._configuration_space(builder)

    def _configuration_space(self, builder: ModelBuilder) -> ConfigurationSpace:
        coords, dofs, reach = [], [], []
        quaternions = []
        for joint, q, qd in zip(builder.joints, self._q_start, self._qd_start, strict=False):
            coords.extend(range(q, q + len(joint.dofs)))
            dofs.extend(range(qd, qd + len(joint.dofs)))
            reach.extend(1.0 if k < joint.linear else np.pi for k in range(len(joint.dofs)))
            if joint.coord_count > joint.dof_count:
                quaternions.append((int(q), int(q) + joint.coord_count - 4))
        drivers = [driver for driver, _, _ in self.mimic_driver.values()]
        return ConfigurationSpace(
            n_coords=self.joint_coord_count,
            coords=np.array(coords, dtype=int),
            lower=self._limits[0][dofs],
            upper=self._limits[1][dofs],
            reach=np.array(reach),
            quaternion_joints=tuple(quaternions),
            followers=self._q_start[list(self.mimic_driver)],
            drivers=self._q_start[drivers],
            coef0=np.array([coef0 for _, coef0, _ in self.mimic_driver.values()]),
            coef1=np.array([coef1 for _, _, coef1 in self.mimic_driver.values()]),
        )

    def _finalize_shapes(self, builder: ModelBuilder) -> None:
        shapes = builder.shapes
        self.shape_count = len(shapes)
        self.shape_label = [shape.label for shape in shapes]
        self.shape_source = [shape.source for shape in shapes]
        self.shape_type = self._ints([int(shape.geo_type) for shape in shapes])
        self.shape_body = self._ints([shape.body for shape in shapes])
        self.shape_transform = self._array([shape.xform for shape in shapes], wp.transform)
        self.shape_scale = self._array([shape.scale for shape in shapes], wp.vec3)
        # Newton's group 0 collides with nothing; visual shapes have it.
        self.shape_collision_group = self._ints([int(shape.is_collision) for shape in shapes])

    def _array(self, values: Sequence | np.ndarray, dtype: Any) -> wp.array:
        if not len(values):
            return wp.empty(0, dtype=dtype, device=self.device)
        return wp.array(np.asarray(values), dtype=dtype, device=self.device)

    def _floats(self, values: Sequence[float] | np.ndarray) -> wp.array:
        return self._array(np.asarray(values, dtype=np.float32), wp.float32)

    def _ints(self, values: Sequence[int] | np.ndarray) -> wp.array:
        return self._array(np.asarray(values, dtype=np.int32), wp.int32)


_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def _index(kind: str, name: str, indices: dict[str, int]) -> int:
    """Return the index of a name, or raise ArgumentError with the closest ones."""
    if name not in indices:
        close = difflib.get_close_matches(name, indices, n=3, cutoff=0.4) or sorted(indices)[:5]
        raise ArgumentError(f'the model has no {kind} {name!r}; closest: {", ".join(close)}')
    return indices[name]

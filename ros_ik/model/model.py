# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The robot model: Newton's arrays of kinematics and inertia, names and limits."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import copy
import functools
from pathlib import Path
from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model import arrays
from ros_ik.model.building.joints.mimic_range import warnings_of_limits_without_effect
from ros_ik.model.building.tables.joint_dof import UNLIMITED
from ros_ik.model.building.worlds.articulations import closed_articulations
from ros_ik.model.building.worlds.consistency import checked_columns
from ros_ik.model.building.worlds.consistency import checked_filter_pairs
from ros_ik.model.building.worlds.consistency import checked_gravity
from ros_ik.model.building.worlds.validation import check_articulations
from ros_ik.model.building.worlds.validation import check_forest
from ros_ik.model.building.worlds.validation import check_worlds
from ros_ik.model.contact_pairs import contact_pairs
from ros_ik.model.contact_pairs import packed_pairs
from ros_ik.model.contact_pairs import unpacked_pairs
from ros_ik.model.conventions.attribute_enums import AttributeAssignment
from ros_ik.model.conventions.attribute_enums import AttributeFrequency
from ros_ik.model.conventions.attribute_enums import AttributeNamespace
from ros_ik.model.conventions.checks import checked_device
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.labels import LabelIndex
from ros_ik.model.joint_group import JointGroup
from ros_ik.model.joint_group import make_joint_group
from ros_ik.model.joint_positions import write_positions
from ros_ik.model.model_fields import ModelFields
from ros_ik.numbers import real_array

if TYPE_CHECKING:
    from ros_ik.model.builder import ModelBuilder

__all__ = ['Model', 'UNLIMITED']


class Model(ModelFields):
    """A robot, or many in separate worlds. Create it with :meth:`from_urdf` or ModelBuilder.

    A model of many worlds is one tree of trees: a row of coordinates holds those of all worlds,
    and forward kinematics moves them together.

    Attributes:
        urdf_warnings: Elements of the robot description that were ignored, and limits of mimic
            joints that have no effect, also of joints that no description has.
        srdf_warnings: Elements of the SRDF that do not fit the robot.
        semantic: Groups and collision pairs of the SRDF, or None.
        mimic_driver: For each mimic joint: its final driver, offset, factor.
    """

    AttributeAssignment = AttributeAssignment
    AttributeFrequency = AttributeFrequency
    AttributeNamespace = AttributeNamespace

    def __init__(
        self, builder: ModelBuilder, device: wp.DeviceLike = None, *, requires_grad: bool = False
    ) -> None:
        """Create the arrays from a builder.

        Args:
            builder: Builder with links, joints, shapes and constraints; not changed.
            device: Warp device; None for the current one.
            requires_grad: True if the arrays of real numbers carry gradients.

        Raises:
            ArgumentError: The joints do not form a forest; see ModelBuilder.finalize.
        """
        from ros_ik.model.builder import ModelBuilder  # it imports this module

        super().__init__()
        if not isinstance(builder, ModelBuilder):
            raise ArgumentError(f'builder must be a ModelBuilder, got {type(builder).__name__}')
        self.device = checked_device(device)
        self.requires_grad = checked_flag('requires_grad', requires_grad)
        self.urdf_warnings = tuple(builder.urdf_warnings)
        self.srdf_warnings = tuple(builder.srdf_warnings)
        self.semantic = builder.semantic
        closed = copy.copy(builder)
        for name, values in checked_columns(builder).items():
            setattr(closed, name, values)
        for name, values in closed_articulations(closed).items():
            setattr(closed, name, values)
        check_worlds(closed)
        check_forest(closed)
        check_articulations(closed)
        self._set_counts(closed)
        self._set_arrays(closed)
        self._set_joints(closed)
        self._set_pairs(closed)
        self._add_custom_attributes(closed)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the robot description, and then of the SRDF."""
        return self.urdf_warnings + self.srdf_warnings

    @classmethod
    def from_urdf(
        cls,
        text: str | Path,
        srdf: str | Path | None = None,
        package_paths: Sequence[str | Path] = (),
        device: wp.DeviceLike = None,
        *,
        floating: bool = False,
        requires_grad: bool = False,
    ) -> Model:
        """Build the model of a robot description.

        Args:
            text: The URDF document (the content of ``robot_description``), or the path of its file
                as a ``pathlib.Path``. A string is never interpreted as a path, because it may be
                untrusted.
            srdf: The SRDF, for groups and disabled collision pairs: the document, or the path of
                its file as a ``pathlib.Path``. If ``text`` is a path, a string that names a file
                is interpreted as one too.
            package_paths: Folders in which ``package://`` meshes are looked up; meshes outside
                them are not read. Kinematics need no meshes.
            device: Warp device; None for the current one.
            floating: Connect the root link to the world by a free joint instead of a fixed one.
            requires_grad: True if the arrays of real numbers carry gradients.

        Returns:
            The model: one body per link, fixed joints kept.

        Raises:
            ModelError: The description is malformed; the error names the element.
        """
        from ros_ik.model.builder import ModelBuilder  # it imports this module

        builder = ModelBuilder()
        given = {'source': text} if isinstance(text, Path) else {'text': text}
        builder.add_urdf(**given, srdf=srdf, package_paths=package_paths, floating=floating)
        return builder.finalize(device, requires_grad=requires_grad)

    def body_index(self, name: str, world: int | None = None) -> int:
        """Return the index of a link.

        Args:
            name: Its label.
            world: World of the link, if several have a link of this name; -1 for links of no
                world.

        Raises:
            ArgumentError: No link has the name (the error lists the closest ones), or several have
                it.
        """
        return self._bodies.find(name, world)

    def joint_index(self, name: str, world: int | None = None) -> int:
        """Return the index of a joint; see :meth:`body_index`."""
        return self._joints.find(name, world)

    def joint_group(
        self, spec: str | Sequence[str] = '', *, world: int | None = None
    ) -> JointGroup:
        """Return a set of joints that move together.

        Args:
            spec: '' for all joints, the name of an SRDF group, a chain ``'base_link:tip_link'``,
                or a list of joint names. Mimic joints always follow their drivers.
            world: World of the links and joints, which is needed where several share a name.

        Raises:
            ArgumentError: An unknown group, link or joint, or a chain that does not connect.
        """
        return make_joint_group(self, spec, world)

    def apply_mimic(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the coordinates with those of mimic joints computed from their drivers.

        Args:
            joint_q: Coordinates, shape [.., joint_coord_count].

        Raises:
            ArgumentError: A wrong shape.
        """
        return self._space.apply_mimic(joint_q)

    def locked_joint_q(self, name: str, joint_q: Any) -> np.ndarray:
        """Return a configuration of locked joints with unit quaternions, [joint_coord_count].

        Args:
            name: Name of the argument, for errors.
            joint_q: The configuration; None for the neutral one.

        Raises:
            ArgumentError: Another shape, a number that is not finite, or a quaternion whose norm
                is outside [0.99, 1.01].
        """
        return self._space.locked(name, joint_q)

    def neutral_joint_q(self, positions: Mapping[str, float] | None = None) -> np.ndarray:
        """Return zero clipped to the limits, with unit quaternions, shape [joint_coord_count].

        Drivers are moved until their mimic joints are inside their limits too.

        Args:
            positions: Positions [rad or m] of joints by name that differ, such as a group state of
                the SRDF; mimic joints follow their drivers.

        Raises:
            ArgumentError: A joint that is unknown or does not have exactly one coordinate, or a
                position that is not finite.
        """
        joint_q = self._space.neutral()
        if positions is None:
            return joint_q
        write_positions(self, joint_q, positions)
        return self.apply_mimic(joint_q)

    def random_joint_q(self, n: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Return random configurations, shape [n, joint_coord_count].

        Limited joints are uniform inside their limits, unlimited ones within +-pi or +-1 m. The
        range of a joint with one limit begins there and is 2 pi or 2 m long. Free and ball joints
        have uniform rotations, free ones within +-1 m. Mimic joints follow, inside their limits,
        which narrow those of their drivers.

        Args:
            n: Number of configurations.
            rng: Generator of random numbers, or a seed; None gives different numbers at every
                call.

        Raises:
            ArgumentError: An argument of the wrong type.
        """
        return self._space.random(n, rng)

    def limits64(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return copies of the lower, upper, velocity, effort limits, float64 [joint_dof_count].

        Units are rad, m, rad/s, m/s, Nm, N; +-inf where there is no limit.
        """
        lower, upper, velocity, effort = (limit.copy() for limit in self._limits)
        return lower, upper, velocity, effort

    @shares_launch_lock
    def set_gravity(self, gravity: Any, world: int | None = None) -> None:
        """Set gravity, in place.

        Args:
            gravity: One vector [m/s^2] for all worlds and the global elements, one per world, or
                one per world and one for the global elements.
            world: The world that one vector is for, -1 for the global elements; None for all.

        Raises:
            ArgumentError: Another shape or type, a number that is not finite, or an unknown world.
        """
        given, current = real_array('gravity', gravity), self.gravity.numpy()
        if not np.all(np.isfinite(given)):
            raise ArgumentError(f'gravity must be finite, got {given.tolist()}')
        if world is not None:
            checked_index('world', world, self.world_count, least=-1)
        if given.shape == (3,):
            current[slice(None) if world is None else world] = given
        elif world is None and given.shape in (current.shape, (self.world_count, 3)):
            current[: len(given)] = given
        else:
            raise ArgumentError(
                f'gravity must have shape [3], [{self.world_count}, 3] or '
                f'{list(current.shape)} without world, got {list(given.shape)}'
            )
        self.gravity.assign(current)

    @functools.cached_property
    def solver_cache(self) -> dict[str, Any]:
        """Values that solvers store with the model; a copy starts without them."""
        return {}

    def __copy__(self) -> Model:
        """Return a model that shares the arrays, without what solvers store with this one."""
        other = object.__new__(type(self))
        vars(other).update(
            {name: value for name, value in vars(self).items() if name != 'solver_cache'}
        )
        return other

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Raise TypeError: arrays of a device can neither be pickled nor copied deeply."""
        raise TypeError(
            'a Model cannot be pickled or deep-copied; pickle its ModelBuilder and call '
            'finalize(), or make the model from its description in each process'
        )

    @functools.cached_property
    def shape_collision_filter_pairs(self) -> frozenset[tuple[int, int]]:
        """Pairs of shapes (s1 < s2) that must not collide."""
        return frozenset((a, b) for a, b in self.shape_collision_filter_pairs_array().tolist())

    def shape_collision_filter_pairs_array(self) -> np.ndarray:
        """Return the same pairs, ascending, int [n, 2]."""
        return unpacked_pairs(self._filtered)

    @functools.cached_property
    def shape_contact_pairs(self) -> wp.array:
        """Pairs of shapes (s1 < s2) that may collide, ascending, vec2i [n]; computed once."""
        pairs = contact_pairs(
            self.shape_body.numpy(),
            self.shape_world.numpy(),
            self.shape_collision_group.numpy(),
            self.shape_flags.numpy(),
            self._filtered,
        )
        return arrays.device_array(pairs, wp.vec2i, self.device)

    @property
    def shape_contact_pair_count(self) -> int:
        """Number of pairs of shapes that may collide."""
        return len(self.shape_contact_pairs)

    @functools.cached_property
    def body_shapes(self) -> dict[int, list[int]]:
        """Indices of the shapes of each body; those of the world under -1."""
        shapes: dict[int, list[int]] = {body: [] for body in range(-1, self.body_count)}
        for shape, body in enumerate(self.shape_body.numpy().tolist()):
            shapes[body].append(shape)
        return shapes

    def _set_counts(self, builder: ModelBuilder) -> None:
        """Set the numbers of all elements."""
        self.world_count = max(1, builder.world_count)
        self.body_count = builder.body_count
        self.joint_count = builder.joint_count
        self.joint_coord_count = builder.joint_coord_count
        self.joint_dof_count = builder.joint_dof_count
        self.joint_constraint_count = builder.joint_constraint_count
        self.shape_count = builder.shape_count
        self.articulation_count = builder.articulation_count
        self.constraint_mimic_count = builder.row_count('constraint_mimic')
        longest = arrays.longest_articulation(builder)
        self.max_joints_per_articulation, self.max_dofs_per_articulation = longest

    def _set_arrays(self, builder: ModelBuilder) -> None:
        """Set the fields that a builder has too, and derived fields."""
        arrays.fill_arrays(self, builder)
        arrays.fill_world_starts(self, builder)
        self.body_inv_mass, self.body_inv_inertia = arrays.body_inverses(self)
        vectors = checked_gravity(builder)
        self.gravity = arrays.device_array(vectors, wp.vec3, self.device, self.requires_grad)
        self._bodies = LabelIndex('link', self.body_label, builder.body_world)
        self._joints = LabelIndex('joint', self.joint_label, builder.joint_world)

    def _set_joints(self, builder: ModelBuilder) -> None:
        """Set mimic joints, limits on the host, and the fields that newton.ik reads."""
        ancestors = arrays.joint_ancestors(builder)
        self.joint_ancestor = arrays.device_array(ancestors, wp.int32, self.device)
        self.mimic_driver = arrays.active_mimics(builder)
        self._limits = arrays.limits(builder)
        # Models with copies of a robot have each text once.
        of_mimics = dict.fromkeys(warnings_of_limits_without_effect(self))
        self.urdf_warnings += tuple(of_mimics)
        self._space = arrays.configuration_space(builder, self._limits, self.mimic_driver)
        leader = np.full(self.joint_count, -1)
        coefficients = np.tile([0.0, 1.0], (self.joint_count, 1))
        for joint, (driver, coef0, coef1) in self.mimic_driver.items():
            leader[joint], coefficients[joint] = driver, (coef0, coef1)
        self.joint_mimic_joint = arrays.device_array(leader, wp.int32, self.device)
        self.joint_mimic_coeffs = arrays.device_array(coefficients, wp.vec2, self.device)
        # newton.ik reads these two: None for sorted joints, False for no rod joints.
        order = arrays.joint_order(builder, ancestors)
        self._fk_joint_order = None
        if order is not None:
            self._fk_joint_order = arrays.device_array(order, wp.int32, self.device)
        self._has_rod_joints = False

    def _set_pairs(self, builder: ModelBuilder) -> None:
        """Keep the pairs of shapes that must not collide."""
        self._filtered = packed_pairs(checked_filter_pairs(builder))

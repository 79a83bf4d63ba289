# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Worlds of a ModelBuilder, and copies of other builders in them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.worlds.articulations import Articulations
from ros_ik.model.building.worlds.merging import merge_copies
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.conventions.checks import checked_names
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import checked_text
from ros_ik.numbers import as_integer


class Worlds(Articulations):
    """Methods of ModelBuilder for worlds and merging.

    Elements belong to the current world, or to all worlds (-1) outside of one. Copies keep the
    labels unless a prefix is given; :meth:`Model.body_index` finds one of several elements with
    the same label.

    Attributes:
        gravity: Gravity outside of worlds, and default of worlds [m/s^2].
        urdf_warnings: Elements of robot descriptions that were ignored.
        srdf_warnings: Elements of SRDFs that do not fit their robots.
    """

    def __init__(self) -> None:
        """Start outside of every world."""
        super().__init__()
        self.gravity: Any = (0.0, 0.0, -9.81)
        self.urdf_warnings: list[str] = []
        self.srdf_warnings: list[str] = []

    @property
    def warnings(self) -> list[str]:
        """Warnings of the robot descriptions, and then of the SRDFs."""
        return self.urdf_warnings + self.srdf_warnings

    def begin_world(
        self,
        label: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        gravity: Any = None,
    ) -> None:
        """Begin a world; elements added until :meth:`end_world` belong to it.

        Args:
            label: Accepted as in Newton, ignored; worlds have numbers.
            attributes: Custom attributes of the world, by ``namespace:name``.
            gravity: Its gravity [m/s^2]; None selects that of the builder.

        Raises:
            ArgumentError: Another world has not ended.
        """
        self._check_outside('begin_world()')
        checked_names('attributes', attributes)
        given = self.checked_custom_values('world', self.world_count, attributes)
        vector = checked_array('gravity', self.gravity if gravity is None else gravity, (3,))
        self.close_articulations()
        self._current_world = self.world_count
        self.world_count += 1
        self.world_gravity.append(vector)
        self.set_custom_values('world', self.current_world, given)

    def end_world(self) -> None:
        """End the current world.

        Raises:
            ArgumentError: There is no current world.
        """
        if self.current_world < 0:
            raise ArgumentError('end_world(): there is no current world')
        self.close_articulations()
        self._current_world = -1

    def add_world(
        self, builder: Worlds, xform: Any = None, label_prefix: str | None = None
    ) -> None:
        """Add all elements of another builder as a new world; see :meth:`replicate`."""
        prefixes = [label_prefix]
        self.replicate(builder, 1, xforms=[xform], label_prefixes=prefixes)

    def add_builder(
        self, builder: Worlds, xform: Any = None, label_prefix: str | None = None
    ) -> None:
        """Add all elements of another builder to the current world; see :meth:`replicate`.

        The builder's gravity becomes that of the current world; outside of worlds, that of this
        builder.

        Args:
            builder: The builder to copy; not changed.
            xform: Pose to apply to root joints, free bodies and shapes of the world.
            label_prefix: Prefix of all labels, as ``prefix/``.
        """
        self.replicate(
            builder, 1, separate_worlds=False, xforms=[xform], label_prefixes=[label_prefix]
        )

    def replicate(
        self,
        builder: Worlds,
        copy_count: int | None = None,
        spacing: Sequence[float] = (0.0, 0.0, 0.0),
        *,
        separate_worlds: bool = True,
        xforms: Sequence[Any] | None = None,
        label_prefixes: Sequence[str | None] | None = None,
        world_count: int | None = None,
    ) -> None:
        """Add copies of another builder, each as a world of its own.

        Args:
            builder: The builder to copy; its own worlds are ignored.
            copy_count: Number of copies.
            spacing: Distance of the copies along each axis [m]; they lie on a grid over the axes
                that are not zero, centred except along z.
            separate_worlds: False puts all copies into the current world.
            xforms: Pose of each copy [7] instead of the grid; None for the identity.
            label_prefixes: Prefix of all labels of each copy, as ``prefix/``; None if there is
                none.
            world_count: The older name of ``copy_count``.

        Raises:
            ArgumentError: Neither or both counts, a world that has not ended, lists of another
                length, or custom attributes that both builders declare differently.
        """
        count = _copy_count(copy_count, world_count)
        if separate_worlds:
            self._check_outside('replicate()')
        if xforms is None:
            xforms = grid_poses(count, spacing)
        if not isinstance(builder, Worlds):
            raise ArgumentError(f'builder must be a ModelBuilder, got {type(builder).__name__}')
        xforms = checked_items('xforms', xforms, 'poses')
        prefixes = [None] * count
        if label_prefixes is not None:
            prefixes = list(checked_items('label_prefixes', label_prefixes, 'labels'))
        for prefix in prefixes:
            checked_text('label_prefix', '' if prefix is None else prefix)
        for name, given in (('xforms', xforms), ('label_prefixes', prefixes)):
            if len(given) != count:
                raise ArgumentError(f'{name} must have {count} entries, got {len(given)}')
        moves = [checked_pose(f'xforms[{k}]', xform) for k, xform in enumerate(xforms)]
        gravity = checked_array('gravity', builder.gravity, (3,))
        for attribute in builder.custom_attributes.values():
            self.check_declaration(attribute)
        if not count:
            return
        self.close_articulations()
        worlds = np.full(count, self.current_world)
        if separate_worlds:
            worlds = self.world_count + np.arange(count)
        merge_copies(self, builder, worlds, np.array(moves), prefixes)
        for own, copied in (
            (self.urdf_warnings, builder.urdf_warnings),
            (self.srdf_warnings, builder.srdf_warnings),
        ):
            own.extend(text for text in copied if text not in own)
        if separate_worlds:
            self.world_gravity.extend([gravity] * count)
            self.world_count += count
        elif self.current_world >= 0:
            self.world_gravity[self.current_world] = gravity
        else:
            self.gravity = gravity

    def _check_outside(self, what: str) -> None:
        """Raise ArgumentError inside of a world."""
        if self.current_world >= 0:
            raise ArgumentError(
                f'{what}: world {self.current_world} has not ended; call end_world() first'
            )


def grid_poses(count: int, spacing: Sequence[float]) -> list[np.ndarray]:
    """Return poses on a grid over the axes with a spacing, x fastest, centred except along z.

    Args:
        count: Number of poses.
        spacing: Distance along each axis [m]; 0 for axes without copies.
    """
    distance = checked_array('spacing', spacing, (3,))
    axes = np.flatnonzero(distance)
    positions = np.zeros((count, 3))
    if len(axes) and count:
        side = int(np.ceil(count ** (1.0 / len(axes))))
        for k, axis in enumerate(axes):
            positions[:, axis] = np.arange(count) // side**k % side * distance[axis]
        middle = 0.5 * (positions.min(axis=0) + positions.max(axis=0))
        positions[:, :2] -= middle[:2]
    return [np.array([*position, 0.0, 0.0, 0.0, 1.0]) for position in positions]


def _copy_count(copy_count: int | None, world_count: int | None) -> int:
    """Return the number of copies under either of its names."""
    given = [count for count in (copy_count, world_count) if count is not None]
    number = as_integer(given[0]) if len(given) == 1 else None
    if number is None or number < 0:
        raise ArgumentError(
            f'replicate() takes one copy_count >= 0, got {copy_count}, world_count={world_count}'
        )
    return number

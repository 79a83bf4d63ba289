# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Articulations of a builder: trees of consecutive joints."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from ros_ik.errors import ArgumentError
from ros_ik.model.building.links.shape_methods import ShapeMethods
from ros_ik.model.building.tables.columns import BuilderColumns
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.conventions.checks import label_or


class Articulations(ShapeMethods):
    """Methods of ModelBuilder for articulations.

    Each run of joints without an articulation becomes one at the end of the world, when builders
    are merged, and in the finalized model.
    """

    def add_articulation(
        self,
        joints: Sequence[int],
        label: str | None = None,
        custom_attributes: Mapping[str, Any] | None = None,
    ) -> int:
        """Create an articulation of joints and return its index.

        Args:
            joints: Indices, ascending and without gaps, of one world.
            label: Name; made from the index where empty.
            custom_attributes: Values by ``namespace:name``.

        Raises:
            ArgumentError: No joints, one that does not exist or is in an articulation already,
                another order, or another world than the current one.
        """
        label = label_or(label, f'articulation_{self.articulation_count}')
        where = f'articulation {label!r}'
        joints = checked_items('joints', joints, 'joints')
        if not joints:
            raise ArgumentError(f'{where}: needs at least one joint')
        for joint in joints:
            checked_index(f'joint of {where}', joint, self.joint_count)
            name = self.joint_label[joint]
            if self.joint_world[joint] != self.current_world:
                raise ArgumentError(
                    f'{where}: joint {name!r} is in world {self.joint_world[joint]}, '
                    f'the current one is {self.current_world}'
                )
            if self.joint_articulation[joint] >= 0:
                other = self.articulation_label[self.joint_articulation[joint]]
                raise ArgumentError(f'{where}: joint {name!r} is in articulation {other!r}')
        first = int(joints[0])
        if list(joints) != list(range(first, first + len(joints))):
            raise ArgumentError(
                f'{where}: joints must be consecutive and ascending, got {list(joints)}'
            )
        self.checked_custom_values('articulation', self.articulation_count, custom_attributes)
        index = self._append_articulation(first, first + len(joints), label)
        self.set_custom_values('articulation', index, custom_attributes)
        return index

    def close_articulations(self) -> None:
        """Create articulations for all joints without one."""
        for name, values in closed_articulations(self).items():
            setattr(self, name, values)

    def _append_articulation(self, first: int, end: int, label: str) -> int:
        """Append an articulation of the joints [first, end)."""
        index = self.append_row(
            'articulation',
            articulation_label=label,
            articulation_start=first,
            articulation_end=end,
            articulation_world=self.joint_world[first],
        )
        self.joint_articulation[first:end] = [index] * (end - first)
        return index


def closed_articulations(builder: BuilderColumns) -> dict[str, list[Any]]:
    """Return the columns of articulations with one for every joint; the builder is not changed.

    A run of joints without an articulation extends the previous one if it is connected to one of
    its bodies (a tool bolted to a finished robot). Otherwise it is a new articulation.
    """
    index = list(builder.joint_articulation)
    label, world = list(builder.articulation_label), list(builder.articulation_world)
    start, end = list(builder.articulation_start), list(builder.articulation_end)
    loose = [joint for joint, k in enumerate(index) if k < 0]
    if loose:
        of_body = dict(zip(builder.joint_child, index, strict=True))
    for first, stop in _runs(loose, builder.joint_world):
        last = len(label) - 1
        hanging = {of_body.get(builder.joint_parent[joint], -1) for joint in range(first, stop)}
        if last >= 0 and last in hanging and end[last] == first:
            end[last] = stop
        else:
            last += 1
            label.append(f'articulation_{last}')
            start.append(first)
            end.append(stop)
            world.append(builder.joint_world[first])
        index[first:stop] = [last] * (stop - first)
    return {
        'joint_articulation': index,
        'articulation_label': label,
        'articulation_start': start,
        'articulation_end': end,
        'articulation_world': world,
    }


def _runs(joints: list[int], world: list[int]) -> Iterator[tuple[int, int]]:
    """Yield first and end of each run of consecutive joints of one world."""
    first = 0
    for k in range(1, len(joints) + 1):
        joint = joints[k - 1]
        if k == len(joints) or joints[k] != joint + 1 or world[joints[k]] != world[joint]:
            yield joints[first], joint + 1
            first = k

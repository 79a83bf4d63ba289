# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Custom attributes of a builder: declaration, values, merging."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.tables.columns import BuilderColumns
from ros_ik.model.building.tables.columns import frequency_of
from ros_ik.model.building.tables.custom_attribute import CustomAttribute
from ros_ik.model.building.tables.custom_attribute import CustomFrequency
from ros_ik.model.building.tables.custom_attribute import ModelAttributeError
from ros_ik.model.conventions.attribute_enums import AttributeFrequency
from ros_ik.model.conventions.checks import checked_names

# Frequencies with several rows per joint, and the column with the first row of each joint.
_ROWS_OF_JOINT = {
    AttributeFrequency.JOINT_DOF: 'joint_qd_start',
    AttributeFrequency.JOINT_COORD: 'joint_q_start',
    AttributeFrequency.JOINT_CONSTRAINT: 'joint_cts_start',
}


class CustomValues(BuilderColumns):
    """Methods of ModelBuilder for custom attributes.

    Attributes:
        custom_attributes: Declarations with their values, by ``namespace:name``.
        custom_frequency_counts: Number of rows of each custom frequency.
    """

    def __init__(self) -> None:
        """Start without custom attributes."""
        super().__init__()
        self.custom_attributes: dict[str, CustomAttribute] = {}
        self.custom_frequency_counts: dict[str, int] = {}

    def add_custom_attribute(self, attribute: CustomAttribute) -> None:
        """Declare an attribute; repeating a declaration has no effect.

        Args:
            attribute: The declaration; the builder keeps a copy.

        Raises:
            ArgumentError: The name is declared otherwise already, or the frequency is not known.
        """
        key = attribute.key
        self.check_declaration(attribute)
        if key in self.custom_attributes:
            return
        frequency = attribute.frequency
        if isinstance(frequency, str) and frequency not in self.custom_frequency_counts:
            raise ArgumentError(
                f'custom attribute {key!r}: unknown frequency {frequency!r}; add it by '
                'add_custom_frequency() first'
            )
        self.custom_attributes[key] = dataclasses.replace(attribute)

    def check_declaration(self, attribute: CustomAttribute) -> None:
        """Raise ArgumentError if the name of an attribute is declared otherwise already."""
        existing = self.custom_attributes.get(attribute.key)
        if existing is not None and existing.declaration != attribute.declaration:
            raise ArgumentError(
                f'custom attribute {attribute.key!r} is declared as {existing.declaration} '
                f'already, got {attribute.declaration}'
            )

    def add_custom_frequency(self, frequency: CustomFrequency | str) -> None:
        """Declare a custom kind of rows; repeating a declaration has no effect.

        Args:
            frequency: The frequency, or its name.
        """
        key = frequency if isinstance(frequency, str) else frequency.key
        self.custom_frequency_counts.setdefault(key, 0)

    def has_custom_attribute(self, key: str) -> bool:
        """Return True if ``namespace:name`` is declared."""
        return key in self.custom_attributes

    def get_custom_attributes_by_frequency(
        self, frequencies: Sequence[AttributeFrequency | str]
    ) -> list[CustomAttribute]:
        """Return the attributes that have one of these frequencies."""
        return [a for a in self.custom_attributes.values() if a.frequency in frequencies]

    def add_custom_values(self, **values: Any) -> dict[str, int]:
        """Append one row to each custom frequency of the given attributes.

        Args:
            **values: Value of each attribute, by ``namespace:name``. Omitted attributes of the
                same frequency get their default; those that refer to worlds get the current world.

        Returns:
            The row of each attribute that got a value.

        Raises:
            ModelAttributeError: An attribute that is not declared.
            ArgumentError: One with a frequency that is not the user's own.
        """
        for key in values:
            if not isinstance(self._declared(key).frequency, str):
                raise ArgumentError(
                    f'custom attribute {key!r} has no frequency of its own: give its values '
                    'where the element is added'
                )
        touched = {self.custom_attributes[key].frequency for key in values}
        rows = {f: self.custom_frequency_counts[f] for f in touched if isinstance(f, str)}
        for key, attribute in self.custom_attributes.items():
            if attribute.frequency in rows and attribute.references == 'world':
                values.setdefault(key, self.current_world)
        for frequency in rows:
            self.custom_frequency_counts[frequency] += 1
        indices = {key: rows[str(self.custom_attributes[key].frequency)] for key in values}
        for key, row in indices.items():
            self.custom_attributes[key].rows[row] = values[key]
        return indices

    def checked_custom_values(
        self, domain: str, row: int, given: Mapping[str, Any] | None
    ) -> Mapping[str, Any]:
        """Check the custom attributes of one row, which need not exist yet, and return them.

        Args:
            domain: Kind of element of the row.
            row: The row.
            given: Values by ``namespace:name``.

        Raises:
            ModelAttributeError: An attribute that is not declared.
            ArgumentError: An attribute of another frequency.
        """
        checked = checked_names('custom_attributes', given)
        for key in checked:
            frequency = self._declared(key).frequency
            if frequency != frequency_of(domain):
                raise ArgumentError(
                    f'custom attribute {key!r} of {domain} {row} has frequency {frequency!r}'
                )
        return checked

    def set_custom_values(self, domain: str, row: int, given: Mapping[str, Any] | None) -> None:
        """Store the custom attributes of one body, shape, articulation or mimic constraint.

        Arguments and errors are those of :meth:`checked_custom_values`.
        """
        for key, value in self.checked_custom_values(domain, row, given).items():
            self.custom_attributes[key].rows[row] = value

    def check_joint_custom_values(
        self,
        joint: int,
        given: Mapping[str, Any] | None,
        counts: Mapping[AttributeFrequency, int],
    ) -> None:
        """Check the custom attributes of one joint, which need not exist yet.

        Args:
            joint: The joint.
            given: As for :meth:`set_joint_custom_values`.
            counts: Number of its rows of each frequency that may have several.

        Raises:
            ModelAttributeError: An attribute that is not declared.
            ArgumentError: An attribute of another frequency, or the wrong number of values.
        """
        for key, value in checked_names('custom_attributes', given).items():
            frequency = self._declared(key).frequency
            if isinstance(frequency, AttributeFrequency) and frequency in counts:
                _per_row(key, value, counts[frequency], joint)
            else:
                self.checked_custom_values('joint', joint, {key: value})

    def set_joint_custom_values(self, joint: int, given: Mapping[str, Any] | None) -> None:
        """Store the custom attributes of one joint.

        Args:
            joint: The joint.
            given: Values by ``namespace:name``. Where an attribute has a row per degree of
                freedom or coordinate: one value per row, one for all, or a map from row to value.

        Raises:
            ModelAttributeError: An attribute that is not declared.
            ArgumentError: An attribute of another frequency, or the wrong number of values.
        """
        for key, value in (given or {}).items():
            attribute = self._declared(key)
            if attribute.frequency not in _ROWS_OF_JOINT:
                self.set_custom_values('joint', joint, {key: value})
                continue
            frequency = AttributeFrequency(attribute.frequency)
            start = getattr(self, _ROWS_OF_JOINT[frequency])[joint]
            count = self.row_count(frequency.name.lower()) - start
            for row, item in _per_row(key, value, count, joint).items():
                attribute.rows[start + row] = item

    def merge_custom_values(
        self,
        source: CustomValues,
        starts: Mapping[str, np.ndarray],
        worlds: np.ndarray,
    ) -> None:
        """Add the custom attributes of copies of another builder.

        Args:
            source: The builder copied.
            starts: First row of each copy, by domain.
            worlds: World of each copy.

        Raises:
            ArgumentError: An attribute that both declare differently.
        """
        starts = {**starts, 'once': np.zeros(len(worlds), int), 'world': np.maximum(worlds, 0)}
        for key, count in source.custom_frequency_counts.items():
            first = self.custom_frequency_counts.get(key, 0)
            starts[key] = first + count * np.arange(len(worlds))
            self.custom_frequency_counts[key] = first + count * len(worlds)
        for key, attribute in source.custom_attributes.items():
            self.add_custom_attribute(dataclasses.replace(attribute, values=None))
            domain, values = source._merged_rows(attribute)
            target, offsets = self.custom_attributes[key].rows, _offsets(attribute, starts)
            for copy, world in enumerate(worlds.tolist()):
                first = int(starts[domain][copy])
                for row, value in values.items():
                    if attribute.references == 'world':
                        value = world
                    elif offsets is not None:
                        value = _moved(value, int(offsets[copy]))
                    target[first + row] = value

    def _merged_rows(self, attribute: CustomAttribute) -> tuple[str, dict[int, Any]]:
        """Return the domain of an attribute and the values of its copy.

        Default indices are offset in a copy too, so all rows are given.
        """
        frequency = attribute.frequency
        if isinstance(frequency, str):
            domain, count = frequency, self.custom_frequency_counts[frequency]
        else:
            domain = frequency.name.lower()
            count = self.row_count(domain)
        if attribute.references is None:
            return domain, dict(attribute.rows)
        return domain, {row: attribute.rows.get(row, attribute.default) for row in range(count)}

    def _declared(self, key: str) -> CustomAttribute:
        """Return an attribute, or raise ModelAttributeError."""
        if key not in self.custom_attributes:
            raise ModelAttributeError(
                f'custom attribute {key!r} is not declared: use add_custom_attribute() first'
            )
        return self.custom_attributes[key]


def _per_row(key: str, value: Any, count: int, joint: int) -> dict[int, Any]:
    """Return the values of the rows of one joint, none for a joint without rows."""
    if count == 0:
        return {}
    if isinstance(value, Mapping):
        if any(not isinstance(row, int) or not 0 <= row < count for row in value):
            raise ArgumentError(
                f'custom attribute {key!r} of joint {joint}: rows must lie in [0, {count}), got '
                f'{list(value)}'
            )
        return dict(value)
    if isinstance(value, np.ndarray) and value.ndim or isinstance(value, list | tuple):
        if len(value) != count:
            raise ArgumentError(
                f'custom attribute {key!r} of joint {joint}: expected {count} values, one per '
                f'row, got {len(value)}'
            )
        return dict(enumerate(value))
    return dict.fromkeys(range(count), value)


def _offsets(attribute: CustomAttribute, starts: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the offset of the indices of an attribute for each copy."""
    if attribute.references in (None, 'world'):
        return None
    if attribute.references not in starts:
        raise ArgumentError(
            f'custom attribute {attribute.key!r} refers to the unknown {attribute.references!r}'
        )
    return starts[str(attribute.references)]


def _moved(value: Any, offset: int) -> Any:
    """Add an offset to an index or a vector of indices, a tuple then; -1 stays -1."""
    moved = np.asarray(value)
    moved = np.where(moved >= 0, moved + offset, moved)
    return int(moved) if moved.ndim == 0 else tuple(moved.tolist())

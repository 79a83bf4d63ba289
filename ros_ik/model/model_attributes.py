# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Row indices of the fields of a model, and custom fields."""

from __future__ import annotations

from typing import Any
from typing import TYPE_CHECKING

import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model.building.tables.columns import COLUMNS
from ros_ik.model.building.tables.columns import frequency_of
from ros_ik.model.building.tables.custom_attribute import ModelAttributeError
from ros_ik.model.building.tables.custom_attribute import reference_domain
from ros_ik.model.conventions.attribute_enums import AttributeAssignment
from ros_ik.model.conventions.attribute_enums import AttributeFrequency
from ros_ik.model.conventions.attribute_enums import AttributeNamespace

if TYPE_CHECKING:
    from ros_ik.model.building.tables.custom_values import CustomValues

_DERIVED = {
    'body_inv_mass': AttributeFrequency.BODY,
    'body_inv_inertia': AttributeFrequency.BODY,
    'joint_ancestor': AttributeFrequency.JOINT,
    'joint_mimic_joint': AttributeFrequency.JOINT,
    'joint_mimic_coeffs': AttributeFrequency.JOINT,
}


class ModelAttributes:
    """Part of Model: lookup and addition of attributes.

    Attributes:
        attribute_frequency: Kind of element of the rows of each field; fields in a namespace are
            named ``namespace:name``.
        attribute_assignment: Owner of each custom attribute.
        custom_frequency_counts: Number of rows of each custom frequency.
    """

    device: Any
    requires_grad: bool

    def __init__(self) -> None:
        """Start with the standard fields."""
        on_model = {name: column for name, column in COLUMNS.items() if column.on_model}
        self.attribute_frequency: dict[str, AttributeFrequency | str] = {
            name: frequency_of(column.domain) for name, column in on_model.items()
        }
        self.attribute_frequency |= _DERIVED
        self.attribute_assignment: dict[str, AttributeAssignment] = {}
        self.custom_frequency_counts: dict[str, int] = {}

    def add_attribute(
        self,
        name: str,
        attrib: wp.array | list[Any],
        frequency: AttributeFrequency | str,
        assignment: AttributeAssignment | None = None,
        namespace: str | None = None,
        references: AttributeFrequency | str | None = None,
    ) -> None:
        """Add a field.

        Args:
            name: Its name.
            attrib: An array on the model's device, or a list of strings.
            frequency: Kind of element of the rows; a string is a custom frequency.
            assignment: Owner; None selects the model.
            namespace: Namespace, as in ``model.namespace.name``; None selects ``model.name``.
            references: Kind of element that its values index, as in CustomAttribute.

        Raises:
            ModelAttributeError: The field exists already, or the array is on another device.
            ArgumentError: It has another number of rows than its frequency.
        """
        key = f'{namespace}:{name}' if namespace else name
        if isinstance(attrib, wp.array) and attrib.device != self.device:
            raise ModelAttributeError(
                f'attribute {key!r} is on {attrib.device}, the model on {self.device}'
            )
        if not isinstance(frequency, str):
            frequency = AttributeFrequency(frequency)
        rows = self._frequency_rows(frequency)
        if rows is not None and len(attrib) != rows:
            raise ArgumentError(
                f'attribute {key!r} has {len(attrib)} rows, its frequency {frequency!r} {rows}'
            )
        reference_domain(references)
        holder = self._holder(namespace)
        if name in vars(holder) or hasattr(type(holder), name):
            raise ModelAttributeError(f'attribute {key!r} exists already')
        setattr(holder, name, attrib)
        self.attribute_frequency[key] = frequency
        self.attribute_assignment[key] = AttributeAssignment(assignment or 0)

    def get_attribute_frequency(self, name: str) -> AttributeFrequency | str:
        """Return the kind of element of the rows of a field.

        Args:
            name: Its name, ``namespace:name`` in a namespace.

        Raises:
            ArgumentError: The model has no such field with rows.
        """
        if name not in self.attribute_frequency:
            raise ArgumentError(f'the frequency of attribute {name!r} is not known')
        return self.attribute_frequency[name]

    def get_custom_frequency_count(self, frequency: str) -> int:
        """Return the number of rows of a custom frequency, or raise ArgumentError."""
        if frequency not in self.custom_frequency_counts:
            known = sorted(self.custom_frequency_counts)
            raise ArgumentError(f'unknown frequency {frequency!r}; known: {known}')
        return self.custom_frequency_counts[frequency]

    def _add_custom_attributes(self, builder: CustomValues) -> None:
        """Add the custom attributes of a builder; all counts are set."""
        self.custom_frequency_counts = dict(builder.custom_frequency_counts)
        for attribute in builder.custom_attributes.values():
            rows = self._frequency_rows(attribute.frequency) or 0
            array = attribute.build(rows, self.device, self.requires_grad)
            self.add_attribute(
                attribute.name, array, attribute.frequency, attribute.assignment,
                attribute.namespace, attribute.references,
            )  # fmt: skip

    def _frequency_rows(self, frequency: AttributeFrequency | str) -> int | None:
        """Return the number of rows of a frequency, or None if unknown."""
        if isinstance(frequency, str):
            return self.custom_frequency_counts.get(frequency)
        if frequency == AttributeFrequency.ONCE:
            return 1
        return getattr(self, f'{frequency.name.lower()}_count', 0)

    def _holder(self, namespace: str | None) -> Any:
        """Return the model or one of its namespaces, created if missing."""
        if not namespace:
            return self
        holder = vars(self).setdefault(namespace, AttributeNamespace(namespace))
        if not isinstance(holder, AttributeNamespace):
            raise ModelAttributeError(f'namespace {namespace!r} is a field of the model already')
        return holder

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Declarations of custom attributes: fields that users add to a model."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.attribute_enums import AttributeAssignment
from ros_ik.model.conventions.attribute_enums import AttributeFrequency


class ModelAttributeError(ArgumentError, AttributeError):
    """An attribute that exists already, is not declared, or is on another device."""


@dataclasses.dataclass
class CustomAttribute:
    """A field with one value per body, joint, .. or per row of a custom frequency.

    Attributes:
        name: Name of the field.
        dtype: Warp type of its array, or ``str`` for a list of strings.
        frequency: Kind of element of its rows: an AttributeFrequency, or the name of a frequency
            added by :meth:`ModelBuilder.add_custom_frequency`.
        assignment: Owner.
        namespace: Namespace, as in ``model.namespace.name``; None selects ``model.name``.
        references: Kind of element that its values index ('body', 'joint', 'joint_dof',
            'joint_coord', 'shape', 'articulation', 'constraint_mimic', an AttributeFrequency, or a
            frequency of the user's own); merging builders shifts the indices. 'world' sets the
            values to the world of each copy.
        default: Default value of a row; None selects zero, the identity or ''.
        values: Values given so far, by row.
    """

    name: str
    dtype: Any
    frequency: AttributeFrequency | str
    assignment: AttributeAssignment = AttributeAssignment.MODEL
    namespace: str | None = None
    references: AttributeFrequency | str | None = None
    default: Any = None
    values: Mapping[int, Any] | Sequence[Any] | None = None

    def __post_init__(self) -> None:
        """Check and normalise the declaration.

        Raises:
            ArgumentError: A name that is not an identifier, or a type that is not a Warp type.
        """
        for what, name in (('name', self.name), ('namespace', self.namespace or 'none')):
            if not isinstance(name, str) or not name.isidentifier() or name.startswith('_'):
                raise ArgumentError(
                    f'custom attribute {self.name!r}: {what} {name!r} is not a valid name'
                )
        if not isinstance(self.frequency, str):
            self.frequency = AttributeFrequency(self.frequency)
        self.assignment = AttributeAssignment(self.assignment)
        self.references = reference_domain(self.references)
        if self.dtype is not str:
            try:
                wp.types.type_size_in_bytes(self.dtype)
            except (TypeError, AttributeError) as error:
                raise ArgumentError(
                    f'custom attribute {self.key!r}: dtype {self.dtype!r} is not a Warp type'
                ) from error
        if self.default is None:
            self.default = _zero(self.dtype)
        pairs = self.values if isinstance(self.values, Mapping) else enumerate(self.values or ())
        items = pairs.items() if isinstance(pairs, Mapping) else pairs
        self.values = {int(row): value for row, value in items if value is not None}

    @property
    def key(self) -> str:
        """``namespace:name``, or the name alone."""
        return f'{self.namespace}:{self.name}' if self.namespace else self.name

    @property
    def declaration(self) -> tuple[Any, ...]:
        """Fields on which two declarations of one attribute must agree."""
        return self.frequency, self.dtype, self.assignment, self.namespace, self.references

    @property
    def rows(self) -> dict[int, Any]:
        """The values given, by row; may be written to."""
        assert isinstance(self.values, dict)  # __post_init__ converted it
        return self.values

    @shares_launch_lock
    def build(self, count: int, device: wp.DeviceLike, requires_grad: bool) -> Any:
        """Return the array of ``count`` rows, or a list for strings.

        Raises:
            ArgumentError: A value that does not fit the type.
        """
        values = [self.rows.get(row, self.default) for row in range(count)]
        if self.dtype is str:
            return values
        try:
            flat = [np.asarray(value) for value in values]
            real = requires_grad and wp.types.type_is_float(_scalar(self.dtype))
            return wp.array(np.array(flat), dtype=self.dtype, device=device, requires_grad=real)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ArgumentError(
                f'custom attribute {self.key!r}: a value does not fit {self.dtype}: {error}'
            ) from error


@dataclasses.dataclass(frozen=True)
class CustomFrequency:
    """A custom kind of rows.

    Attributes:
        name: Its name.
        namespace: A namespace before it, as in ``namespace:name``.
    """

    name: str
    namespace: str | None = None

    @property
    def key(self) -> str:
        """``namespace:name``, or the name alone."""
        return f'{self.namespace}:{self.name}' if self.namespace else self.name


def reference_domain(references: AttributeFrequency | str | None) -> str | None:
    """Return the name of the domain that indices refer to: 'body', 'world', .., or None."""
    if references is None or isinstance(references, str):
        return references
    return AttributeFrequency(references).name.lower()


def _scalar(dtype: Any) -> Any:
    """Return the scalar type of a Warp type."""
    return getattr(dtype, '_wp_scalar_type_', dtype)


def _zero(dtype: Any) -> Any:
    """Return the default value of rows."""
    if dtype is str:
        return ''
    if wp.types.type_is_quaternion(dtype):
        return (0.0, 0.0, 0.0, 1.0)
    if wp.types.type_is_transformation(dtype):
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return np.zeros(getattr(dtype, '_shape_', ()))

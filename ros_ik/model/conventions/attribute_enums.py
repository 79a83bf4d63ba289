# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Indices and owners of the attributes of a model, with Newton's numbers."""

from __future__ import annotations

import enum
from typing import Any


class AttributeAssignment(enum.IntEnum):
    """Owner of an attribute, for code written for Newton; all are stored in the model."""

    MODEL = 0
    STATE = 1
    CONTROL = 2
    CONTACT = 3


class AttributeFrequency(enum.IntEnum):
    """Elements with one row of an attribute each; a model has no particles or edges: 0 rows."""

    ONCE = 0
    JOINT = 1
    JOINT_DOF = 2
    JOINT_COORD = 3
    JOINT_CONSTRAINT = 4
    BODY = 5
    SHAPE = 6
    ARTICULATION = 7
    EQUALITY_CONSTRAINT = 8
    PARTICLE = 9
    EDGE = 10
    TRIANGLE = 11
    TETRAHEDRON = 12
    SPRING = 13
    CONSTRAINT_MIMIC = 14
    WORLD = 15


class AttributeNamespace:
    """Custom attributes of one namespace, reached as ``model.namespace.name``."""

    def __init__(self, name: str) -> None:
        """Start empty.

        Args:
            name: Name of the namespace.
        """
        self._name = name

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f'namespace {self._name!r} has no attribute {name!r}')

    def __repr__(self) -> str:
        names = [name for name in vars(self) if not name.startswith('_')]
        return f'AttributeNamespace({self._name!r}, attributes={names})'

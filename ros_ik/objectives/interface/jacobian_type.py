# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Choice of how Jacobians of objectives are computed."""

from __future__ import annotations

import enum


class IKJacobianType(enum.Enum):
    """Method of computing Jacobians, with the values of ``newton.ik.IKJacobianType``.

    A member compares equal to its value and to any enum member with that value. Objectives written
    for Newton therefore accept the modes of these solvers.
    """

    AUTODIFF = 'autodiff'
    ANALYTIC = 'analytic'
    MIXED = 'mixed'

    def __eq__(self, other: object) -> bool:
        """Compare by value."""
        return bool(self.value == (other.value if isinstance(other, enum.Enum) else other))

    def __hash__(self) -> int:
        """Hash by value."""
        return hash(self.value)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Methods by which the Jacobians of objectives are computed."""

from __future__ import annotations

import enum


class IKJacobianType(enum.Enum):
    """Source of the Jacobians; the values are those of ``newton.ik.IKJacobianType``.

    Members equal their value and any enum member with that value, so that objectives written for
    Newton understand the mode that our solvers hand them.
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

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Status codes of a solve, each with its message."""

from __future__ import annotations

import enum

# Presentation types with which a code is formatted as a number.
_NUMBER_TYPES = tuple('bcdeEfFgGnoxX%')


class NamedCode(enum.IntEnum):
    """Base of integer codes that print as their names."""

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def __format__(self, spec: str) -> str:
        """Format the name, or the number if the specification is numeric."""
        value = int(self) if spec.endswith(_NUMBER_TYPES) else self.name
        return format(value, spec)


class SolveStatus(NamedCode):
    """Outcome of a solve, which is returned and never raised."""

    CONVERGED = 0
    RELAXED = 1
    ITERATION_LIMIT = 2
    NON_FINITE_INPUT = 3
    NUMERICAL_FAILURE = 4
    HALTED_BY_BARRIER = 5
    UNREACHABLE = 6
    AT_LIMITS = 7
    IN_COLLISION = 8

    @property
    def message(self) -> str:
        """One sentence for a log or a status topic."""
        return _MESSAGES[self]

    @property
    def ok(self) -> bool:
        """True if the step is optimal within all hard limits."""
        return self in (SolveStatus.CONVERGED, SolveStatus.RELAXED)


_MESSAGES = {
    SolveStatus.CONVERGED: 'optimal step inside every limit and barrier',
    SolveStatus.RELAXED: 'state, limits and barriers conflict: closest step',
    SolveStatus.ITERATION_LIMIT: 'iteration limit reached: zero step',
    SolveStatus.NON_FINITE_INPUT: (
        'a number of the state, a target or a parameter is not finite or too large, '
        'or a quaternion is not unit: no step'
    ),
    SolveStatus.NUMERICAL_FAILURE: 'not strictly convex in floating point: zero step',
    SolveStatus.UNREACHABLE: 'no solution found: closest configuration inside the limits',
    SolveStatus.AT_LIMITS: 'no solution inside the limits: closest configuration is at the limits',
    SolveStatus.IN_COLLISION: 'every solution found is in collision: the nearest to the seed',
    SolveStatus.HALTED_BY_BARRIER: 'step cut: it would have made a barrier worse',
}

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The closed sets that :class:`IKSolver` chooses from; values are those of newton.ik."""

from __future__ import annotations

import enum
from typing import TypeVar

from ros_ik.errors import ArgumentError

_Member = TypeVar('_Member', bound=enum.Enum)


class IKOptimizer(str, enum.Enum):
    """Method by which the squared residuals are minimised.

    ``LM`` is Levenberg-Marquardt, ``LBFGS`` limited-memory BFGS.
    """

    LM = 'lm'
    LBFGS = 'lbfgs'


class IKSampler(str, enum.Enum):
    """Source of the seeds of a problem.

    ``NONE`` takes the input as it is, ``GAUSS`` adds noise to it, ``UNIFORM`` draws inside the
    limits, ``ROBERTS`` takes a low-discrepancy sequence inside the limits.
    """

    NONE = 'none'
    GAUSS = 'gauss'
    UNIFORM = 'uniform'
    ROBERTS = 'roberts'


def enum_member(cls: type[_Member], name: str, value: object) -> _Member:
    """Return the member that a string, or a member of Newton's enum of the same kind, names.

    Args:
        cls: The enum.
        name: Name of the argument, for the error.
        value: A member, a value, or any enum member with such a value.

    Raises:
        ArgumentError: No member has this value.
    """
    key = value.value if isinstance(value, enum.Enum) else value
    for member in cls:
        if member.value == key:
            return member
    known = ', '.join(repr(member.value) for member in cls)
    raise ArgumentError(f'{name} must be one of {known}, got {value!r}')

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Choices of optimizer and sampler for :class:`IKSolver`, with the values of newton.ik."""

from __future__ import annotations

import enum
from typing import TypeVar

from ros_ik.errors import ArgumentError

_Member = TypeVar('_Member', bound=enum.Enum)


class IKOptimizer(str, enum.Enum):
    """Method of minimising the squared residuals.

    ``LM`` is Levenberg-Marquardt, ``LBFGS`` is limited-memory BFGS.
    """

    LM = 'lm'
    LBFGS = 'lbfgs'


class IKSampler(str, enum.Enum):
    """Source of the seeds of a problem.

    ``NONE`` uses the input itself, ``GAUSS`` adds noise to it, ``UNIFORM`` draws from within the
    limits, and ``ROBERTS`` uses a low-discrepancy sequence within the limits.
    """

    NONE = 'none'
    GAUSS = 'gauss'
    UNIFORM = 'uniform'
    ROBERTS = 'roberts'


def enum_member(cls: type[_Member], name: str, value: object) -> _Member:
    """Return the member for a string, or for a member of Newton's corresponding enum.

    Args:
        cls: The enum.
        name: Name of the argument, for the error.
        value: A member, a value, or any enum member with such a value.

    Raises:
        ArgumentError: No member has this value.
    """
    key = value.value if isinstance(value, enum.Enum) else value
    for member in cls:
        if isinstance(key, str) and member.value == key:
            return member
    known = ', '.join(repr(member.value) for member in cls)
    raise ArgumentError(f'{name} must be one of {known}, got {value!r}')

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Values of a redundant joint: those that a user gives, and the range of samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.numbers import real_value

_TURN = 2.0 * np.pi


def checked_values(values: int | Sequence[float] | np.ndarray) -> tuple[np.ndarray, int]:
    """Return given values and 0, or no values and the number of samples.

    Raises:
        ArgumentError: Neither a number of samples nor finite positions.
    """
    if isinstance(values, int | np.integer):
        return np.zeros(0), checked_count('redundant_values', values, 1)
    given = np.atleast_1d(real_value('redundant_values', values))
    if given.ndim != 1 or not given.size or not np.all(np.abs(given) <= MAX_MAGNITUDE):
        raise ArgumentError(
            f'redundant_values must be a count or finite positions [k], got {values!r}'
        )
    return given, 0


class SampledRange:
    """Range in which a redundant joint is sampled.

    This is the range of its limits, or a turn within them as near to the seed as possible. A
    prismatic joint without limits is sampled pi metres to either side.

    Attributes:
        follows_seeds: True if the range depends on the seed, False if it is that of the limits.
    """

    def __init__(self, lower: float, upper: float, *, is_whole: bool) -> None:
        """Store the limits.

        Args:
            lower: Lower limit of the joint [rad or m]; may be infinite.
            upper: Upper limit.
            is_whole: True to sample more than a turn, if the limits allow more.
        """
        self._lower, self._upper = lower, upper
        width = upper - lower
        self.follows_seeds = not (np.isfinite(width) and (is_whole or width <= _TURN))

    def near(self, seeds: np.ndarray) -> np.ndarray:
        """Return the range for each of n seeds of the joint, shape [n, 2]."""
        if not self.follows_seeds:
            return np.tile([self._lower, self._upper], (len(seeds), 1))
        seeds = np.clip(seeds, self._lower, self._upper)
        low = np.maximum(self._lower, np.minimum(seeds - np.pi, self._upper - _TURN))
        # The sum may round to more than the limit.
        return np.stack([low, np.minimum(low + _TURN, self._upper)], axis=1)

    def check(self, values: np.ndarray, joint: str) -> None:
        """Raise ArgumentError if one of the values of a joint is outside its limits."""
        outside = values[(values < self._lower) | (values > self._upper)]
        if outside.size:
            raise ArgumentError(
                f'redundant_values: {outside[0]:g} is outside the limits of '
                f'{joint!r}, {self._lower:g} to {self._upper:g}'
            )

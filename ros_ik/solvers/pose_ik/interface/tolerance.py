# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tolerances of poses, as distance and angle, or by axis in the frame of target or tool."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import functools
import math

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_choice
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.numbers import real_value

FRAMES = ('target', 'tool')
# Fraction of a tolerance by axis within which an error has no cost; the rest allows for rounding.
_FREE_PART = 0.9


@dataclasses.dataclass(frozen=True)
class PoseTolerance:
    """Tolerances of a solution.

    Attributes:
        position: Largest distance [m], or the largest distance along x, y and z.
        rotation: Largest angle [rad], or the largest component of the rotation vector about x, y
            and z. An infinite value frees the position, the rotation or the axis.
        frame: 'target' or 'tool', the frame of those axes.
    """

    position: float | tuple[float, ...]
    rotation: float | tuple[float, ...]
    frame: str = 'target'

    @classmethod
    def checked(
        cls,
        position: float | Sequence[float] | np.ndarray,
        rotation: float | Sequence[float] | np.ndarray,
        frame: str = 'target',
    ) -> PoseTolerance:
        """Create the tolerances from checked arguments.

        Args:
            position: ``position_tolerance``, a number or one for each axis.
            rotation: ``rotation_tolerance``, likewise.
            frame: ``tolerance_frame``.

        Raises:
            ArgumentError: A tolerance that is not positive or of another shape, no finite
                tolerance, or an unknown frame.
        """
        checked_choice('tolerance_frame', frame, FRAMES)
        if type(position) is float and type(rotation) is float:
            return _kept_tolerance(position, rotation, frame)
        return _checked_tolerance(position, rotation, frame)

    def _numbers(self) -> Iterator[float]:
        for each in (self.position, self.rotation):
            yield from each if isinstance(each, tuple) else (each,)

    @property
    def by_axis(self) -> bool:
        """True if one of the two is given by axis."""
        return isinstance(self.position, tuple) or isinstance(self.rotation, tuple)

    @property
    def lengths(self) -> tuple[float, float]:
        """Largest distance [m] and angle [rad]; inf if given by axis."""
        both = self.position, self.rotation
        distance, angle = (np.inf if isinstance(each, tuple) else each for each in both)
        return distance, angle

    @property
    def bounds(self) -> np.ndarray:
        """Largest error along and about each axis, [6]; inf if given as distance or angle."""
        both = self.position, self.rotation
        return np.array(
            [each if isinstance(each, tuple) else (np.inf,) * 3 for each in both]
        ).ravel()

    @property
    def zones(self) -> np.ndarray:
        """Errors along and about each axis without a cost, [6]; inf for free axes."""
        both = self.position, self.rotation
        zones = [
            np.multiply(_FREE_PART, each)
            if isinstance(each, tuple)
            else np.full(3, np.inf if np.isinf(each) else 0.0)
            for each in both
        ]
        return np.ravel(zones)

    @property
    def is_free(self) -> tuple[bool, bool]:
        """True for a free position, and for a free rotation, along or about all axes."""
        position, rotation = np.isinf(self.zones.reshape(2, 3)).all(axis=1)
        return bool(position), bool(rotation)


def _checked(name: str, value: float | Sequence[float] | np.ndarray) -> float | tuple[float, ...]:
    axes = real_value(name, value)
    if axes.ndim == 0:
        return checked_number(name, float(axes), positive=True, finite=False)
    if axes.shape != (3,):
        raise ArgumentError(f'{name} must be one number or 3, got shape {list(axes.shape)}')
    return tuple(
        checked_number(f'{name}[{k}]', float(each), positive=True, finite=False)
        for k, each in enumerate(axes)
    )


def _checked_tolerance(
    position: float | Sequence[float] | np.ndarray,
    rotation: float | Sequence[float] | np.ndarray,
    frame: str,
) -> PoseTolerance:
    own = PoseTolerance(
        _checked('position_tolerance', position), _checked('rotation_tolerance', rotation), frame
    )
    if all(map(math.isinf, own._numbers())):
        raise ArgumentError('position_tolerance and rotation_tolerance cannot both be inf')
    return own


# Cache of tolerances, because functions that solve in one call often get the same ones.
_kept_tolerance = functools.lru_cache(maxsize=64)(_checked_tolerance)

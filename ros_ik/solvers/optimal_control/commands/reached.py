# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of pose and centre-of-mass targets."""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses
import math

import numpy as np

from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand

_WORLD = 'the world'


@dataclasses.dataclass(frozen=True)
class TargetError:
    """Error of one pose or centre-of-mass target.

    Attributes:
        name: The link, or the centre of mass, and the reference of the target. Several targets of
            a link may have the same.
        rows: Rows of its residual, first and one past the last; they identify the target.
        weights: Factor of each of these rows on the error [1/m, 1/rad].
        position: Distance [m], 0 if it has no weight.
        rotation: Angle [rad], 0 if it has no weight.
    """

    name: str
    rows: tuple[int, int]
    weights: tuple[float, ...]
    position: float
    rotation: float

    def within(self, position: float, rotation: float) -> bool:
        """Return True if the target is met to a distance [m] and an angle [rad]."""
        return self.position <= position and self.rotation <= rotation

    def __str__(self) -> str:
        """Return the name and the error."""
        parts = [f'{1e3 * self.position:.3g} mm'] if self.position > 0.0 else []
        parts += [f'{self.rotation:.3g} rad'] if self.rotation > 0.0 else []
        return f'{self.name} by {" and ".join(parts) or "nothing"}'


def target_errors(
    command: OptimalControlCommand, residuals: np.ndarray
) -> tuple[TargetError, ...]:
    """Return the unweighted errors of pose targets and centre of mass.

    Args:
        command: The command.
        residuals: Residuals of its costs, [total_residuals]: six rows for each pose target, three
            for the centre of mass, then those of the joints.
    """
    return tuple(_errors(command, residuals))


def _errors(command: OptimalControlCommand, residuals: np.ndarray) -> Iterator[TargetError]:
    scaling, row = command.error_scaling, 0
    for target in command.cartesian_targets:
        moves = scaling * math.sqrt(target.translation_weight)
        turns = scaling * math.sqrt(target.rotation_weight)
        yield TargetError(
            f'{target.link_name} in {target.ref_link_name or _WORLD}',
            (row, row + 6),
            (moves, moves, moves, turns, turns, turns),
            _length(residuals[row : row + 3], moves),
            _length(residuals[row + 3 : row + 6], turns),
        )
        row += 6
    center = command.center_of_mass_target
    if center is not None:
        moves = scaling * math.sqrt(center.weight)
        yield TargetError(
            f'centre of mass in {center.ref_link_name or _WORLD}',
            (row, row + 3),
            (moves, moves, moves),
            _length(residuals[row : row + 3], moves),
            0.0,
        )


def _length(rows: np.ndarray, weight: float) -> float:
    """Return the length of an error whose weighted components are ``rows``."""
    return float(np.linalg.norm(rows)) / weight if weight > 0.0 else 0.0

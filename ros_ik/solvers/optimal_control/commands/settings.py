# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings of optimal control, for what a command leaves open."""

from __future__ import annotations

import dataclasses

from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number


@dataclasses.dataclass(frozen=True)
class OptimalControlSettings:
    """Settings of :class:`OptimalControl`, for what a command leaves open.

    Attributes:
        stop_cost: Cost below which a command is solved. The default is 0.01 mm or 0.01 mrad of one
            error of weight 1.
        min_delta_cost: Improvement between iterations that counts.
        min_delta_ratio: The same as a part of the cost: the larger of the two is asked for, unless
            the command says what counts. Ten iterations below it leave about a thousandth.
        patience: Iterations without such an improvement that are tolerated.
        max_iterations: Bound on the iterations of a search.
        max_duration: Longest motion [s]; it bounds the size of the result.
        position_tolerance: Distance up to which a pose or centre-of-mass target is met [m].
        rotation_tolerance: Angle up to which a pose target is met [rad].
    """

    stop_cost: float = 1e-10
    min_delta_cost: float = 1e-9
    min_delta_ratio: float = 1e-5
    patience: int = 10
    max_iterations: int = 300
    max_duration: float = 60.0
    position_tolerance: float = 1e-3
    rotation_tolerance: float = 1e-2

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ArgumentError: A value outside its range.
        """
        for name in ('stop_cost', 'min_delta_cost', 'min_delta_ratio'):
            checked_number(name, getattr(self, name))
        for name in ('patience', 'max_iterations'):
            checked_count(name, getattr(self, name), 1)
        for name in ('max_duration', 'position_tolerance', 'rotation_tolerance'):
            checked_number(name, getattr(self, name), positive=True)

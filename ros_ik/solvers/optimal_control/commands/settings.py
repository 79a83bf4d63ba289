# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings of optimal control, defaults of commands."""

from __future__ import annotations

import dataclasses

from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.solvers.default_tolerances import POSITION_TOLERANCE
from ros_ik.solvers.default_tolerances import ROTATION_TOLERANCE


@dataclasses.dataclass(frozen=True)
class OptimalControlSettings:
    """Settings of :class:`OptimalControl`, and defaults of commands.

    Attributes:
        stop_cost: Cost below which a command is solved. The default corresponds to an error of
            0.01 mm or 0.01 mrad with weight 1.
        min_delta_cost: Improvement per iteration below which ``patience`` applies.
        min_delta_ratio: The same as a fraction of the cost. The larger of the two is used, unless
            the command sets one. After ten iterations below it, about a thousandth is left.
        patience: Number of tolerated iterations without such an improvement.
        max_iterations: Bound on the iterations of a search.
        max_duration: Longest motion [s], which bounds the size of the result.
        position_tolerance: Distance up to which a pose or centre-of-mass target is met [m].
        rotation_tolerance: Angle up to which a pose target is met [rad].
    """

    stop_cost: float = 1e-10
    min_delta_cost: float = 1e-9
    min_delta_ratio: float = 1e-5
    patience: int = 10
    max_iterations: int = 300
    max_duration: float = 60.0
    position_tolerance: float = POSITION_TOLERANCE
    rotation_tolerance: float = ROTATION_TOLERANCE

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

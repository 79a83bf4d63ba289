# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Task of a control step: an objective with gain, weights, damping, saturation and priority.

The step minimises 1/2 |W (J dq + gain sat(r))|^2 + 1/2 mu |dq|^2, mu = damping |W gain sat(r)|^2.
r, J are the residual and Jacobian of the objective, and W = diag(weight). sat limits the length of
the residuals of each block (position, rotation) to e_max tanh(|r| / e_max), as in roboplan. Tasks
act in the null space of those with lower priority numbers; see
:mod:`ros_ik.solvers.differential_ik.tasks.priorities`.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import ClassVar

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.numbers import real_value
from ros_ik.objectives import IKObjective
from ros_ik.solvers.differential_ik.tasks.single_precision_objective import in_step_precision


class Task:
    """An objective with gain, weights, Levenberg damping and error saturation.

    All attributes except the objective may be set between solves. A residual to which the task
    gives zero weight has no effect, also on saturation, even if its target is not finite.

    Attributes:
        objective: The objective; one with float32 kernels only is wrapped.
        priority: Level, 1 or more; level 1 precedes level 2.
        version: Number of changes of this task.
        changes: Number of changes over all tasks, a quick test that nothing changed.
    """

    changes: ClassVar[int] = 0

    def __init__(
        self,
        objective: IKObjective,
        *,
        gain: float = 1.0,
        weight: float | Sequence[float] = 1.0,
        damping: float = 0.0,
        max_error: float | Sequence[float] | None = None,
        priority: int = 1,
    ) -> None:
        """Create the task.

        Args:
            objective: A built-in objective, or any other with float32 kernels and the interface of
                :class:`IKObjective` or Newton.
            gain: Fraction of the residual to remove in one step, in [0, 1]. More would overshoot
                the target; with 0 the task only resists motion.
            weight: Factor on the residuals, one or shape [residual_dim]. Its square is the cost.
            damping: Levenberg damping relative to the squared weighted residual, dimensionless.
            max_error: Largest length e_max that each block of residuals counts as, one per block
                (a pose has two, in m and rad); None or inf for no saturation. A length e_max
                counts as 0.76 e_max, by the tanh above.
            priority: Level, 1 or more. A task acts in the null space of all tasks with a lower
                number.

        Raises:
            ArgumentError: A value that is negative or not a number, a gain above 1, a wrong shape,
                or a priority below 1.
        """
        self._objective = in_step_precision(objective)
        self.version = 0
        self._gain = self._damping = math.nan
        self._weight = self._max_error = np.zeros(0)
        self._priority = 0
        self.priority = priority
        self.gain = gain
        self.weight = weight
        self.damping = damping
        self.max_error = max_error

    @property
    def objective(self) -> IKObjective:
        """Objective, possibly wrapped for a step; create another task to change it."""
        return self._objective

    @property
    def priority(self) -> int:
        """Level, 1 or more; level 1 precedes level 2."""
        return self._priority

    @priority.setter
    def priority(self, value: int) -> None:
        self._set('_priority', checked_count('priority', value, 1))

    @property
    def gain(self) -> float:
        """Fraction of the residual to remove in one step, in [0, 1]."""
        return self._gain

    @gain.setter
    def gain(self, value: float) -> None:
        gain = checked_number('gain', value)
        if gain > 1.0:
            raise ArgumentError(
                f'gain must lie in [0, 1], got {value}: a larger gain overshoots the target'
            )
        self._set('_gain', gain)

    @property
    def weight(self) -> np.ndarray:
        """Factors on the residuals, shape [residual_dim]."""
        return self._weight

    @weight.setter
    def weight(self, value: float | Sequence[float]) -> None:
        weight = _amounts('weight', value, (self.objective.residual_dim(),))
        if not np.all(np.isfinite(weight)):
            raise ArgumentError(f'weight must be finite, got {value}')
        self._set('_weight', weight)

    @property
    def damping(self) -> float:
        """Levenberg damping, dimensionless."""
        return self._damping

    @damping.setter
    def damping(self, value: float) -> None:
        self._set('_damping', checked_number('damping', value))

    @property
    def max_error(self) -> np.ndarray:
        """Largest length that each block of residuals counts as, inf for none, shape [blocks]."""
        return self._max_error

    @max_error.setter
    def max_error(self, value: float | Sequence[float] | None) -> None:
        blocks = (len(self.objective.residual_blocks()),)
        max_error = _amounts('max_error', np.inf if value is None else value, blocks)
        if not np.all(max_error > 0.0):
            raise ArgumentError(f'max_error must be positive, got {value}')
        self._set('_max_error', max_error)

    def _set(self, name: str, value: float | np.ndarray) -> None:
        """Set an attribute, and count it if its value changed."""
        if not np.array_equal(getattr(self, name), value):
            setattr(self, name, value)
            self.version += 1
            Task.changes += 1


def _amounts(name: str, value: float | Sequence[float], shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers that are not negative, broadcast to ``shape``, or raise ArgumentError."""
    array = real_value(name, value)
    if array.shape not in ((), shape):
        raise ArgumentError(
            f'{name} must be one number or {shape[0]}, one for each residual or block of them, '
            f'got {value}'
        )
    if np.any(np.isnan(array)):
        raise ArgumentError(f'{name} must not be NaN, got {value}')
    if np.any(array < 0.0):
        raise ArgumentError(f'{name} must not be negative, got {value}')
    return read_only(np.broadcast_to(array, shape))

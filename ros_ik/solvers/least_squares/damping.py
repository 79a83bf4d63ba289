# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Damping of Levenberg-Marquardt from step to step, as functions of one problem.

The gain ratio of a step is how much the cost fell, over how much the model predicted:

    rho = (|r(q)|^2 - |r(q + d)|^2) / (|r|^2 - |r + J d|^2),

1 where r is linear. Two rules use it:

- in steps: a step with rho >= 0.5 divides the damping by a factor; one that is not taken, or with
  rho < 0.25, multiplies it. (K. Madsen, H. B. Nielsen, O. Tingleff, "Methods for Non-Linear Least
  Squares Problems", 2004, section 3.2.) newton.ik divides after every step that is taken: far from
  a target out of reach, where r is curved, the damping then falls and rises in turn, and the
  search makes hardly any progress. Users choose the factor.
- smooth: a step that is taken multiplies the damping by max(1/3, 1 - (2 rho - 1)^3); one that is
  not multiplies it by a growth that doubles each time. (H. B. Nielsen, "Damping parameter in
  Marquardt's method", 1999.) It has no factor to choose, and recovers sooner from a damping that
  is far too small.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

# Gain ratios from which on a step lessens the damping, and below which it raises it.
_GOOD, _BAD = 0.5, 0.25
# Least factor on the damping, and the growth after the first step that is not taken.
_MIN_FACTOR, GROWTH = 1.0 / 3.0, 2.0


def damped_smoothly(
    damping: float, growth: float, ratio: float, is_taken: bool
) -> tuple[float, float]:
    """Return the damping and its growth after a step, by the smooth rule, on the host.

    Args:
        damping: Damping of the step.
        growth: Factor on it if the step is not taken.
        ratio: Gain ratio of the step.
        is_taken: True if the step is taken.
    """
    if not is_taken:
        return damping * growth, 2.0 * growth
    miss = 2.0 * ratio - 1.0
    return damping * max(_MIN_FACTOR, 1.0 - miss * miss * miss), GROWTH


@no_type_check
@functools.cache
def damping_functions(scalar: type) -> SimpleNamespace:
    """Build the two rules.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        ``damp_in_steps(damping, gain, predicted, is_taken, factor) -> damping``;
        ``damp_smoothly(damping, growth, ratio, is_taken) -> damping, growth``. Callers keep the
        damping in its range.
    """

    @wp.func
    def damp_in_steps(
        damping: scalar, gain: scalar, predicted: scalar, is_taken: bool, factor: scalar
    ) -> scalar:
        if not is_taken or gain < scalar(wp.static(_BAD)) * predicted:
            return damping * factor
        if gain >= scalar(wp.static(_GOOD)) * predicted:
            return damping / factor
        return damping

    @wp.func
    def damp_smoothly(damping: scalar, growth: scalar, ratio: scalar, is_taken: bool):
        if not is_taken:
            return damping * growth, scalar(2.0) * growth
        miss = scalar(2.0) * ratio - scalar(1.0)
        factor = wp.max(scalar(wp.static(_MIN_FACTOR)), scalar(1.0) - miss * miss * miss)
        return damping * factor, scalar(wp.static(GROWTH))

    return SimpleNamespace(damp_in_steps=damp_in_steps, damp_smoothly=damp_smoothly)

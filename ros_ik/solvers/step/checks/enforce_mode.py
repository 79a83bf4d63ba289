# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ways to cut a step that breaks a barrier."""

import enum


class EnforceMode(str, enum.Enum):
    """Cut that :meth:`DifferentialIK.enforce_barriers` makes where a step breaks a barrier."""

    STOP = 'stop'
    """The joints that move the barrier stop."""

    SCALE = 'scale'
    """Their part of the step is shortened as far as the barrier needs."""

    WHOLE = 'whole'
    """Every joint stops (roboplan before 0.7)."""

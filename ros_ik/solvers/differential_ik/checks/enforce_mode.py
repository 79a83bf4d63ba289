# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Choice of how to cut a step that violates a barrier."""

import enum


class EnforceMode(str, enum.Enum):
    """Cut by :meth:`DifferentialIK.enforce_barriers` of a step that violates a barrier."""

    STOP = 'stop'
    """The joints that move the barrier stop."""

    SCALE = 'scale'
    """Their part of the step is shortened as far as the barrier needs."""

    WHOLE = 'whole'
    """Every joint stops (roboplan before 0.7)."""

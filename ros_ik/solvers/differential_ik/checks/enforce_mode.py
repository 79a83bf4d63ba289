# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Modes of cutting a step that violates a barrier."""

import enum


class EnforceMode(str, enum.Enum):
    """Mode in which :meth:`DifferentialIK.enforce_barriers` cuts a step."""

    STOP = 'stop'
    """The joints that move the barrier stop."""

    SCALE = 'scale'
    """Their part of the step is shortened as far as the barrier needs."""

    WHOLE = 'whole'
    """Every joint stops (roboplan before 0.7)."""

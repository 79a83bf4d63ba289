# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Former place of :mod:`ros_ik.demo.controller.trajectory_rules`, for one release."""

import warnings

from ros_ik.demo.controller.trajectory_rules import *  # noqa: F403

warnings.warn(
    'ros_ik.demo.trajectory_rules is now ros_ik.demo.controller.trajectory_rules',
    DeprecationWarning,
    stacklevel=2,
)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Former place of :mod:`ros_ik.demo.controller.trajectory_sampler`, for one release."""

import warnings

from ros_ik.demo.controller.trajectory_sampler import *  # noqa: F403

warnings.warn(
    'ros_ik.demo.trajectory_sampler is now ros_ik.demo.controller.trajectory_sampler',
    DeprecationWarning,
    stacklevel=2,
)

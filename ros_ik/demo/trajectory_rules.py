# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Former place of :mod:`ros_ik.demo.controller.trajectory_rules`, for one release."""

from ros_ik.demo.controller.trajectory_rules import *  # noqa: F403
from ros_ik.former_names import warn_of_former_name

warn_of_former_name(__name__, 'ros_ik.demo.controller.trajectory_rules')

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for ROS's package where it is not installed."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Measured and commanded states, events between ticks, and how the robot follows its command."""

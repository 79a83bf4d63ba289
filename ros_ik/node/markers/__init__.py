# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Markers of the robot, its targets and obstacles, drawn by a separate process."""

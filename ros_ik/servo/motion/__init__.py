# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Laws of motion: approach, deceleration, joint jogging, poses on the host."""

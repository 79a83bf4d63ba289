# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step: tasks, limits and barriers as a quadratic program, and its checks."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Levenberg-Marquardt in a single kernel, for objectives that have formulas."""

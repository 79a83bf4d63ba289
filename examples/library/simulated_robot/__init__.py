# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot with mass, simulated by MuJoCo, and the servo that drives it."""

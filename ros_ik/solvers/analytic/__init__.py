# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closed-form inverse kinematics: every solution of a pose, up to seven joints."""

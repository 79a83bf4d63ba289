# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closed-form inverse kinematics, all solutions of a pose for up to seven joints."""

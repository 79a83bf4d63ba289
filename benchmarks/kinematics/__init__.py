# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of forward kinematics, and of inverse kinematics of single poses and batches."""

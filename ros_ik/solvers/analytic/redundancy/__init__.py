# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Redundancy of seven joints: kernels over its values, and along the curves of solutions."""

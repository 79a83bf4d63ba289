# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rotations about an axis, and equations linear in sines and cosines of angles."""

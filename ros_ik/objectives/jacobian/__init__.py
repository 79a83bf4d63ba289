# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Gram determinant of the Jacobian of a link, with its derivative, for manipulability."""

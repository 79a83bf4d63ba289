# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distance and penetration of two convex shapes, as Warp functions."""

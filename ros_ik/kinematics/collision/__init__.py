# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances of convex shapes: pairs, checks of configurations, sweeps along a path."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision shapes of a model: convex cores, pairs, primitive fits."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The scene in three dimensions: robot, targets, trails, shapes, pairs, boxes."""

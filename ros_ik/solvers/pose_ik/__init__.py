# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Configurations of poses of one link: one kernel for the whole search."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Planners' services, in a process of their own."""

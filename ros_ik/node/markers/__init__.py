# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Markers of what the node sees and does, drawn by a process of its own."""

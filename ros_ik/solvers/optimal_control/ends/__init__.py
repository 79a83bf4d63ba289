# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ends of a motion: the nearest minimum, minima from seeds, and paths that keep targets."""

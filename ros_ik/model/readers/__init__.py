# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Readers of descriptions, SRDF and mesh files, and the lookup of their folders."""

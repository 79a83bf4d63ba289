# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tolerances, settings, results and preferences of a search."""

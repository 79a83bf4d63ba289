# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of a step at the configuration that it leads to, and of the stop after it."""

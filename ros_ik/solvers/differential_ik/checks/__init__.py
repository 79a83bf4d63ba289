# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of barriers at the configuration after a step, and along the stop after it."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets: checks, choice, motion between messages, and reasons to hold."""

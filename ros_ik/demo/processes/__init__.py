# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Processes of the demo: start, end, and options of the control loop."""

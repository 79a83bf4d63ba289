# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of the built-in objectives: arguments, numbers on the device, shared functions."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a tick, and its status codes."""

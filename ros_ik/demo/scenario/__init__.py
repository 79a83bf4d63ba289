# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Scenario of the demo: targets, tested in advance and sent by a recording client."""

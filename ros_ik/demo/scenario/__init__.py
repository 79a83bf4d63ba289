# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Scenario of the demo: targets, tried beforehand and sent by a client that records."""

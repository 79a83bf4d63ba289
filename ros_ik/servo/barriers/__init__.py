# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barriers of the servo, and the obstacles that they keep away."""

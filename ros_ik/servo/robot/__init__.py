# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The controlled robot: joints, limits and collision shapes."""

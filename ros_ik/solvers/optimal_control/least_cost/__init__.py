# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Search for the configuration of least cost near the start: costs, arrays, kernels."""

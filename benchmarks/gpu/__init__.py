# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The kernels of the product as a GPU sees them, compiled on any machine."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels for seven joints: values of the redundant joint, and curves of solutions over it."""

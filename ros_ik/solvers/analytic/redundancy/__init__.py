# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels for seven joints: values of the redundant joint, search along curves of solutions."""

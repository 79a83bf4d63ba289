# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Candidates of each family: kernels that write every branch of a pose."""

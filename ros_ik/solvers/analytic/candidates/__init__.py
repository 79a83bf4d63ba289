# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Candidate solutions of each family, kernels that compute all branches of a pose."""

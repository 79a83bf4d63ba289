# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Least squares within limits, shared by solvers: residuals, Jacobians, the bounded step."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Interface of every objective: residuals, their Jacobian, and ownership by solvers."""

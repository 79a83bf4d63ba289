# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimizers for any objectives: Levenberg-Marquardt and L-BFGS, a kernel for each stage."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batched dense quadratic programs; that of a tick is in :mod:`ros_ik.solvers.differential_ik`."""

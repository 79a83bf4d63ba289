# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batched dense quadratic programs; :mod:`ros_ik.solvers.step` has that of a control step."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematic chain and its solvers, with the interface of motrixsim."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematic chain and its solvers, with the interface of motrixsim.

``IkChain`` is a chain, and its solvers search once, from a given seed. ``ChainIK`` of
:mod:`ros_ik.solvers.pose_ik` is a solver: it searches with random restarts and verifies.
"""

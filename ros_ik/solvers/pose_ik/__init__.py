# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of poses of a link, by a search in a single kernel.

``ChainIK`` searches with random restarts and verifies what it finds. ``IkChain`` of
:mod:`ros_ik.solvers.chain` is a chain whose solvers search once, from a given seed, as in
motrixsim.
"""

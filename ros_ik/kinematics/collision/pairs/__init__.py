# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of primitives in a step: distances, rows, derivatives, sweeps along its path."""

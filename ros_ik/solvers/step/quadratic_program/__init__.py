# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The quadratic program of a step: its memory, its rows, its solution."""

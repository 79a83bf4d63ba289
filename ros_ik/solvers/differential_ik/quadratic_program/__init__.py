# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Quadratic program of a step: arrays, rows and solution."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks that run other solvers beside ours on the same poses; start with ``make bench``."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of control steps: one robot, many robots, self-collision, the longest step."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of motions: streams of poses, joint targets, and changes in motion."""

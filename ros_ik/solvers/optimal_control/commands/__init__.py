# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal-control commands: their costs and targets, the builder, errors of targets, settings."""

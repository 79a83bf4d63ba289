# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal-control commands: costs and targets, builder, errors of targets, settings."""

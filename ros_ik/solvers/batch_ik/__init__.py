# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batches of problems with any objectives, with the interface of newton.ik."""

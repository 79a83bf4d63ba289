# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a recorded run: results, table, picture."""

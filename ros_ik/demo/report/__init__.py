# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Judgement of a recorded run: evaluation, table, picture."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""From a path of configurations to a motion in time, inside limits and barriers."""

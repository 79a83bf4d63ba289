# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State of a control step, and the path of the stop after it."""

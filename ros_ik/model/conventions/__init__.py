# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Newton's numbers and flags, poses and rotations on the host, checks of arguments."""

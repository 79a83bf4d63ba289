# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Search of poses: launches, arguments, and further rounds for colliding solutions."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint paths along poses, on one branch or optimal over all branches."""

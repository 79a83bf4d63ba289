# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Host data and host code that a recording of launches would miss."""

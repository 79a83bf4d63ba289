# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Time parametrisation of a path of configurations, within limits and barriers."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The search of a pose in one kernel, and the verification of what it found."""

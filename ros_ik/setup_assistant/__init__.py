# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Generation of a parameter file from a robot description, and checks of a file."""

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse kinematics of batches, and other configurations of a pose."""

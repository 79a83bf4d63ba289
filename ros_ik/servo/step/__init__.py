# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The step of a tick: differential inverse kinematics, stops, singularities."""

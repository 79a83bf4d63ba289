# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The demonstration: a mock robot, a robot_description publisher, a scripted run of the node."""

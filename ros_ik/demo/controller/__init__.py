# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A simulated joint_trajectory_controller and the robot under it, without ROS."""

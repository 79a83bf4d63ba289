# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 node: parameters, messages, threads. Computations are in other packages."""

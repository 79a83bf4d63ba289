# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Names of the joints that move the tip of a demo robot, without a servo that controls them."""

from benchmarks.motion.ticked_servo import robot_model
from ros_ik.demo.robots import find_robot


def chain_joints(name):
    """Return the movable joints between the base and the tip of a robot of the demo."""
    files = find_robot(name)
    return robot_model(name).joint_group(f'{files.base_link}:{files.tip_link}').joint_names

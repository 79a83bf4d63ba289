# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Selection of the chain to control on an unknown robot."""

from __future__ import annotations

from ros_ik.errors import ArgumentError
from ros_ik.model import Model

# Patterns in the names of tip links, which are preferred among links equally far from the base.
_TOOL_WORDS = ('tcp', 'tool', 'ee', 'grasp', 'gripper', 'hand')
# Maximum number of joints of an arm. A longer chain includes a torso, which is not moved.
_MAX_JOINTS = 8


def choose_chain(model: Model) -> tuple[str, str]:
    """Return base and tip link of the longest chain of movable joints.

    Args:
        model: The robot.

    Raises:
        ArgumentError: The robot has no movable joint.
    """
    parent, child = model.joint_parent.numpy(), model.joint_child.numpy()
    starts = model.joint_qd_start.numpy()
    incoming = {int(body): joint for joint, body in enumerate(child)}

    def moving(body: int) -> list[int]:
        """Return the joints between the root and a body, root first."""
        joints = []
        while body in incoming:
            joint = incoming[body]
            single = starts[joint + 1] - starts[joint] == 1 and joint not in model.mimic_driver
            if single and parent[joint] >= 0:
                joints.append(joint)
            body = int(parent[joint])
        return joints[::-1]

    def rank(body: int) -> tuple[int, int, int]:
        words = sum(word in model.body_label[body].lower() for word in _TOOL_WORDS)
        return min(len(moving(body)), _MAX_JOINTS), words, body

    tip = max(range(model.body_count), key=rank)
    joints = moving(tip)[-_MAX_JOINTS:]
    if not joints:
        raise ArgumentError('the robot has no movable joint to demonstrate')
    return model.body_label[int(parent[joints[0]])], model.body_label[tip]

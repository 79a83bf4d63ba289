# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Selection of the chain to control on an unknown robot."""

from __future__ import annotations

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.setup_assistant.limbs import find_limbs

# Maximum number of joints of an arm. A longer chain includes a torso, which is not moved.
_MAX_JOINTS = 8


def choose_chain(model: Model) -> tuple[str, str]:
    """Return base and tip link of the longest limb, the first of several.

    Args:
        model: The robot.

    Raises:
        ArgumentError: The robot has no movable joint.
    """
    limbs = find_limbs(model)
    if not limbs:
        raise ArgumentError('the robot has no movable joint to demonstrate')
    limb = max(limbs, key=lambda limb: len(limb.joints))
    first = model.joint_index(limb.joints[-_MAX_JOINTS:][0])
    return model.body_label[int(model.joint_parent.numpy()[first])], limb.tip

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lists of the formulas of built-in objectives for which kernels are compiled."""

from ros_ik.objectives.center_of_mass import CENTER_OF_MASS
from ros_ik.objectives.joint_limit import JOINT_LIMIT
from ros_ik.objectives.joint_position import JOINT_POSITION
from ros_ik.objectives.look_at import LOOK_AT
from ros_ik.objectives.manipulability import MANIPULABILITY
from ros_ik.objectives.pose import GEOMETRIC_POSE
from ros_ik.objectives.pose import POSE
from ros_ik.objectives.position import POSITION
from ros_ik.objectives.rotation import ROTATION
from ros_ik.objectives.self_distance import SELF_DISTANCE

# Formulas for the tasks of a control step, compiled into one kernel, the most frequent first.
STEP_FORMULAS = (
    GEOMETRIC_POSE, POSE, POSITION, ROTATION, LOOK_AT, CENTER_OF_MASS, JOINT_POSITION, JOINT_LIMIT,
)  # fmt: skip
BUILTIN_FORMULAS = (*STEP_FORMULAS, SELF_DISTANCE, MANIPULABILITY)

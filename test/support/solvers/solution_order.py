# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order and distance of the solutions of one pose."""

import numpy as np

from ros_ik import ChainIKSettings


def assert_sorted_and_distinct(joint_q, seed):
    """Assert that solutions [k, n] are nearest to the seed first, and apart from each other."""
    distance = np.linalg.norm(joint_q - seed, axis=1)
    assert np.all(np.diff(distance) >= 0.0)
    for i in range(len(joint_q)):
        for j in range(i):
            apart = np.max(np.abs(joint_q[i] - joint_q[j]))
            assert apart >= ChainIKSettings().separation

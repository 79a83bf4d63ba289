# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Random poses of links and of targets."""

import numpy as np


def random_pose(rng, reach=0.5):
    """Return a random pose x y z qx qy qz qw."""
    quaternion = rng.normal(size=4)
    return np.concatenate([rng.uniform(-reach, reach, 3), quaternion / np.linalg.norm(quaternion)])

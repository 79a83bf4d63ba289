# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A rig whose nodes find the meshes of the robots' descriptions."""

import contextlib
import os

import pytest
from support.rigs.ros_rig import ros_rig
from support.robots.collision_oracle import PACKAGES


@contextlib.contextmanager
def mesh_rig(folder):
    """Yield a client as :func:`ros_rig` does; its processes see the folder of the meshes."""
    with pytest.MonkeyPatch.context() as patch:
        # The folder in whose share/ the meshes are.
        prefix = os.pathsep.join([os.environ['AMENT_PREFIX_PATH'], str(PACKAGES[0].parent)])
        patch.setenv('AMENT_PREFIX_PATH', prefix)
        with ros_rig(folder) as client:
            yield client

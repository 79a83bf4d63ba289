# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The viewer of a node that lies in a namespace."""

import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.rigs.ros_rig import Client
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.viewer_rig import viewer_in_process

pytestmark = pytest.mark.dds


def test_a_viewer_in_the_namespace_moves_the_robot(tmp_path):
    with ros_rig(tmp_path) as outside:
        client = Client(outside.processes, 'left', beside=outside)
        start_robot(client)
        start_node(client, **NEVER_STALE)
        client.describe(panda_urdf())
        with viewer_in_process(client.processes.domain, namespace='/left') as viewer:
            client.wait_for_text('waiting for a target', timeout=LONG)
            client.wait_for(lambda: 'ee' in viewer.targets, 'gizmo')
            goal = viewer.targets['ee'] + np.array([0.0, 0.05, 0.0, 0.0, 0.0, 0.0, 0.0])
            viewer.requests.hold('ee', None, goal)
            client.wait_for(
                lambda: np.abs(viewer.targets['ee'] - goal)[:3].max() < 1e-3, 'arrival'
            )

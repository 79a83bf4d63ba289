# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Collision shapes of markers that come, change and go."""

import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.rigs.viewer_rig import free_port
import viser
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from ros_ik.viewer.scene.shapes_view import ShapesView

BASE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def markers(count):
    """Return the markers of a number of boxes."""
    message = MarkerArray()
    for _ in range(count):
        marker = Marker(ns='collision_shapes', type=Marker.CUBE)
        marker.scale.x = marker.scale.y = marker.scale.z = 0.1
        marker.pose.orientation.w = 1.0
        message.markers.append(marker)
    return message


@pytest.fixture
def view():
    server = viser.ViserServer(host='127.0.0.1', port=free_port(), verbose=False)
    yield ShapesView(server)
    server.stop()


def test_after_a_silence_a_node_may_have_other_shapes_or_none(view):
    for count in (3, 0, 2, 2, 1, 0):
        view.show(markers(count), BASE)
        assert view.count == count
        view.clear()
        assert view.count == 0
        view.show(markers(0), BASE)
        assert view.count == 0

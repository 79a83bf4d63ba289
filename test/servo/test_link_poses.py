# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Link poses are computed once for each configuration, and again for every other."""

import numpy as np
from support.servo_rig import Rig

from ros_ik.servo.link_poses import LinkPoses


def test_a_tick_places_the_links_once_after_its_step_and_once_as_measured(monkeypatch):
    rig = Rig()
    rig.aim(rig.moved((0.1, 0.0, 0.0)))
    rig.tick(20)
    diff, placed = rig.servo._solver.diff, []
    body_poses = diff.body_poses
    monkeypatch.setattr(diff, 'body_poses', lambda q: placed.append(q.copy()) or body_poses(q))
    measured = rig.q
    output = rig.tick()
    assert output.joint_qd.any()
    assert len(placed) == 2
    np.testing.assert_array_equal(placed[0], output.joint_q)
    np.testing.assert_array_equal(placed[1], measured)


def test_coordinates_that_changed_in_place_are_noticed():
    rig = Rig()
    diff, poses, q = rig.servo._solver.diff, LinkPoses(), rig.q.copy()
    first = poses.at(diff, q)
    assert poses.at(diff, q.copy()) is first
    kept = first.copy()
    for coord in rig.robot.coords:
        q[coord] += 1e-9
        np.testing.assert_array_equal(poses.at(diff, q), diff.body_poses(q))
    np.testing.assert_array_equal(first, kept)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Link poses are computed once for each configuration, and again for every other."""

import numpy as np
from support.rigs.servo_rig import Rig

from ros_ik.servo.step.link_poses import LinkPoses


def test_measured_poses_are_placed_once_a_tick_and_only_where_they_are_wanted(monkeypatch):
    rig = Rig()
    rig.aim(rig.moved((0.1, 0.0, 0.0)))
    rig.tick(20)
    diff, placed = rig.servo._solver.diff, []
    body_poses = diff.body_poses
    monkeypatch.setattr(diff, 'body_poses', lambda q: placed.append(q.copy()) or body_poses(q))
    measured = rig.q
    first = rig.tick()
    assert first.joint_qd.any() and len(placed) == 1
    np.testing.assert_array_equal(placed[0], measured)
    np.testing.assert_allclose(first.tasks[0].current_pose, rig.pose(measured), atol=1e-12)
    placed.clear()
    rig.reports = False
    output = rig.tick()
    assert not placed
    assert output.tasks[0].current_pose is first.tasks[0].current_pose
    rig.reports = True
    assert np.any(rig.tick().tasks[0].current_pose != first.tasks[0].current_pose)


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

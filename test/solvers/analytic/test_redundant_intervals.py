# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Intervals of a redundant joint, judged by arms of six joints with that joint locked."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik import all_solutions
from ros_ik import closed_form
from ros_ik import redundant_intervals
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.serial_chain import serial_chain

PR2 = [
    'torso_lift_joint', 'r_shoulder_pan_joint', 'r_shoulder_lift_joint', 'r_upper_arm_roll_joint',
    'r_elbow_flex_joint', 'r_forearm_roll_joint', 'r_wrist_flex_joint',
]  # fmt: skip
# The redundant joint is the last one, the first one, one that slides.
ROBOTS = {
    'panda': ('panda_hand_tcp', None),
    'talos_full_v2': ('arm_left_7_link', [f'arm_left_{k}_joint' for k in range(1, 8)]),
    'pr2': ('r_wrist_flex_link', PR2),
}
# Distance from an end at which a value is judged [rad or m].
BESIDE = 1e-6


class Judge:
    """An arm of seven joints, and the same with the redundant one locked."""

    def __init__(self, name):
        (path,) = (path for path in ALL_URDFS if path.stem == name)
        self.model, self.pin = load(path), PinocchioRobot(urdf_text(name), load(path))
        self.link, self.group = ROBOTS[name]
        self.chain = serial_chain(self.model, self.link, group=self.group)
        form = closed_form(self.model, self.link, self.group)
        self.rest = [joint for joint in form.joints if joint != form.redundant_joint]
        place = form.joints.index(form.redundant_joint)
        self.column = self.chain.coordinates[place]
        self.limits = self.chain.lower[place], self.chain.upper[place]

    def poses(self, n, seed=0):
        """Return poses of configurations inside the limits, and the redundant joint's values."""
        q = np.tile(self.model.neutral_joint_q(), (n, 1))
        drawn = self.model.random_joint_q(n, np.random.default_rng(seed))
        q[:, self.chain.coordinates] = drawn[:, self.chain.coordinates]
        rows = []
        for row in q:
            position, rotation = self.pin.poses(row)[self.link]
            rows.append([*position, *Rotation.from_matrix(rotation).as_quat()])
        return np.array(rows), q[:, self.column]

    def locked(self, pose, value):
        """Return the solutions with the redundant joint locked at a value."""
        q = self.model.neutral_joint_q()
        q[self.column] = value
        found = all_solutions(self.model, self.link, pose, joint_group=self.rest, joint_q=q)
        solved = found.status[0] == SolveStatus.CONVERGED
        return found.joint_q[0, : found.n_found[0] if solved else 0]

    def at_an_edge(self, q):
        """Return True if a joint is at its limit or branches are about to meet."""
        own = q[self.chain.coordinates]
        room = np.minimum(own - self.chain.lower, self.chain.upper - own).min()
        starts, dofs = self.model.joint_q_start.numpy(), self.model.joint_qd_start.numpy()
        others = [c for c in self.chain.coordinates if c != self.column]
        joints = np.searchsorted(starts, others, side='right') - 1
        jacobian = self.pin.jacobian(q, self.link)[:, dofs[joints]]
        return room < 1e-3 or np.linalg.svd(jacobian, compute_uv=False)[-1] < 2e-3


@pytest.mark.parametrize('name', either(['panda', 'talos_full_v2'], ROBOTS))
def test_inside_there_are_solutions_and_outside_none(name):
    judge = Judge(name)
    poses, planted = judge.poses(either(1, 3))
    every = redundant_intervals(judge.model, judge.link, poses, judge.group)
    rng = np.random.default_rng(1)
    for pose, value, intervals in zip(poses, planted, every, strict=True):
        assert len(intervals) and np.all(np.diff(intervals.ravel()) > 0.0)
        low, high = intervals.T
        assert np.any((low <= value + 1e-9) & (value <= high + 1e-9))
        for t in rng.uniform(*judge.limits, either(8, 12)):
            inside = bool(np.any((low <= t) & (t <= high)))
            assert (len(judge.locked(pose, t)) > 0) == inside
        for end, sense in [*((t, 1.0) for t in low), *((t, -1.0) for t in high)]:
            assert len(judge.locked(pose, end + sense * BESIDE)) > 0
            if min(abs(end - limit) for limit in judge.limits) > BESIDE:
                assert not len(judge.locked(pose, end - sense * BESIDE))
                assert any(map(judge.at_an_edge, judge.locked(pose, end + sense * 1e-9)))


def test_poses_without_any():
    judge = Judge('panda')
    far, nowhere = np.array([3.0, 0, 0, 0, 0, 0, 1.0]), np.full(7, np.nan)
    (one, other) = redundant_intervals(judge.model, judge.link, [far, nowhere])
    assert one.shape == other.shape == (0, 2)


def test_wrong_arguments_are_named():
    judge = Judge('panda')
    with pytest.raises(ArgumentError, match='redundant_values'):
        redundant_intervals(judge.model, judge.link, np.zeros((1, 7)), redundant_values=1)
    with pytest.raises(ArgumentError, match=r'poses must have shape \[n, 7\]'):
        redundant_intervals(judge.model, judge.link, np.zeros((1, 6)))
    with pytest.raises(ArgumentError, match='six joints leave none redundant'):
        redundant_intervals(judge.model, judge.link, np.zeros((1, 7)), judge.rest)

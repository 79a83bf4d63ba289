# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Link poses and Jacobians of every robot at random configurations, against Pinocchio."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.robots import ALL_URDFS
from support.robots.robots import IDS
from support.robots.robots import load
from support.robots.robots import PinocchioRobot
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS

from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.model import Model

N = either(8, 100)
pytestmark = pytest.mark.oracle

# A robot with every kind of joint, mounted askew and offset from its parents.
EVERY_JOINT_URDF = """<robot name="every_joint">
<link name="base"/><link name="slide"/><link name="turn"/><link name="plane"/><link name="float"/>
<link name="endless"/><link name="follow"/><link name="rigid"/>
<joint name="j_slide" type="prismatic"><parent link="base"/><child link="slide"/>
  <origin xyz="0.1 -0.2 0.3" rpy="0.4 -0.5 0.6"/><axis xyz="1 2 -2"/>
  <limit lower="-0.5" upper="0.7" velocity="1" effort="1"/></joint>
<joint name="j_turn" type="revolute"><parent link="slide"/><child link="turn"/>
  <origin xyz="0.3 0 0.1" rpy="-1 0.2 0"/><axis xyz="0.6 0 0.8"/>
  <limit lower="-2" upper="1" velocity="1" effort="1"/></joint>
<joint name="j_plane" type="planar"><parent link="turn"/><child link="plane"/>
  <origin xyz="0 0.2 0" rpy="0.3 0 1.2"/><axis xyz="0 0 1"/></joint>
<joint name="j_float" type="floating"><parent link="plane"/><child link="float"/>
  <origin xyz="0.1 0 0" rpy="0 0.7 0"/></joint>
<joint name="j_endless" type="continuous"><parent link="float"/><child link="endless"/>
  <origin xyz="0 0 0.4"/><axis xyz="0 1 0"/></joint>
<joint name="j_follow" type="revolute"><parent link="endless"/><child link="follow"/>
  <origin xyz="0.2 0 0"/><axis xyz="1 0 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/>
  <mimic joint="j_turn" multiplier="-0.5" offset="0.2"/></joint>
<joint name="j_rigid" type="fixed"><parent link="follow"/><child link="rigid"/>
  <origin xyz="0 0.1 0.1" rpy="1 2 3"/></joint>
</robot>"""


def rotation_errors(quaternions, rotations):
    """Angles between quaternions x, y, z, w [..., 4] and rotation matrices [..., 3, 3], [rad]."""
    theirs = rotations.reshape(-1, 3, 3)
    ours = Rotation.from_quat(quaternions.reshape(-1, 4)).as_matrix()
    # The norm of a rotation less the identity is sqrt(8) times the sine of half its angle.
    sines = np.linalg.norm(ours - theirs, axis=(1, 2)) / np.sqrt(8.0)
    return 2.0 * np.arcsin(np.minimum(sines, 1.0))


def check(model, oracle, dtype, position_tolerance, rotation_tolerance, jacobian_tolerance):
    """Compare N random configurations."""
    joint_q = model.random_joint_q(N, np.random.default_rng(7)).astype(dtype)
    body_q = np.full((N, model.body_count, 7), np.nan, dtype)
    eval_fk(model, joint_q, body_q)
    links = links_to_check(model)
    jacobians = {}
    for link in links:
        jacobians[link] = np.full((N, 6, model.joint_dof_count), np.nan, dtype)
        eval_jacobian(model, joint_q, link, jacobians[link])
    names = list(oracle.poses(joint_q[0].astype(np.float64)))
    positions, rotations = np.zeros((N, len(names), 3)), np.zeros((N, len(names), 3, 3))
    for i in range(N):
        q = joint_q[i].astype(np.float64)
        for k, pose in enumerate(oracle.poses(q).values()):
            positions[i, k], rotations[i, k] = pose
        # Two links at every configuration, the others at every tenth.
        for link in links if i % 10 == 0 else {links[-1], links[len(links) // 2]}:
            expected = oracle.jacobian(q, model.body_label[link])
            assert np.abs(jacobians[link][i] - expected).max(initial=0.0) <= jacobian_tolerance
    ours = body_q[:, [model.body_index(name) for name in names]].astype(np.float64)
    apart = np.abs(ours[..., :3] - positions).max(axis=(0, 2))
    assert (apart <= position_tolerance).all(), (names, apart)
    turned = rotation_errors(ours[..., 3:], rotations).reshape(N, -1).max(axis=0)
    assert (turned <= rotation_tolerance).all(), (names, turned)


def links_to_check(model):
    """Return the last link, one in the middle, and every fifth."""
    return sorted({model.body_count - 1, model.body_count // 2, *range(1, model.body_count, 5)})


@pytest.mark.parametrize(
    ('path', 'floating'),
    [(path, False) for path in ALL_URDFS] + [(path, True) for path in SOME_URDFS],
    ids=[*IDS, *(f'{name} floating' for name in SOME_IDS)],
)
def test_every_robot(path, floating):
    model = load(path, floating)
    oracle = PinocchioRobot(path.read_text(), model, floating)
    # float32: 1e-5 m and rad over chains of up to 3 m; float64 is equal to rounding.
    check(model, oracle, np.float32, 1e-5, 1e-5, 1e-4)
    check(model, oracle, np.float64, 1e-12, 1e-9, 1e-12)


def test_every_kind_of_joint():
    model = Model.from_urdf(EVERY_JOINT_URDF, device='cpu')
    oracle = PinocchioRobot(EVERY_JOINT_URDF, model)
    check(model, oracle, np.float32, 1e-5, 1e-5, 1e-4)
    check(model, oracle, np.float64, 1e-12, 1e-9, 1e-12)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Link poses and motion subspaces from the nodes of a step, against those of the whole tree."""

import numpy as np
import pytest
from support.robots.random_pose import random_pose
from support.robots.robots import load
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS
import warp as wp

from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.stepping.step_tree import launch_place_nodes
from ros_ik.kinematics.stepping.step_tree import make_step_tree
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model import JointType
from ros_ik.model import ModelBuilder


def mixed_model():
    """Return a tree with every kind of joint; child anchors are not the identity."""
    builder = ModelBuilder()
    rng = np.random.default_rng(0)
    pose = {'parent_xform': random_pose(rng, 1.0), 'child_xform': random_pose(rng, 1.0)}
    links = [builder.add_link(label=f'link{k}') for k in range(8)]
    axes = [
        ModelBuilder.JointDofConfig(axis=axis) for axis in ((1, 0, 0), (0, 1, 0), (0.6, 0, 0.8))
    ]
    joints = [
        builder.add_joint_free(child=links[0], **pose),
        builder.add_joint_ball(parent=links[0], child=links[1], **pose),
        builder.add_joint_revolute(parent=links[1], child=links[2], axis=(0.6, 0.8, 0), **pose),
        builder.add_joint_fixed(parent=links[2], child=links[3], **pose),
        builder.add_joint_fixed(parent=links[3], child=links[4], **pose),
        builder.add_joint_prismatic(parent=links[4], child=links[5], axis=(0, 0, 1), **pose),
        builder.add_joint_d6(
            parent=links[2], child=links[6], linear_axes=axes[:1], angular_axes=axes[1:], **pose
        ),
        builder.add_joint_fixed(parent=links[6], child=links[7], **pose),
    ]
    builder.add_articulation(joints)
    return builder.finalize(device='cpu')


def assert_places(model, links, rng):
    """Check that the nodes of some links have the poses and twists of the whole tree."""
    n = 3
    tree = kinematic_tree(model, wp.float64)
    joint_q = wp.array(model.random_joint_q(n, rng), dtype=wp.float64, device='cpu')
    poses = [wp.zeros((n, model.body_count), dtype=wp.transformd, device='cpu') for _ in range(2)]
    shape = (n, model.joint_dof_count)
    twists = [wp.zeros(shape, dtype=wp.spatial_vectord, device='cpu') for _ in range(2)]
    launch_forward_kinematics(tree, joint_q, poses[0])
    launch_motion_subspace(tree, joint_q, poses[0], twists[0])
    order = tree.arrays.joint_order.numpy()
    launch_place_nodes(
        make_step_tree(model, order, links, wp.float64), joint_q, poses[1], twists[1]
    )
    checked = list(range(model.body_count)) if links is None else list(links)
    expected, placed = (pose.numpy()[:, checked] for pose in poses)
    np.testing.assert_allclose(placed[..., :3], expected[..., :3], atol=1e-12)
    # A quaternion and its negative are the same rotation.
    same = np.abs(np.sum(placed[..., 3:] * expected[..., 3:], axis=-1))
    np.testing.assert_allclose(same, 1.0, atol=1e-12)
    moved = np.any(twists[1].numpy() != 0.0, axis=(0, 2))
    if links is None:
        assert moved.all()
    np.testing.assert_allclose(
        twists[1].numpy()[:, moved], twists[0].numpy()[:, moved], atol=1e-12
    )
    return moved


@pytest.mark.parametrize('path', SOME_URDFS, ids=SOME_IDS)
def test_nodes_place_links_like_the_whole_tree(path):
    rng = np.random.default_rng(0)
    model = load(path)
    if model.joint_dof_count:
        assert_places(model, None, rng)
        assert_places(model, [int(rng.integers(model.body_count))], rng)


def test_nodes_of_every_kind_of_joint():
    model, rng = mixed_model(), np.random.default_rng(1)
    assert {int(kind) for kind in model.joint_type.numpy()} == {
        JointType.FREE, JointType.BALL, JointType.REVOLUTE, JointType.FIXED, JointType.PRISMATIC,
        JointType.D6,
    }  # fmt: skip
    assert_places(model, None, rng)
    moved = assert_places(model, [7], rng)
    assert not moved[10]  # the prismatic joint is on another branch
    assert_places(model, [5, 0], rng)

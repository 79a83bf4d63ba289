# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batches of reachable pose targets, and small models of every joint kind built with Newton."""

import types

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.objectives import IKObjectivePose

newton = pytest.importorskip('newton', reason='newton, the oracle, is not installed')

# What newton.ik reads of a model; ours may read no more, but for what it looks up with a default.
NEWTON_IK_FIELDS = (
    'device', 'body_count', 'joint_count', 'joint_coord_count', 'joint_dof_count',
    'articulation_count', 'joint_type', 'joint_parent', 'joint_child', 'joint_ancestor',
    'joint_articulation', 'joint_q_start', 'joint_qd_start', 'joint_dof_dim', 'joint_axis',
    'joint_X_p', 'joint_X_c', 'joint_limit_lower', 'joint_limit_upper', 'body_q', 'body_com',
    'articulation_start', 'articulation_end', 'body_flags', '_fk_joint_order', '_has_rod_joints',
)  # fmt: skip

KINDS = ('revolute', 'prismatic', 'ball', 'free', 'd6', 'fixed')


def to_warp(values, dtype=wp.float32):
    """Return a Warp array on the CPU."""
    return wp.array(np.asarray(values, dtype=np.float32), dtype=dtype, device='cpu')


def panda():
    """Return the Panda on the CPU."""
    return Model.from_urdf(urdf_text('panda'), device='cpu')


class PoseProblems:
    """Reachable poses of a link, and random seeds.

    Attributes:
        model: The model.
        link: The link.
        poses: Targets, [n, 7].
        seeds: Seeds, float32 [n, coords].
    """

    def __init__(self, model, link, n, rng_seed=0):
        rng = np.random.default_rng(rng_seed)
        self.model, self.link = model, link
        body_q = np.zeros((n, model.body_count, 7))
        eval_fk(model, model.random_joint_q(n, rng), body_q)
        self.poses = body_q[:, link].copy()
        self.seeds = model.random_joint_q(n, rng).astype(np.float32)

    def objective(self, rows=slice(None)):
        """Return our pose objective."""
        return IKObjectivePose(self.link, self.poses[rows])

    def errors(self, joint_q):
        """Return position [m] and rotation [rad] errors, each [n], by forward kinematics."""
        body_q = np.zeros((len(joint_q), self.model.body_count, 7))
        eval_fk(self.model, np.asarray(joint_q, dtype=np.float64), body_q)
        reached = body_q[:, self.link]
        dot = np.abs(np.sum(reached[:, 3:] * self.poses[:, 3:], axis=1))
        return (
            np.linalg.norm(reached[:, :3] - self.poses[:, :3], axis=1),
            2.0 * np.arccos(np.clip(dot, 0.0, 1.0)),
        )


def solve(solver, joint_q_in, **options):
    """Run a solver from NumPy seeds and return the result as NumPy."""
    start = to_warp(joint_q_in)
    out = wp.zeros_like(start)
    solver.step(start, out, **options)
    return out.numpy()


def newton_model(kind):
    """Return a finalized newton.Model: a post, a joint of one kind, two revolute joints.

    Every joint has offsets on both sides, so that a forgotten transform shows.
    """
    builder = newton.ModelBuilder()
    links = [builder.add_link(mass=1.0) for _ in range(4)]
    rng = np.random.default_rng(KINDS.index(kind))

    def ends():
        for _ in range(2):
            q = rng.normal(size=4)
            yield wp.transform(wp.vec3(*rng.uniform(-0.3, 0.3, 3)), wp.normalize(wp.quat(*q)))

    def frames():
        return dict(zip(('parent_xform', 'child_xform'), ends(), strict=True))

    joints = [
        builder.add_joint_revolute(
            -1, links[0], axis=(0.0, 0.0, 1.0), limit_lower=-2.0, limit_upper=2.5, **frames()
        ),
        _add_joint(builder, kind, links[0], links[1], frames()),
    ]
    for parent, child in ((1, 2), (2, 3)):
        axis = rng.normal(size=3)
        joints.append(
            builder.add_joint_revolute(
                links[parent], links[child], axis=tuple(axis / np.linalg.norm(axis)),
                limit_lower=-1.5, limit_upper=1.8, **frames(),
            )
        )  # fmt: skip
    builder.add_articulation(joints)
    return builder.finalize(device='cpu')


def _add_joint(builder, kind, parent, child, frames):
    dof = newton.ModelBuilder.JointDofConfig
    if kind == 'revolute':
        return builder.add_joint_revolute(parent, child, axis=(0.0, 1.0, 0.0), **frames)
    if kind == 'prismatic':
        return builder.add_joint_prismatic(
            parent, child, axis=(0.0, 0.6, 0.8), limit_lower=-0.4, limit_upper=0.2, **frames
        )
    if kind == 'ball':
        return builder.add_joint_ball(parent, child, **frames)
    if kind == 'free':
        return builder.add_joint_free(child, parent=parent, **frames)
    if kind == 'd6':
        return builder.add_joint_d6(
            parent,
            child,
            linear_axes=[dof(axis=(1.0, 0.0, 0.0), limit_lower=-0.3, limit_upper=0.5)],
            angular_axes=[
                dof(axis=(0.0, 1.0, 0.0), limit_lower=-1.0, limit_upper=1.2),
                dof(axis=(0.0, 0.0, 1.0), limit_lower=-0.7, limit_upper=0.9),
            ],
            **frames,
        )
    return builder.add_joint_fixed(parent, child, **frames)


def random_newton_q(model, n, rng):
    """Return configurations of a newton.Model inside its limits, float32 [n, coords]."""
    q = rng.uniform(-0.6, 0.6, (n, model.joint_coord_count))
    starts, kinds = model.joint_q_start.numpy(), model.joint_type.numpy()
    quaternion = (newton.JointType.BALL, newton.JointType.FREE)
    for joint, kind in enumerate(kinds.tolist()):
        if kind in quaternion:
            end = starts[joint + 1]
            q[:, end - 4 : end] = rng.normal(size=(n, 4))
            q[:, end - 4 : end] /= np.linalg.norm(q[:, end - 4 : end], axis=1, keepdims=True)
        elif kind == newton.JointType.PRISMATIC:
            q[:, starts[joint]] *= 0.3
        elif kind == newton.JointType.D6:
            q[:, starts[joint]] *= 0.4
    return q.astype(np.float32)


def newton_poses(model, joint_q, link):
    """Return poses of a link by Newton's own forward kinematics, [n, 7]."""
    state = model.state()
    qd = wp.zeros(model.joint_dof_count, dtype=wp.float32, device='cpu')
    poses = []
    for q in joint_q:
        newton.eval_fk(model, to_warp(q), qd, state)
        poses.append(state.body_q.numpy()[link].copy())
    return np.array(poses)


def bare_model(model):
    """Return a namespace with the fields that newton.ik reads, and nothing else."""
    return types.SimpleNamespace(**{name: getattr(model, name) for name in NEWTON_IK_FIELDS})

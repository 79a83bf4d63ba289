# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""An objective evaluated as by a solver: residuals, and the Jacobian in three ways."""

import functools

import numpy as np
from support.robots.random_pose import random_pose
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
import warp as wp

from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model import ModelBuilder
from ros_ik.model.builder import DofData
from ros_ik.objectives import IKJacobianType
from ros_ik.objectives import IKObjective

# The rows of the objective under test lie between other rows, which it must not change.
START, BEHIND = 2, 1
STEP = 1e-6


@functools.cache
def built_model():
    """Return a tree with a free, a ball, D6, revolute and prismatic joints, and masses."""
    rng = np.random.default_rng(11)

    def dofs(count):
        axes = rng.normal(size=(count, 3))
        return [DofData(tuple(a / np.linalg.norm(a)), -1.0, 1.0) for a in axes]

    builder = ModelBuilder()
    for name in ('base', 'ball', 'd6', 'hinge', 'slider', 'side', 'tip', 'single'):
        builder.add_link(name, mass=rng.uniform(0.5, 2.0), com=rng.uniform(-0.2, 0.2, 3))

    def poses():
        return {'parent_xform': random_pose(rng), 'child_xform': random_pose(rng)}

    builder.add_joint_free(-1, 0, **poses())
    builder.add_joint_ball(0, 1, **poses())
    builder.add_joint_d6(1, 2, linear_axes=dofs(2), angular_axes=dofs(3), **poses())
    builder.add_joint_revolute(2, 3, dof=dofs(1)[0], **poses())
    builder.add_joint_prismatic(3, 4, dof=dofs(1)[0], **poses())
    builder.add_joint_d6(1, 5, angular_axes=dofs(2), **poses())
    builder.add_joint_revolute(4, 6, dof=dofs(1)[0], **poses())
    builder.add_joint_d6(6, 7, angular_axes=dofs(1), **poses())
    return builder.finalize('cpu')


def robot(name):
    """Return a model by name: 'panda', 'ur5', 'talos', 'talos floating' or 'built'."""
    if name == 'built':
        return built_model()
    (path,) = (path for path in ALL_URDFS if path.stem == FILES[name.split()[0]])
    return load(path, 'floating' in name)


FILES = {'panda': 'panda', 'ur5': 'ur5_robot', 'talos': 'talos_reduced'}
ROBOTS = ('panda', 'ur5', 'talos', 'talos floating', 'built')
# A link near the end of each robot, and one on another branch or nearer to the base.
LINKS = {
    'panda': ('panda_hand_tcp', 'panda_link3'),
    'ur5': ('ee_link', 'forearm_link'),
    'talos': ('gripper_right_base_link', 'leg_left_6_link'),
    'talos floating': ('gripper_right_base_link', 'leg_left_6_link'),
    'built': ('tip', 'side'),
}


def links(name):
    """Return the indices of the two links of a robot."""
    return [robot(name).body_index(link) for link in LINKS[name]]


class Batch:
    """Configurations of one model, with poses and motion subspaces, in one type."""

    def __init__(self, model, joint_q, scalar=wp.float64):
        types = spatial_functions(scalar)
        self.model, self.scalar = model, scalar
        self.n = len(joint_q)
        self.tree = kinematic_tree(model, scalar)
        self.joint_q = wp.array(joint_q, dtype=scalar, ndim=2, device='cpu')
        self.body_q = wp.zeros((self.n, model.body_count), dtype=types.transform, device='cpu')
        self.joint_S_s = wp.zeros((self.n, model.joint_dof_count), dtype=types.twist, device='cpu')
        launch_forward_kinematics(self.tree, self.joint_q, self.body_q)
        launch_motion_subspace(self.tree, self.joint_q, self.body_q, self.joint_S_s)


def indices(problem_idx):
    """Return problem indices as an array, None for None."""
    if problem_idx is None:
        return None
    return wp.array(problem_idx, dtype=wp.int32, device='cpu')


def set_up(objective, model, n, mode=IKJacobianType.ANALYTIC):
    """Set an objective up in Newton's order, and return the number of all rows."""
    total = START + objective.residual_dim() + BEHIND
    objective.set_batch_layout(total, START, n)
    objective.bind_device('cpu')
    objective.init_buffers(model=model, jacobian_mode=mode)
    return total


def own_rows(array, objective, untouched):
    """Return the rows of the objective after a check that all others are unchanged."""
    end = START + objective.residual_dim()
    others = np.delete(array, np.s_[START:end], axis=1)
    assert np.all((others == untouched) | np.isnan(others) & np.isnan(untouched))
    return array[:, START:end].astype(np.float64)


def residuals(objective, model, joint_q, problem_idx=None, scalar=wp.float64):
    """Residuals at each configuration, [n, residual_dim]."""
    batch = Batch(model, joint_q, scalar)
    total = set_up(objective, model, batch.n)
    out = wp.full((batch.n, total), float('nan'), dtype=scalar, device='cpu')
    objective.compute_residuals(
        batch.body_q, batch.joint_q, model, out, START, problem_idx=indices(problem_idx)
    )
    return own_rows(out.numpy(), objective, np.nan)


def analytic(objective, model, joint_q, problem_idx=None, scalar=wp.float64):
    """Analytic Jacobian at each configuration, [n, residual_dim, dofs]."""
    residuals(objective, model, joint_q, problem_idx, scalar)  # tells it problem_idx
    batch = Batch(model, joint_q, scalar)
    total = set_up(objective, model, batch.n)
    shape = (batch.n, total, model.joint_dof_count)
    jacobian = wp.zeros(shape, dtype=scalar, device='cpu')
    objective.compute_jacobian_analytic(
        batch.body_q, batch.joint_q, model, jacobian, batch.joint_S_s, START
    )
    return own_rows(jacobian.numpy(), objective, 0.0)


def autodiff(objective, model, joint_q, problem_idx=None, scalar=wp.float32, flat=True):
    """Jacobian from a tape at each configuration, recorded as Newton's optimizers do."""
    n, dofs = len(joint_q), model.joint_dof_count
    types, tree = spatial_functions(scalar), kinematic_tree(model, scalar)
    total = set_up(objective, model, n, IKJacobianType.AUTODIFF)

    def zeros(*shape, dtype=scalar):
        return wp.zeros(shape, dtype=dtype, device='cpu', requires_grad=True)

    start = wp.array(joint_q, dtype=scalar, ndim=2, device='cpu')
    step, moved, out = zeros(n, dofs), zeros(n, model.joint_coord_count), zeros(n, total)
    body_q = zeros(n, model.body_count, dtype=types.transform)
    tape = wp.Tape()
    with tape:
        launch_integrate(tree, start, step, moved, differentiable=True)
        launch_forward_kinematics(tree, moved, body_q, differentiable=True)
        objective.compute_residuals(
            body_q, moved, model, out, START, problem_idx=indices(problem_idx)
        )
        tape.outputs = [out.flatten() if flat else out]
    jacobian = wp.zeros((n, total, dofs), dtype=scalar, device='cpu')
    objective.compute_jacobian_autodiff(tape, model, jacobian, START, step)
    if isinstance(objective, IKObjective):  # Newton leaves that to its solvers
        assert not np.any(step.grad.numpy())
    return own_rows(jacobian.numpy(), objective, 0.0)


def finite_differences(objective, model, joint_q, problem_idx=None):
    """Central differences of the residuals over q (+) dq, [n, residual_dim, dofs]."""
    n, dofs = len(joint_q), model.joint_dof_count
    tree = kinematic_tree(model, wp.float64)
    steps = np.concatenate([np.eye(dofs), -np.eye(dofs)]) * STEP
    rows = np.repeat(joint_q, 2 * dofs, axis=0)
    moved = wp.zeros(rows.shape, dtype=wp.float64, device='cpu')
    launch_integrate(
        tree,
        wp.array(rows, dtype=wp.float64, ndim=2, device='cpu'),
        wp.array(np.tile(steps, (n, 1)), dtype=wp.float64, device='cpu'),
        moved,
    )
    problems = np.arange(n) if problem_idx is None else np.asarray(problem_idx)
    values = residuals(objective, model, moved.numpy(), np.repeat(problems, 2 * dofs))
    values = values.reshape(n, 2, dofs, -1)
    return np.swapaxes(values[:, 0] - values[:, 1], 1, 2) / (2 * STEP)


def check_jacobians(objective, model, joint_q, problem_idx=None, scale=1.0, double_tape=False):
    """Assert that the Jacobians agree, and return the exact one.

    Args:
        scale: Bound on the second and third derivatives of the residuals beyond the usual.
        double_tape: True to record a tape in float64 as well, as no solver does. Its kernels take
            as long to compile as all others of an objective.
    """
    exact = analytic(objective, model, joint_q, problem_idx)
    assert np.abs(exact).max() > 1e-3  # something to compare
    # Central differences: truncation 1e-12 times the third derivative, rounding 1e-16 / 1e-6
    # times a few operations on values of a few metres.
    differences = finite_differences(objective, model, joint_q, problem_idx)
    np.testing.assert_allclose(exact, differences, atol=2e-8 * scale)
    if double_tape:
        # The same sums in another order.
        tape = autodiff(objective, model, joint_q, problem_idx, wp.float64, flat=False)
        np.testing.assert_allclose(tape, exact, atol=1e-12 * scale)
    # float32 has 6e-8 relative; a chain of ten joints of a metre adds up some tens of them.
    single = analytic(objective, model, joint_q, problem_idx, wp.float32)
    np.testing.assert_allclose(single, exact, atol=2e-5 * scale)
    tape = autodiff(objective, model, joint_q, problem_idx, wp.float32)
    np.testing.assert_allclose(tape, exact, atol=2e-5 * scale)
    return exact


def link_poses(name, joint_q):
    """Poses of the two links of a robot, [n, 2] of (position, rotation matrix).

    From Pinocchio, but for the model that it does not know.
    """
    model, (link, other) = robot(name), links(name)
    if name == 'built':
        poses = np.zeros((len(joint_q), model.body_count, 7))
        eval_fk(model, joint_q, poses)
        return [
            [(pose[k, :3], pin.Quaternion(pose[k, 3:]).toRotationMatrix()) for k in (link, other)]
            for pose in poses
        ]
    oracle = pinocchio_robot(name)
    found = []
    for q in joint_q:
        poses = oracle.poses(q)
        found.append([poses[label] for label in LINKS[name]])
    return found


@functools.cache
def pinocchio_robot(name):
    """Return a robot in Pinocchio."""
    (path,) = (path for path in ALL_URDFS if path.stem == FILES[name.split()[0]])
    return PinocchioRobot(path.read_text(), robot(name), 'floating' in name)


class Owner:
    """A solver, as an objective that it claims sees it."""

    def __init__(self, model=None, device=None):
        self.model, self.device = model, device

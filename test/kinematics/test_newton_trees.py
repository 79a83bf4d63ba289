# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Models that are not one tree of joints: loop joints, links without a joint, bad references.

The oracle is Newton's own forward kinematics.
"""

import numpy as np
import pytest
from support.solvers.ik_problems import newton
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik import DlsSolver
from ros_ik import IkChain
from ros_ik import IKObjectivePosition
from ros_ik import IKSolver
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_com
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.model import ModelBuilder
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task
from ros_ik.solvers.pose_ik.solver import ChainIK

pytestmark = pytest.mark.oracle
POST = (0.3, -0.2, 0.1, *np.array([0.1, 0.2, -0.3, 0.9]) / np.linalg.norm([0.1, 0.2, -0.3, 0.9]))
ORDERS = ('first', 'last')


def looped(order, reverse=False):
    """Three hinges on a post that no joint places, and a joint that closes a loop at the tip."""
    builder = newton.ModelBuilder()
    links = [builder.add_link(mass=1.0, inertia=np.eye(3)) for _ in range(3)]
    if reverse:
        links = links[::-1]
    post = builder.add_link(xform=wp.transform(POST[:3], POST[3:]), mass=1.0, inertia=np.eye(3))

    def close():
        # Another carrier of the last link, with an axis and an offset of its own.
        builder.add_joint_revolute(
            post, links[2], axis=(1.0, 0.0, 0.0), parent_xform=wp.transform((0.5, 0.5, 0.5))
        )

    if order == 'first':
        close()
    arm = [
        builder.add_joint_revolute(
            parent, child, axis=axis, parent_xform=wp.transform((0.1, 0.0, 0.4)),
            limit_lower=-2.0, limit_upper=2.0,
        )
        for parent, child, axis in zip(
            [post, *links[:2]], links, [(0, 0, 1), (0, 1, 0), (1, 1, 0)], strict=True
        )
    ]  # fmt: skip
    builder.add_articulation(arm)
    if order == 'last':
        close()
    return builder.finalize(device='cpu', skip_validation_joints=True), links, post


def newtons_poses(model, q):
    poses = []
    for row in q:
        state = model.state()
        newton.eval_fk(model, to_warp(row), to_warp(np.zeros(model.joint_dof_count)), state)
        poses.append(state.body_q.numpy())
    return np.array(poses, dtype=np.float64)


@pytest.fixture(params=[(o, reverse) for o in ORDERS for reverse in (False, True)], ids=str)
def rig(request):
    return looped(*request.param)


def test_forward_kinematics_and_jacobian(rig):
    model, links, post = rig
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.5, 1.5, (5, model.joint_coord_count))
    body_q = np.zeros((5, model.body_count, 7))
    eval_fk(model, q, body_q)
    theirs = newtons_poses(model, q)
    np.testing.assert_allclose(body_q[..., :3], theirs[..., :3], atol=1e-6)
    same = np.abs(np.sum(body_q[..., 3:] * theirs[..., 3:], axis=-1))
    np.testing.assert_allclose(same, 1.0, atol=1e-6)  # no quaternion is zero either
    for link in links:
        jacobian = np.zeros((5, 6, model.joint_dof_count))
        eval_jacobian(model, q, link, jacobian)
        for dof in range(model.joint_dof_count):
            h = np.zeros(model.joint_coord_count)
            h[dof] = 1e-2  # Newton's poses are in float32
            moved = newtons_poses(model, q + h)[:, link] - newtons_poses(model, q - h)[:, link]
            np.testing.assert_allclose(jacobian[:, :3, dof], moved[:, :3] / 2e-2, atol=2e-4)
    center = np.zeros((5, 3))
    eval_com(model, q, center)
    np.testing.assert_allclose(center, theirs[..., :3].mean(axis=1), atol=1e-6)


@pytest.mark.parametrize(
    'options',
    [
        {'use_fused': True}, {'use_fused': False, 'jacobian_mode': 'analytic'},
        {'use_fused': False, 'jacobian_mode': 'autodiff'}, {'optimizer': 'lbfgs'},
    ],
    ids=str,
)  # fmt: skip
def test_solvers_reach_positions(rig, options):
    model, links, _ = rig
    rng = np.random.default_rng(1)
    goals = rng.uniform(-1.5, 1.5, (12, model.joint_coord_count))
    targets = newtons_poses(model, goals)[:, links[2], :3]
    start = goals + rng.normal(0.0, 0.05, goals.shape)
    objective = IKObjectivePosition(links[2], (0.0, 0.0, 0.0), targets)
    solver = IKSolver(model, 12, [objective], **options)
    q = to_warp(start)
    solver.step(q, q, iterations=60)
    converged = solver.status.numpy() == SolveStatus.CONVERGED
    assert converged.mean() >= 0.9
    reached = newtons_poses(model, q.numpy())[:, links[2], :3]
    assert np.abs(reached - targets)[converged].max() < 1.1e-3


def test_a_chain_starts_where_the_post_stands(rig):
    model, links, _ = rig
    chain = IkChain(model, links[2])
    q = np.random.default_rng(2).uniform(-1.5, 1.5, (4, model.joint_coord_count))
    theirs = newtons_poses(model, q)[:, links[2]]
    np.testing.assert_allclose(chain.get_end_effector_pose(q)[:, :3], theirs[:, :3], atol=1e-6)
    solver = DlsSolver(tolerance=1e-5)
    solver.solve(chain, q, theirs)
    assert (solver.status == SolveStatus.CONVERGED).all()


def test_a_link_that_nothing_places_is_refused_as_newton_does(rig):
    model, _, post = rig
    target = np.zeros((1, 3), dtype=np.float32)
    with pytest.raises(ValueError, match='incoming articulation joint'):
        newton.ik.IKSolver(
            model, 1, [newton.ik.IKObjectivePosition(post, wp.vec3(), to_warp(target, wp.vec3))]
        )
    for use_fused in (True, False):
        with pytest.raises(ArgumentError, match=f'link_index {post}.*never moves'):
            IKSolver(
                model, 1, [IKObjectivePosition(post, (0, 0, 0), target)], use_fused=use_fused
            )


def on_a_post():
    """Our own model: two hinges and a tool on a link without a joint."""
    builder = ModelBuilder()
    post = builder.add_link('post', xform=POST, mass=1.0)
    links = [builder.add_link(name, mass=1.0) for name in ('upper', 'tool')]
    for parent, child, axis in zip([post, links[0]], links, [(0, 0, 1), (0, 1, 0)], strict=True):
        builder.add_joint_revolute(
            parent, child, axis=axis, parent_xform=(0.1, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0),
            limit_lower=-2.0, limit_upper=2.0,
        )  # fmt: skip
    return builder.finalize('cpu'), post, links


def test_our_own_model_on_a_post():
    model, post, links = on_a_post()
    q = np.array([0.4, -0.7])
    body_q = np.zeros((1, 3, 7))
    eval_fk(model, q[None], body_q)
    np.testing.assert_allclose(body_q[0, post], POST, atol=1e-7)
    solver = DifferentialIK(model)
    np.testing.assert_allclose(solver.body_poses(q), body_q[0], atol=1e-12)
    task = Task(IKObjectivePosition(links[1], (0, 0, 0.3), body_q[0, links[1], :3]))
    error = solver.task_errors(q, [task])[0]
    step = np.zeros(2)
    assert solver.solve_ik(q, [task], (), (), step) is SolveStatus.CONVERGED
    jacobian = np.zeros((1, 6, 2))
    eval_jacobian(model, q[None], links[1], jacobian)
    # The tool's point is 0.3 m along its z axis: the residual is minus that, in world axes.
    x, y, z, w = body_q[0, links[1], 3:]
    along = 0.3 * np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    np.testing.assert_allclose(error, -along, atol=1e-12)
    lever = jacobian[0, :3] + np.cross(jacobian[0, 3:].T, along).T
    np.testing.assert_allclose(step, np.linalg.lstsq(lever, error, rcond=None)[0], atol=1e-6)
    goal = body_q[:, links[1]]
    result = ChainIK(model, 'tool').solve(goal)
    assert result.status[0] == SolveStatus.CONVERGED
    eval_fk(model, result.joint_q[:1], body_q)
    np.testing.assert_allclose(body_q[0, links[1], :3], goal[0, :3], atol=1e-3)


@pytest.mark.parametrize(
    'column, row, index',
    [
        ('joint_child', 1, -1), ('joint_child', 1, 99), ('joint_child', 0, -2),
        ('joint_parent', 1, 99), ('joint_parent', 0, -2), ('joint_articulation', 0, 9),
        ('shape_body', 0, 99), ('constraint_mimic_joint0', 0, 7),
        ('constraint_mimic_joint1', 0, -1),
    ],
)  # fmt: skip
def test_references_to_nothing_are_refused(column, row, index):
    builder = ModelBuilder()
    links = [builder.add_link(mass=1.0) for _ in range(2)]
    joints = [builder.add_joint_revolute(p, c) for p, c in zip([-1, links[0]], links, strict=True)]
    builder.add_articulation(joints)
    builder.add_shape_sphere(links[0], radius=0.1)
    builder.add_constraint_mimic(joints[1], joints[0])
    getattr(builder, column)[row] = index
    with pytest.raises(ArgumentError, match=f'{column} of .*expected an index in .*got {index}'):
        builder.finalize('cpu')


@pytest.mark.parametrize('index', [-1, 99])
def test_a_newton_model_with_a_child_that_does_not_exist_is_refused(index):
    model, links, _ = looped('last')
    child = model.joint_child.numpy()
    child[0] = index
    model.joint_child.assign(child)
    q = np.zeros((1, model.joint_coord_count))
    with pytest.raises(ArgumentError, match=rf'joint_child of joint 0 .*got {index}'):
        eval_fk(model, q, np.zeros((1, model.body_count, 7)))
    with pytest.raises(ArgumentError, match=rf'joint_child of joint 0 .*got {index}'):
        eval_jacobian(model, q, links[1], np.zeros((1, 6, model.joint_dof_count)))

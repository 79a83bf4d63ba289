# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""IkChain and its solvers beside motrixsim, on an arm with the geometry of a Panda."""

import numpy as np
import pytest

from ros_ik.model import ModelBuilder
from ros_ik.model.builder import DofData
from ros_ik.solvers.chain.ik_chain import IkChain
from ros_ik.solvers.chain.ik_chain import JointState
from ros_ik.solvers.chain.solvers import DlsSolver
from ros_ik.solvers.chain.solvers import GaussNewtonSolver

motrixsim = pytest.importorskip('motrixsim', reason='motrixsim, the oracle, is not installed')
pytestmark = pytest.mark.oracle

H = np.sqrt(0.5)
# Position [m] and quaternion x y z w of each joint in its parent, limits [rad].
JOINTS = [
    ((0.0, 0.0, 0.333), (0.0, 0.0, 0.0, 1.0), (-2.8973, 2.8973)),
    ((0.0, 0.0, 0.0), (-H, 0.0, 0.0, H), (-1.7628, 1.7628)),
    ((0.0, -0.316, 0.0), (H, 0.0, 0.0, H), (-2.8973, 2.8973)),
    ((0.0825, 0.0, 0.0), (H, 0.0, 0.0, H), (-3.0718, -0.0698)),
    ((-0.0825, 0.384, 0.0), (-H, 0.0, 0.0, H), (-2.8973, 2.8973)),
    ((0.0, 0.0, 0.0), (H, 0.0, 0.0, H), (-0.0175, 3.7525)),
    ((0.088, 0.0, 0.0), (H, 0.0, 0.0, H), (-2.8973, 2.8973)),
]
HAND = ((0.0, 0.0, 0.107), (0.0, 0.0, -np.sin(np.pi / 8), np.cos(np.pi / 8)))
RADIUS, MASS = 0.05, 1.0  # every link is a ball about its joint
OFFSET = np.array([0.1, -0.05, 0.02, 0.0, 0.6, 0.0, 0.8], dtype=np.float32)
TOLERANCE = 1e-3  # the default of all solvers [m and rad]
N = 200


def mjcf():
    """Return the arm as MJCF, whose quaternions are w x y z."""
    ball = f'<geom type="sphere" size="{RADIUS}" mass="{MASS}"/>'
    text = f'<body name="base">{ball}'
    for k, (position, (x, y, z, w), (low, high)) in enumerate(JOINTS):
        place = ' '.join(map(str, position))
        text += (
            f'<body name="link_{k}" pos="{place}" quat="{w} {x} {y} {z}">{ball}'
            f'<joint name="joint_{k}" axis="0 0 1" range="{low} {high}"/>'
        )
    (x, y, z, w), place = HAND[1], ' '.join(map(str, HAND[0]))
    text += f'<body name="hand" pos="{place}" quat="{w} {x} {y} {z}">{ball}</body>'
    text += '</body>' * (len(JOINTS) + 1)
    compiler = '<compiler angle="radian" autolimits="true"/>'
    return f'<mujoco model="arm">{compiler}<worldbody>{text}</worldbody></mujoco>'


@pytest.fixture(scope='module')
def ours():
    """Return the arm as our model."""
    builder = ModelBuilder()
    ball = {'mass': MASS, 'inertia': 0.4 * MASS * RADIUS**2 * np.eye(3)}
    parent = builder.add_link('base', **ball)
    builder.add_joint_fixed(-1, parent)
    for k, (position, quaternion, limits) in enumerate(JOINTS):
        link = builder.add_link(f'link_{k}', **ball)
        dof = DofData((0.0, 0.0, 1.0), *limits)
        builder.add_joint_revolute(parent, link, dof=dof, parent_xform=(*position, *quaternion))
        parent = link
    hand = builder.add_link('hand', **ball)
    builder.add_joint_fixed(parent, hand, parent_xform=(*HAND[0], *HAND[1]))
    return builder.finalize('cpu')


@pytest.fixture(scope='module')
def theirs():
    return motrixsim.load_mjcf_str(mjcf())


def scene(model, joint_q, joint_qd=None):
    """Return motrixsim's state at these positions and velocities, link poses computed."""
    shape = joint_q.shape[:-1]
    data = motrixsim.SceneData(model, batch=shape) if shape else motrixsim.SceneData(model)
    data.set_dof_pos(joint_q.astype(np.float32), model)
    if joint_qd is not None:
        data.set_dof_vel(joint_qd.astype(np.float32))
    model.forward_kinematic(data)
    return data


def same_pose(a, b):
    """Largest difference, whatever the signs of the quaternions."""
    sign = np.sign((a[..., 3:] * b[..., 3:]).sum(-1, keepdims=True))
    return max(np.abs(a[..., :3] - b[..., :3]).max(), np.abs(a[..., 3:] - sign * b[..., 3:]).max())


@pytest.mark.parametrize('start', [None, 'link_2'])
def test_chain(ours, theirs, start):
    joint_q = ours.random_joint_q(20, np.random.default_rng(1)).astype(np.float32)
    chain = IkChain(ours, 'hand', start, OFFSET)
    other = motrixsim.ik.IkChain(theirs, 'hand', start, OFFSET)
    assert chain.num_links == other.num_links
    assert (chain.num_dof_pos, chain.num_dof_vel) == (other.num_dof_pos, other.num_dof_vel)
    for k in range(chain.num_links):
        assert chain.get_link(k).name == other.get_link(k).name
    data = scene(theirs, joint_q)
    # motrixsim computes in float32: 1e-5 m and rad over a metre.
    assert np.abs(chain.get_dof_pos(joint_q) - other.get_dof_pos(data)).max() <= 1e-6
    poses = chain.get_end_effector_pose(joint_q), other.get_end_effector_pose(data)
    assert same_pose(*poses) <= 1e-5
    jacobians = chain.get_end_effector_jac(joint_q), other.get_end_effector_jac(data)
    assert np.abs(jacobians[0] - jacobians[1]).max() <= 1e-5
    point = np.array([0.3, 0.1, -0.2], dtype=np.float32)
    difference = chain.get_end_point_jac(joint_q, point) - other.get_end_point_jac(data, point)
    assert np.abs(difference).max() <= 1e-5


def test_velocity_inertia_and_bias_force(ours, theirs):
    rng = np.random.default_rng(2)
    joint_q, joint_qd = ours.random_joint_q(1, rng)[0], rng.normal(size=7)
    chain, other = IkChain(ours, 'hand'), motrixsim.ik.IkChain(theirs, 'hand')
    data = scene(theirs, joint_q, joint_qd)
    state = JointState(joint_q, joint_qd)
    velocity = chain.get_end_effector_vel(state)
    # Its linear velocity is left out: for a hand on a fixed joint, it is not that of the point
    # whose Jacobian it returns. The Jacobian is right.
    assert np.abs(velocity[:3] - other.get_end_effector_vel(data)[:3]).max() <= 1e-5
    assert np.abs(velocity - other.get_end_effector_jac(data) @ joint_qd).max() <= 1e-5
    theirs.step(data)  # the matrices are those of its beginning
    inertia, bias = other.get_inertia_matrix(data), other.get_bias_force(data)
    assert np.abs(chain.get_inertia_matrix(state) - inertia).max() <= 1e-5 * np.abs(inertia).max()
    assert np.abs(chain.get_bias_force(state) - bias).max() <= 1e-5 * np.abs(bias).max()


@pytest.mark.parametrize('solver', ['adaptive', 'fixed', 'gauss_newton'])
def test_solvers(ours, theirs, solver):
    rng = np.random.default_rng(3)
    chain, other = IkChain(ours, 'hand'), motrixsim.ik.IkChain(theirs, 'hand')
    answers = ours.random_joint_q(N, rng)
    near = answers + rng.uniform(-0.3, 0.3, answers.shape)
    seeds = np.clip(near, chain.path.lower, chain.path.upper).astype(np.float32)
    targets = chain.get_end_effector_pose(answers).astype(np.float32)
    if solver == 'gauss_newton':
        mine, peer = GaussNewtonSolver(), motrixsim.ik.GaussNewtonSolver()
    else:
        # Less damping than this is lost in the rounding of motrixsim's float32.
        settings = {'damping': 0.02, 'adaptive_damping': solver == 'adaptive'}
        mine, peer = DlsSolver(**settings), motrixsim.ik.DlsSolver(**settings)
    rows = mine.solve(chain, seeds, targets)
    peer_rows = peer.solve(other, scene(theirs, seeds), targets)
    assert rows.shape == peer_rows.shape
    solved, peer_solved = rows[:, 1] <= TOLERANCE, peer_rows[:, 1] <= TOLERANCE
    assert solved.mean() >= max(0.98, peer_solved.mean())
    if solver == 'adaptive':
        return  # takes other steps, and stops early there
    # The same steps, so the same answer after the same number of iterations, but where a limit
    # was met on the way: motrixsim clamps there.
    both = solved & peer_solved
    same = both & (rows[:, 0] == peer_rows[:, 0])
    assert same.mean() >= 0.8
    assert np.median(np.abs(rows - peer_rows)[same, 2:].max(axis=1)) <= 1e-4
    assert rows[both, 0].mean() <= peer_rows[both, 0].mean()


def test_one_step(ours, theirs):
    chain = IkChain(ours, 'hand', None, OFFSET)
    other = motrixsim.ik.IkChain(theirs, 'hand', None, OFFSET)
    seed = np.array([0.3, -0.4, 0.5, -1.2, 0.6, 0.7, 0.1], dtype=np.float32)
    target = chain.get_end_effector_pose(seed).astype(np.float32)
    target[:3] += (0.02, -0.01, 0.015)
    # Damping enters squared on both sides.
    pairs = [(GaussNewtonSolver(1, 0.5, 1e-6), motrixsim.ik.GaussNewtonSolver(1, 0.5, 1e-6))]
    for damping in (1e-2, 1e-1):
        settings = {'damping': damping, 'adaptive_damping': False}
        peer = motrixsim.ik.DlsSolver(1, 0.5, 1e-6, **settings)
        pairs.append((DlsSolver(1, 0.5, 1e-6, **settings), peer))
    for mine, peer in pairs:
        row = mine.solve(chain, seed, target)
        assert np.abs(row - peer.solve(other, scene(theirs, seed), target)).max() <= 1e-4

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""IkChain: poses, Jacobians, inertia and bias force against Pinocchio and finite differences."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_bias_force
from ros_ik.kinematics import eval_mass_matrix
from ros_ik.model import Model
from ros_ik.solvers.chain.ik_chain import IkChain
from ros_ik.solvers.chain.ik_chain import JointState
from ros_ik.solvers.chain.ik_chain_path import chain_path
from ros_ik.solvers.chain.ik_chain_path import IkChainError
from ros_ik.solvers.chain.solvers import DlsSolver
from ros_ik.solvers.status import SolveStatus

# Robot, start link, end link: a fixed base, a chain that starts above a free base, one with a
# prismatic joint, one that carries a hand with fingers.
CHAINS = [
    ('panda', None, 'panda_hand'),
    ('panda', 'panda_link3', 'panda_link7'),
    ('talos_reduced', 'arm_left_1_link', 'gripper_left_base_link'),
    ('tiago', 'torso_lift_link', 'arm_7_link'),
    ('ur5_robot', 'shoulder_link', 'ee_link'),
]
N = 4
OFFSET = np.array([0.1, -0.2, 0.05, 0.2, -0.4, 0.1, 0.8])

# A finger whose second and third joints mimic the first; the third also mimics it through the
# second. The offset and the factors put the limits of the first joint inside its own.
MIMIC_URDF = """<robot name="finger">
<link name="base"/>
<link name="a"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><origin xyz="0.1 0.02 0"/><mass value="0.7"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="c"><inertial><origin xyz="0.05 0 0.01"/><mass value="0.4"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="thumb"><inertial><mass value="0.3"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j_a" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
  <limit lower="-1.5" upper="1.5" velocity="1" effort="1"/></joint>
<joint name="j_b" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.3 0 0"/>
  <axis xyz="0 0.6 0.8"/><limit lower="-1.5" upper="0.8" velocity="1" effort="1"/>
  <mimic joint="j_a" multiplier="0.5" offset="0.3"/></joint>
<joint name="j_c" type="prismatic"><parent link="b"/><child link="c"/><origin xyz="0.2 0 0"/>
  <axis xyz="1 0 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/>
  <mimic joint="j_b" multiplier="-0.4"/></joint>
<joint name="j_thumb" type="revolute"><parent link="base"/><child link="thumb"/>
  <origin xyz="0 0.1 0"/><axis xyz="1 0 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/>
  <mimic joint="j_a" multiplier="-1"/></joint>
</robot>"""


def robot(stem, floating=False):
    """Return our model of a robot and its URDF."""
    (path,) = (path for path in ALL_URDFS if path.stem == stem)
    return load(path, floating), path.read_text()


def chain_dofs(model, chain):
    """Return the degrees of freedom of the joints that carry the chain, found independently."""
    child, start = model.joint_child.numpy().tolist(), model.joint_qd_start.numpy()
    links = [chain.get_link(k).index for k in range(chain.num_links)]
    joints = [child.index(link) for link in links]
    return [dof for joint in joints for dof in range(start[joint], start[joint + 1])]


def assert_pose(pose, position, rotation):
    """Equal to a position and a rotation matrix."""
    assert np.abs(pose[:3] - position).max() <= 1e-12
    ours = pin.Quaternion(*np.roll(pose[3:], 1)).toRotationMatrix()
    assert np.abs(ours - rotation).max() <= 1e-12


def moved(model, joint_q, joint_qd, dt):
    """Coordinates after dt at constant velocities, joints of one coordinate each."""
    return model.apply_mimic(joint_q + dt * joint_qd)


@pytest.mark.oracle
@pytest.mark.parametrize(('stem', 'start', 'end'), CHAINS)
def test_poses_and_jacobians(stem, start, end):
    model, text = robot(stem)
    oracle = PinocchioRobot(text, model)
    plain, offset = IkChain(model, end, start), IkChain(model, end, start, OFFSET)
    dofs = chain_dofs(model, plain)
    tool = pin.Quaternion(*np.roll(OFFSET[3:] / np.linalg.norm(OFFSET[3:]), 1)).toRotationMatrix()
    joint_q = model.random_joint_q(N, np.random.default_rng(1))
    for q in joint_q:
        position, rotation = oracle.pose(q, end)
        assert_pose(plain.get_end_effector_pose(q), position, rotation)
        arm = rotation @ OFFSET[:3]
        assert_pose(offset.get_end_effector_pose(q), position + arm, rotation @ tool)
        expected = np.roll(oracle.jacobian(q, end)[:, dofs], 3, axis=0)  # angular rows first
        assert np.abs(plain.get_end_effector_jac(q) - expected).max() <= 1e-12
        expected[3:] -= pin.skew(arm) @ expected[:3]
        assert np.abs(offset.get_end_effector_jac(q) - expected).max() <= 1e-12
        # A point of the end link, with or without an offset of the end effector.
        for chain in (plain, offset):
            jacobian = chain.get_end_point_jac(q, OFFSET[:3])
            assert np.abs(jacobian - expected).max() <= 1e-12


@pytest.mark.parametrize(('stem', 'start', 'end'), CHAINS)
def test_inertia_and_bias_are_blocks_of_the_whole(stem, start, end):
    model, _ = robot(stem)
    chain = IkChain(model, end, start)
    dofs = chain_dofs(model, chain)
    rng = np.random.default_rng(2)
    n_dofs = model.joint_dof_count
    joint_q, joint_qd = model.random_joint_q(N, rng), rng.normal(size=(N, n_dofs))
    M, C = np.empty((N, n_dofs, n_dofs)), np.empty((N, n_dofs))
    for follower, (driver, _, factor) in model.mimic_driver.items():
        pair = model.joint_qd_start.numpy()[[follower, driver]]
        joint_qd[:, pair[0]] = factor * joint_qd[:, pair[1]]
    eval_mass_matrix(model, joint_q, M)
    eval_bias_force(model, joint_q, joint_qd, C)
    ours = chain.get_inertia_matrix(joint_q)
    assert np.abs(ours - M[:, dofs][:, :, dofs]).max() <= 1e-12
    assert np.array_equal(ours, chain.get_inertial_matrix(joint_q))
    assert np.linalg.eigvalsh(ours).min() > 0.0
    bias = chain.get_bias_force(JointState(joint_q, joint_qd))
    assert np.abs(bias - C[:, dofs]).max() <= 1e-12 * np.abs(C).max()
    assert np.array_equal(chain.get_dof_vel(JointState(joint_q, joint_qd)), joint_qd[:, dofs])
    assert np.array_equal(chain.get_dof_vel(joint_q), np.zeros((N, len(dofs))))


def test_velocity_is_that_of_the_point_in_the_world():
    model, _ = robot('talos_reduced', True)
    chain = IkChain(model, 'gripper_left_base_link', 'arm_left_1_link', OFFSET)
    rng = np.random.default_rng(3)
    joint_q, joint_qd = model.random_joint_q(1, rng)[0], rng.normal(size=model.joint_dof_count)
    joint_qd[:6] = 0.0  # a free base does not move by adding to its coordinates
    velocity = chain.get_end_effector_vel(JointState(joint_q, joint_qd))
    h = 1e-6
    step = np.concatenate([np.zeros(7), joint_qd[6:]])
    ahead = chain.get_end_effector_pose(moved(model, joint_q, step, h))
    behind = chain.get_end_effector_pose(moved(model, joint_q, step, -h))
    a, b = (pin.Quaternion(*np.roll(pose[3:], 1)).toRotationMatrix() for pose in (ahead, behind))
    # Central differences: h^2 truncation, eps / h rounding.
    assert np.abs(velocity[:3] - pin.log3(a @ b.T) / (2.0 * h)).max() <= 1e-8
    assert np.abs(velocity[3:] - (ahead - behind)[:3] / (2.0 * h)).max() <= 1e-8
    # The waist moves it as well, so it is more than the product of the chain's Jacobian.
    own = chain.get_end_effector_jac(joint_q) @ chain.get_dof_vel(JointState(joint_q, joint_qd))
    assert np.abs(velocity - own).max() > 0.01
    # The base alone: its twist is about the world origin, where its joint is anchored.
    joint_qd = np.concatenate([[1.0, 2.0, 3.0, 0.4, 0.5, 0.6], np.zeros(len(joint_qd) - 6)])
    velocity = chain.get_end_effector_vel(JointState(joint_q, joint_qd))
    position = chain.get_end_effector_pose(joint_q)[:3]
    expected = np.concatenate([joint_qd[3:6], joint_qd[:3] + np.cross(joint_qd[3:6], position)])
    assert np.abs(velocity - expected).max() <= 1e-12


def test_mimics_follow_whatever_the_data_says():
    model = Model.from_urdf(MIMIC_URDF, device='cpu')
    chain = IkChain(model, 'c', None, OFFSET)
    assert chain.num_dof_pos == chain.num_dof_vel == 1
    # j_b <= 0.8 keeps j_a below 1, although the limit of j_a is 1.5.
    assert chain.path.lower == pytest.approx([-1.5]) and chain.path.upper == pytest.approx([1.0])
    start = model.joint_q_start.numpy()
    k = {name: start[model.joint_index(name)] for name in ('j_a', 'j_b', 'j_c', 'j_thumb')}
    joint_q = np.full(4, 99.0)
    joint_q[k['j_a']] = 0.7
    honest = model.apply_mimic(joint_q)
    assert honest[k['j_b']] == pytest.approx(0.65) and honest[k['j_c']] == pytest.approx(-0.26)
    assert np.array_equal(
        chain.get_end_effector_pose(joint_q), chain.get_end_effector_pose(honest)
    )
    h = 1e-6
    ahead, behind = (
        chain.get_end_effector_pose(joint_q + s * np.eye(4)[k['j_a']]) for s in (h, -h)
    )
    jacobian = chain.get_end_effector_jac(joint_q)
    assert jacobian.shape == (6, 1)
    assert np.abs(jacobian[3:, 0] - (ahead - behind)[:3] / (2 * h)).max() <= 1e-8
    # Every follower moves with the driver, also the thumb beside the chain.
    rate = np.zeros(4)
    rate[list(k.values())] = 1.0, 0.5, -0.2, -1.0
    M, C = np.empty((1, 4, 4)), np.empty((1, 4))
    eval_mass_matrix(model, honest[None], M)
    eval_bias_force(model, honest[None], 2.0 * rate[None], C)
    assert chain.get_inertia_matrix(joint_q) == pytest.approx(rate @ M[0] @ rate)
    joint_qd = np.full(4, -7.0)
    joint_qd[k['j_a']] = 2.0
    state = JointState(joint_q, joint_qd)
    assert chain.get_bias_force(state) == pytest.approx(rate @ C[0])
    assert chain.get_end_effector_vel(state) == pytest.approx(2.0 * jacobian[:, 0])


def test_leading_dimensions_and_warp_arrays():
    model, _ = robot('panda')
    chain = IkChain(model, 'panda_hand')
    n_coords = model.joint_coord_count
    joint_q = model.random_joint_q(6, np.random.default_rng(4)).reshape(2, 3, n_coords)
    before = joint_q.copy()
    state = JointState(joint_q, np.ones((2, 3, model.joint_dof_count)))
    shapes = {
        chain.get_dof_pos: (7,), chain.get_dof_vel: (7,), chain.get_end_effector_pose: (7,),
        chain.get_end_effector_vel: (6,), chain.get_end_effector_jac: (6, 7),
        chain.get_inertia_matrix: (7, 7), chain.get_bias_force: (7,),
    }  # fmt: skip
    for getter, shape in shapes.items():
        result = getter(state)
        assert result.shape == (2, 3, *shape) and result.dtype == np.float64
        one = getter(JointState(joint_q[1, 2], np.ones(model.joint_dof_count)))
        assert np.array_equal(result[1, 2], one)
        assert getter(joint_q[:0]).shape == (0, 3, *shape)
    assert chain.get_end_point_jac(joint_q, [0.0, 0.1, 0.2]).shape == (2, 3, 6, 7)
    assert np.array_equal(joint_q, before)
    on_device = wp.array(joint_q[0], dtype=wp.float64, device='cpu')
    assert np.array_equal(
        chain.get_end_effector_pose(on_device), chain.get_end_effector_pose(joint_q[0])
    )


def test_links():
    model, _ = robot('panda')
    chain = IkChain(model, 'panda_hand', 'panda_link3')
    names = [chain.get_link(k).name for k in range(chain.num_links)]
    # The start link's own joint belongs to the chain; links on fixed joints count.
    assert names == [
        'panda_link3', 'panda_link4', 'panda_link5', 'panda_link6', 'panda_link7', 'panda_link8',
        'panda_hand',
    ]  # fmt: skip
    assert chain.num_dof_pos == 5
    assert chain.get_link(0).index == model.body_index('panda_link3')
    for index in (-1, chain.num_links):
        with pytest.raises(IndexError, match=rf'\[0, 7\), got {index}'):
            chain.get_link(index)
    assert IkChain(model, 'panda_hand').get_link(0).name == 'panda_link0'


BALL_URDF = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="loose" type="floating"><parent link="a"/><child link="b"/></joint>
<joint name="turn" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/></joint>
<joint name="rigid" type="fixed"><parent link="c"/><child link="d"/></joint></robot>"""

@pytest.mark.parametrize('link', ['a', 'b', 'c'])
def test_limits_of_a_mimic_joint_that_its_driver_cannot_keep_have_no_effect(link):
    text = MIMIC_URDF.replace('offset="0.3"', 'offset="5"')
    model = Model.from_urdf(text, device='cpu')
    assert any("joint 'j_b' mimic" in warning for warning in model.warnings)
    # The thumb still narrows nothing, and j_a keeps its own limits.
    path = chain_path(model, link, None)
    assert path.lower.tolist() == [-1.5] and path.upper.tolist() == [1.5]
    chain = IkChain(model, link)
    solver, joint_q = DlsSolver(100), model.random_joint_q(5, 0)
    found = solver.solve(chain, joint_q, chain.get_end_effector_pose(joint_q))
    assert np.all(solver.status == SolveStatus.CONVERGED) and np.all(np.isfinite(found))


@pytest.mark.parametrize(
    ('text', 'arguments', 'message'),
    [
        (BALL_URDF, ('d',), "joint 'loose' of the chain is a free joint"),
        (BALL_URDF, ('nowhere',), "end_link: .*'nowhere'"),
        (BALL_URDF, ('d', 'nowhere'), "start_link: .*'nowhere'"),
        (BALL_URDF, ('c', 'd'), "end_link 'c' does not lie behind start_link 'd'"),
        (BALL_URDF, ('d', 'd'), 'no joint moves'),
        (MIMIC_URDF, ('c', 'b'), "joint 'j_b' is in the chain and mimics 'j_a'"),
    ],
    ids=['free', 'end', 'start', 'order', 'still', 'driver'],
)
def test_chains_that_cannot_be(text, arguments, message):
    model = Model.from_urdf(text, device='cpu')
    with pytest.raises(IkChainError, match=message) as caught:
        IkChain(model, *arguments)
    assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, ArgumentError)


def test_what_lies_before_the_chain_may_be_of_any_kind():
    model = Model.from_urdf(BALL_URDF, device='cpu')
    chain = IkChain(model, 'd', 'c')
    joint_q = model.random_joint_q(1, np.random.default_rng(5))[0]
    assert chain.get_dof_pos(joint_q) == joint_q[7:]
    assert chain.get_end_effector_pose(joint_q)[:3] == pytest.approx(joint_q[:3])


def test_arguments():
    model, _ = robot('panda')
    for offset in ([0.0] * 7, [0.0] * 6, [np.nan, 0, 0, 0, 0, 0, 1]):
        with pytest.raises(ArgumentError, match='end_effector_offset'):
            IkChain(model, 'panda_hand', None, offset)
    chain = IkChain(model, 'panda_hand')
    with pytest.raises(ArgumentError, match=r'joint_q must have shape \[\*, 9\], got \[7\]'):
        chain.get_end_effector_pose(np.zeros(7))
    with pytest.raises(ArgumentError, match=r'joint_qd must have shape \[2, 9\], got \[3, 9\]'):
        chain.get_dof_vel(JointState(np.zeros((2, 9)), np.zeros((3, 9))))
    with pytest.raises(ArgumentError, match='end_point'):
        chain.get_end_point_jac(np.zeros(9), [0.0, np.inf, 0.0])

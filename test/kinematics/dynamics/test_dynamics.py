# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Centre of mass, inertia matrix and bias force of every robot, against Pinocchio."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.random_pose import random_pose
from support.robots.robots import ALL_URDFS
from support.robots.robots import IDS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_bias_force
from ros_ik.kinematics import eval_com
from ros_ik.kinematics import eval_mass_matrix
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model import JointType
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.builder import DofData

N = either(2, 5)
# float64: rounding of sums over up to 100 links, relative to the largest entry; measured 2e-14.
# float32: rounding, amplified by the offsets from the world origin; measured 4e-6.
TOLERANCES = [(np.float64, 1e-12), (np.float32, 3e-5)]
FLOATING = ('panda', 'talos_reduced', 'anymal', 'ur5_robot', 'allegro_left_hand')

# A robot with every kind of joint, askew, offset from its parents, and with inertia everywhere.
_INERTIAL = """<inertial><origin xyz="0.05 -0.1 {z}" rpy="0.3 0.2 -0.5"/><mass value="{m}"/>
<inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.004" ixz="-0.003" iyz="0.002"/></inertial>"""
_LINKS = ''.join(
    f'<link name="{name}">{_INERTIAL.format(z=0.03 * k, m=1.0 + 0.3 * k)}</link>'
    for k, name in enumerate(('base', 'slide', 'turn', 'plane', 'float', 'endless', 'side'))
)
EVERY_JOINT_URDF = f"""<robot name="every_joint">{_LINKS}
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
<joint name="j_side" type="revolute"><parent link="turn"/><child link="side"/>
  <origin xyz="0.2 0 0"/><axis xyz="1 0 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/>
</joint></robot>"""


class PinocchioDynamics(PinocchioRobot):
    """Pinocchio's dynamics over our degrees of freedom."""

    def __init__(self, text, model, floating=False):
        super().__init__(text, model, floating)
        self.pin.gravity.linear = model.gravity.numpy()[0].astype(np.float64)

    def velocity_map(self, joint_q):
        """Return B of v = B qd, from our velocities to Pinocchio's, [nv, joint_dof_count]."""
        B = np.zeros((self.pin.nv, self.model.joint_dof_count))
        q_start, qd_start = self.model.joint_q_start.numpy(), self.model.joint_qd_start.numpy()
        for joint, ours in self.joint_pairs():
            block = np.eye(joint.nv)
            q = joint_q[q_start[ours] : q_start[ours + 1]]
            kind = self.model.joint_type.numpy()[ours]
            if kind == JointType.FREE:
                rotation = pin.Quaternion(q[3:7]).toRotationMatrix().T
                block[:3] = np.hstack([rotation, -rotation @ pin.skew(q[:3])])
                block[3:] = np.hstack([np.zeros((3, 3)), rotation])
            elif kind == JointType.D6:  # planar: theirs slides along turning axes
                c, s = np.cos(q[2]), np.sin(q[2])
                block[:2, :2] = [[c, s], [-s, c]]
            B[joint.idx_v : joint.idx_v + joint.nv, qd_start[ours] : qd_start[ours + 1]] = block
        return B

    def velocity_map_rate(self, joint_q, joint_qd):
        """Return (dB/dt) qd: not zero for a planar joint alone."""
        rate = np.zeros(self.pin.nv)
        q_start, qd_start = self.model.joint_q_start.numpy(), self.model.joint_qd_start.numpy()
        for joint, ours in self.joint_pairs():
            if self.model.joint_type.numpy()[ours] == JointType.D6:
                angle, (vx, vy, w) = joint_q[q_start[ours] + 2], joint_qd[qd_start[ours] :][:3]
                c, s = np.cos(angle), np.sin(angle)
                rate[joint.idx_v : joint.idx_v + 2] = w * np.array([[-s, c], [-c, -s]]) @ (vx, vy)
        return rate

    def inertia_matrix(self, joint_q):
        B = self.velocity_map(joint_q)
        M = np.triu(pin.crba(self.pin, self.data, self.configuration(joint_q)))
        return B.T @ (M + np.triu(M, 1).T) @ B

    def bias_force(self, joint_q, joint_qd):
        B = self.velocity_map(joint_q)
        q, rate = self.configuration(joint_q), self.velocity_map_rate(joint_q, joint_qd)
        if not rate.any():
            return B.T @ pin.nonLinearEffects(self.pin, self.data, q, B @ joint_qd)
        return B.T @ pin.rnea(self.pin, self.data, q, B @ joint_qd, rate)

    def center_of_mass(self, joint_q):
        """Return the centre and its Jacobian; Pinocchio leaves out links fixed to the world."""
        moving = pin.jacobianCenterOfMass(self.pin, self.data, self.configuration(joint_q))
        fixed, mass = self.pin.inertias[0], self.data.mass[0]
        share = mass / (mass + fixed.mass)
        com = share * self.data.com[0] + (1.0 - share) * fixed.lever
        return com, share * moving @ self.velocity_map(joint_q)


def evaluate(model, joint_q, joint_qd):
    """Return com, its Jacobian, M and C of our kernels; outputs start as NaN."""
    n, dofs, dtype = len(joint_q), model.joint_dof_count, joint_q.dtype
    shapes = (n, 3), (n, 3, dofs), (n, dofs, dofs), (n, dofs)
    com, com_jacobian, M, C = (np.full(shape, np.nan, dtype) for shape in shapes)
    eval_com(model, joint_q, com, com_jacobian)
    eval_mass_matrix(model, joint_q, M)
    eval_bias_force(model, joint_q, joint_qd, C)
    return com, com_jacobian, M, C


def assert_close(ours, expected, tolerance, what):
    """Equal relative to the largest entry."""
    scale = np.abs(expected).max(initial=1e-6)
    assert np.abs(ours - expected).max(initial=0.0) <= tolerance * scale, what


def check(model, oracle):
    rng = np.random.default_rng(11)
    for dtype, tolerance in TOLERANCES:
        joint_q = model.random_joint_q(N, rng).astype(dtype)
        joint_qd = rng.normal(size=(N, model.joint_dof_count)).astype(dtype)
        ours = evaluate(model, joint_q, joint_qd)
        for i in range(N):
            q, qd = joint_q[i].astype(np.float64), joint_qd[i].astype(np.float64)
            com, com_jacobian = oracle.center_of_mass(q)
            assert_close(ours[0][i], com, tolerance, 'centre of mass')
            assert_close(ours[1][i], com_jacobian, tolerance, 'its Jacobian')
            assert_close(ours[2][i], oracle.inertia_matrix(q), tolerance, 'inertia matrix')
            assert_close(ours[3][i], oracle.bias_force(q, qd), tolerance, 'bias force')
            assert np.array_equal(ours[2][i], ours[2][i].T)


def is_movable(model):
    return model.joint_dof_count and model.body_mass64.sum() > 0.0


@pytest.mark.oracle
@pytest.mark.parametrize('path', ALL_URDFS, ids=IDS)
def test_every_robot(path):
    model = load(path)
    if not is_movable(model):
        pytest.skip('nothing moves')
    check(model, PinocchioDynamics(path.read_text(), model))


@pytest.mark.oracle
@pytest.mark.parametrize(
    'path', [p for p in ALL_URDFS if p.stem in FLOATING], ids=lambda p: p.stem
)
def test_floating_robots(path):
    model = load(path, True)
    check(model, PinocchioDynamics(path.read_text(), model, True))


@pytest.mark.oracle
@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
def test_every_kind_of_joint(floating):
    model = Model.from_urdf(EVERY_JOINT_URDF, device='cpu', floating=floating)
    check(model, PinocchioDynamics(EVERY_JOINT_URDF, model, floating))


@pytest.mark.oracle
def test_center_of_mass_of_some_links():
    (path,) = (p for p in ALL_URDFS if p.stem == 'talos_reduced')
    model = load(path)
    oracle = PinocchioDynamics(path.read_text(), model)
    rng = np.random.default_rng(3)
    joint_q = model.random_joint_q(N, rng)
    bodies = rng.permutation(model.body_count)[: model.body_count // 2]
    com, jacobian = np.empty((N, 3)), np.empty((N, 3, model.joint_dof_count))
    eval_com(model, joint_q, com, jacobian, bodies=bodies)
    mass = model.body_mass64[bodies]
    for i in range(N):
        poses = oracle.poses(joint_q[i])
        centers, velocities = [], []
        for body in bodies:
            position, rotation = poses[model.body_label[body]]
            arm = rotation @ model.body_com64[body]
            of_origin = oracle.jacobian(joint_q[i], model.body_label[body])
            centers.append(position + arm)
            velocities.append(of_origin[:3] - pin.skew(arm) @ of_origin[3:])
        assert_close(com[i], mass @ np.array(centers) / mass.sum(), 1e-12, 'centre')
        expected = np.tensordot(mass, np.array(velocities), 1) / mass.sum()
        assert_close(jacobian[i], expected, 1e-12, 'its Jacobian')


class PointMasses:
    """Newton's law on particles glued to the links of a model: an oracle that knows no inertia.

    M_ij = sum m dx/dq_i . dx/dq_j,   C_i = sum m dx/dq_i . (x'' - g), by central differences.
    """

    STEP = 1e-4  # truncation h^2 and rounding eps / h^2 are both near 1e-8 of the largest entry
    TOLERANCE = 1e-6

    def __init__(self, model, particles):
        self.model, self.tree = model, kinematic_tree(model, wp.float64)
        self.body = np.array([body for body, _, _ in particles])
        self.local = np.array([point for _, point, _ in particles])
        self.mass = np.array([mass for _, _, mass in particles])
        world = model.body_world.numpy()[self.body]
        self.gravity = model.gravity.numpy()[world % len(model.gravity)].astype(np.float64)

    def positions(self, joint_q, joint_qd):
        """Return the positions of the particles after unit time at constant velocities."""
        types, device = spatial_functions(wp.float64), 'cpu'
        q = wp.array(joint_q[None], dtype=wp.float64, device=device)
        step = wp.array(joint_qd[None], dtype=wp.float64, device=device)
        body_q = wp.empty((1, self.model.body_count), dtype=types.transform, device=device)
        launch_integrate(self.tree, q, step, q)
        launch_forward_kinematics(self.tree, q, body_q)
        poses = body_q.numpy()[0, self.body]
        turned = 2.0 * np.cross(poses[:, 3:6], self.local)
        arm = self.local + poses[:, 6:] * turned + np.cross(poses[:, 3:6], turned)
        return poses[:, :3] + arm

    def evaluate(self, joint_q, joint_qd):
        """Return com, its Jacobian, M and C; no free joint may move while qd is constant."""
        h = self.STEP
        here = self.positions(joint_q, 0.0 * joint_qd)
        slopes = np.array([
            (self.positions(joint_q, h * dof) - self.positions(joint_q, -h * dof)) / (2.0 * h)
            for dof in np.eye(len(joint_qd))
        ])  # fmt: skip
        ahead, behind = (
            self.positions(joint_q, h * joint_qd),
            self.positions(joint_q, -h * joint_qd),
        )
        acceleration = (ahead - 2.0 * here + behind) / h**2
        share = self.mass / self.mass.sum()
        M = np.einsum('ikx,jkx,k->ij', slopes, slopes, self.mass)
        C = np.einsum('ikx,kx,k->i', slopes, acceleration - self.gravity, self.mass)
        return share @ here, np.einsum('ikx,k->xi', slopes, share), M, C


def add_particles(builder, label, rng):
    """Add a link made of six particles; return its body and them."""
    points, masses = rng.uniform(-0.3, 0.3, (6, 3)), rng.uniform(0.1, 0.5, 6)
    com = masses @ points / masses.sum()
    arms = points - com
    inertia = (masses @ (arms**2).sum(1)) * np.eye(3) - (arms.T * masses) @ arms
    body = builder.add_link(label, mass=masses.sum(), com=com, inertia=inertia)
    return body, [(body, point, mass) for point, mass in zip(points, masses, strict=True)]


def random_axis(rng):
    axis = rng.normal(size=3)
    return DofData(tuple(axis / np.linalg.norm(axis)))


def branched_robot(rng):
    """Return a builder with a tree of ball, D6, revolute, prismatic and fixed joints, askew."""
    builder, particles, bodies = ModelBuilder(), [], [-1]
    for k in range(9):
        body, glued = add_particles(builder, f'link_{k}', rng)
        parent = bodies[(0, 1, 2, 3, 2, 4, 5, 6, 3)[k]]
        poses = {'parent_xform': random_pose(rng, 0.3), 'child_xform': random_pose(rng, 0.3)}
        if k % 3 == 0:
            linear, angular = (
                [random_axis(rng) for _ in range(n)] for n in ((2, 3, 1)[k // 3], 3)
            )
            builder.add_joint_d6(parent, body, linear_axes=linear, angular_axes=angular, **poses)
        elif k % 3 == 1:
            builder.add_joint_ball(parent, body, **poses)
        elif k == 2:
            builder.add_joint_fixed(parent, body, **poses)
        else:
            add = builder.add_joint_revolute if k == 5 else builder.add_joint_prismatic
            add(parent, body, dof=random_axis(rng), **poses)
        bodies.append(body)
        particles += glued
    return builder, particles


def check_against_particles(model, particles, rng):
    joint_q = model.random_joint_q(3, rng)
    joint_qd = rng.normal(size=(3, model.joint_dof_count))
    ours = evaluate(model, joint_q, joint_qd)
    oracle = PointMasses(model, particles)
    for i in range(3):
        for mine, expected in zip(ours, oracle.evaluate(joint_q[i], joint_qd[i]), strict=True):
            assert_close(mine[i], expected, oracle.TOLERANCE, f'configuration {i}')


def test_ball_and_d6_joints_against_particles():
    rng = np.random.default_rng(5)
    builder, particles = branched_robot(rng)
    check_against_particles(builder.finalize('cpu'), particles, rng)


def test_each_world_has_its_gravity():
    rng = np.random.default_rng(6)
    robot, particles = branched_robot(rng)
    builder = ModelBuilder()
    builder.replicate(robot, 2)
    model = builder.finalize('cpu')
    model.set_gravity((1.0, 2.0, 3.0), world=1)
    n = robot.body_count
    twice = particles + [(body + n, point, mass) for body, point, mass in particles]
    check_against_particles(model, twice, rng)


@pytest.mark.oracle
def test_a_model_of_newton():
    newton = pytest.importorskip('newton')
    builder = newton.ModelBuilder()
    joints, parent = [], -1
    for k in range(3):
        link = builder.add_link(
            mass=1.0 + k,
            com=wp.vec3(0.1, 0.2 * k, -0.1),
            inertia=wp.mat33(np.diag([0.1, 0.2, 0.25])),
        )
        xform = wp.transform(wp.vec3(0.3, 0.0, 0.1), wp.quat_rpy(0.3, 0.2, 0.1 * k))
        add = builder.add_joint_prismatic if k == 1 else builder.add_joint_revolute
        joints.append(add(parent, link, parent_xform=xform, axis=wp.vec3(0.0, 0.6, 0.8)))
        parent = link
    builder.add_articulation(joints)
    model = builder.finalize('cpu')
    state = model.state()
    joint_q = np.array([[0.4, 0.2, -0.7]], dtype=np.float32)
    state.joint_q.assign(joint_q[0])
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    expected = newton.eval_mass_matrix(model, state).numpy()[0]
    M = np.empty((1, 3, 3), dtype=np.float32)
    eval_mass_matrix(model, joint_q, M)
    assert_close(M[0], expected, 1e-5, 'inertia matrix')  # both float32


def test_arguments():
    model = Model.from_urdf(EVERY_JOINT_URDF, device='cpu')
    n_dofs = model.joint_dof_count
    joint_q = np.tile(model.neutral_joint_q(), (2, 1))
    with pytest.raises(ArgumentError, match='bodies'):
        eval_com(model, joint_q, np.empty((2, 3)), bodies=[0, 99])
    with pytest.raises(ArgumentError, match='bodies'):
        eval_com(model, joint_q, np.empty((2, 3)), bodies=[])
    with pytest.raises(ArgumentError, match='com must have shape'):
        eval_com(model, joint_q, np.empty((3, 3)))
    with pytest.raises(ArgumentError, match='inertia_matrix must have shape'):
        eval_mass_matrix(model, joint_q, np.empty((2, n_dofs, n_dofs), dtype=np.float32))
    with pytest.raises(ArgumentError, match='joint_q must be float32 or float64'):
        eval_mass_matrix(model, joint_q.astype(int), np.empty((2, n_dofs, n_dofs)))
    with pytest.raises(ArgumentError, match='joint_qd must have shape'):
        eval_bias_force(model, joint_q, np.zeros((1, n_dofs)), np.empty((2, n_dofs)))
    with pytest.raises(ArgumentError, match='joint_qd must be float64'):
        eval_bias_force(
            model, joint_q, np.zeros((2, n_dofs), dtype=np.float32), np.empty((2, n_dofs))
        )

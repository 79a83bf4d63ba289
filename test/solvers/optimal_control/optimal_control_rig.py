# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal-control commands of random robots, with their cost and limits computed by Pinocchio."""

import numpy as np
import pytest
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik.model import Model
from ros_ik.solvers.optimal_control.commands.command import OptimalControlCommandBuilder
from ros_ik.solvers.optimal_control.solver import OptimalControl

DT = 0.01

# Links (reference, controlled) of each robot's Cartesian targets, and that of its centre of mass.
ROBOTS = {
    'panda': ('panda_link0:panda_hand_tcp', [('panda_link0', 'panda_hand_tcp')], None),
    'talos_reduced': (
        '',
        [
            ('left_sole_link', 'gripper_left_base_link'),
            ('left_sole_link', 'gripper_right_base_link'),
            ('left_sole_link', 'right_sole_link'),
        ],
        'left_sole_link',
    ),
    'g1_29dof_rev_1_0': (
        '',
        [
            ('left_ankle_roll_link', 'left_rubber_hand'),
            ('left_ankle_roll_link', 'right_rubber_hand'),
            ('left_ankle_roll_link', 'right_ankle_roll_link'),
        ],
        'left_ankle_roll_link',
    ),
}


class Rig:
    """One robot with its solver and its oracle."""

    def __init__(self, name, seed=0, **options):
        group, self.pairs, self.com_link = ROBOTS[name]
        self.model = Model.from_urdf(urdf_text(name), device='cpu')
        self.oracle = PinocchioRobot(urdf_text(name), self.model)
        self.solver = OptimalControl(self.model, group, dt=DT, **options)
        self.rng = np.random.default_rng(seed)
        starts = self.model.joint_q_start.numpy()
        names = self.solver.group.joint_names
        self.names = names
        self.coords = starts[[self.model.joint_index(joint) for joint in names]]
        self.dofs = self.solver.group.variable_dof
        self.lower, self.upper, self.speed, _ = (
            limit[self.dofs] for limit in self.model.limits64()
        )
        # The documented default: full speed within 0.2 s, 10 where there is no limit.
        self.acceleration = np.where(np.isfinite(self.speed), self.speed / 0.2, 10.0)
        self.targets, self.com, self.joints = [], None, []
        self.weights = (1.0, 0.3, 2.0)  # position, rotation, centre of mass

    def random_joint_q(self, spread=None):
        """Return a random configuration, or one at most ``spread`` from the neutral one."""
        if spread is None:
            return self.model.random_joint_q(1, self.rng)[0]
        q = self.model.neutral_joint_q()
        return self.moved(q, self.rng.uniform(-spread, spread, len(self.coords)))

    def moved(self, joint_q, change):
        """Return a configuration with other values of the variables, inside their limits."""
        q = joint_q.copy()
        q[self.coords] = np.clip(q[self.coords] + change, self.lower, self.upper)
        return self.model.apply_mimic(q)

    def frames(self, joint_q):
        return {k: pin.SE3(R, p) for k, (p, R) in self.oracle.poses(joint_q).items()}

    def center(self, joint_q):
        """Return the centre of mass in its link; Pinocchio leaves out links fixed to the world."""
        oracle = self.oracle
        moving = pin.centerOfMass(oracle.pin, oracle.data, oracle.configuration(joint_q))
        fixed, mass = oracle.pin.inertias[0], oracle.data.mass[0]
        center = (mass * moving + fixed.mass * fixed.lever) / (mass + fixed.mass)
        return self.frames(joint_q)[self.com_link].actInv(center)

    def draw(self, joint_q, reach=0.5, far=0.0, joint_weight=1e-3):
        """Return a command with targets at another configuration, moved ``far`` from there."""
        goal = self.moved(joint_q, self.rng.uniform(-reach, reach, len(self.coords)))
        frames = self.frames(goal)
        self.targets = [frames[a].actInv(frames[b]) for a, b in self.pairs]
        for target in self.targets:
            target.translation = target.translation + far * self.rng.normal(size=3)
        self.com = None if self.com_link is None else self.center(goal)
        self.joints = list(zip(self.names, joint_q[self.coords], strict=True))
        self.joint_weight = joint_weight
        return self.builder().build(self.model)

    def builder(self):
        made = OptimalControlCommandBuilder()
        for (reference, link), target in zip(self.pairs, self.targets, strict=True):
            made.add_cartesian_target(reference, link, target.homogeneous, *self.weights[:2])
        if self.com is not None:
            made.set_center_of_mass_target(self.com_link, self.com, self.weights[2])
        for joint, position in self.joints:
            made.add_joint_position_target(joint, position, self.joint_weight)
        return made

    def costs(self, joint_q):
        """Cartesian, centre-of-mass and joint costs of a configuration, by the document."""
        frames = self.frames(joint_q)
        cartesian = []
        for (reference, link), target in zip(self.pairs, self.targets, strict=True):
            pose = frames[reference].actInv(frames[link])
            away = target.translation - pose.translation
            turn = pin.log3(target.rotation @ pose.rotation.T)
            cartesian.append(self.weights[0] * away @ away + self.weights[1] * turn @ turn)
        center = 0.0
        if self.com is not None:
            center = self.weights[2] * np.sum((self.com - self.center(joint_q)) ** 2)
        q = dict(zip(self.names, joint_q[self.coords], strict=True))
        joints = [self.joint_weight * (position - q[name]) ** 2 for name, position in self.joints]
        return cartesian, center, joints

    def total(self, joint_q):
        cartesian, center, joints = self.costs(joint_q)
        return sum(cartesian) + center + sum(joints)

    def local_minimum(self, joint_q):
        """Least cost inside the position limits that L-BFGS-B finds from a configuration."""
        optimize = pytest.importorskip('scipy.optimize', reason='scipy is not installed')

        def cost(variables):
            q = joint_q.copy()
            q[self.coords] = variables
            return self.total(self.model.apply_mimic(q))

        found = optimize.minimize(
            cost,
            np.clip(joint_q[self.coords], self.lower, self.upper),
            method='L-BFGS-B',
            bounds=list(zip(self.lower, self.upper, strict=True)),
            options={'maxiter': 500, 'maxfun': 50_000, 'ftol': 1e-12, 'gtol': 1e-8},
        )
        return float(found.fun)


def check_motion(rig, result, joint_q, joint_qd=None, speed_part=1.0, acceleration_part=1.0):
    """Check a motion by finite differences of its positions alone, to rest at its end."""
    speed = speed_part * rig.speed
    acceleration = acceleration_part * rig.acceleration
    velocity = np.zeros(len(rig.dofs)) if joint_qd is None else joint_qd[rig.dofs]
    q = result.positions[:, rig.coords]
    assert np.array_equal(result.positions[0], joint_q)
    assert np.allclose(np.diff(result.times), DT)
    assert np.all(q >= rig.lower - 1e-9) and np.all(q <= rig.upper + 1e-9)
    rates = np.diff(q, axis=0) / DT
    assert np.all(np.abs(rates) <= speed * (1 + 1e-9))
    padded = np.vstack([velocity, rates, np.zeros_like(velocity)])
    # Differences of positions of order 1 over DT^2: rounding of 1e-16 / 1e-4.
    assert np.all(np.abs(np.diff(padded, axis=0)) / DT <= acceleration * (1 + 1e-9) + 1e-8)
    given = result.velocities[:, rig.dofs]
    assert np.array_equal(given[0], velocity)
    assert not np.any(result.velocities[-1])
    changes = result.accelerations[:, rig.dofs]
    assert not np.any(changes[-1])
    assert np.all(np.abs(changes) <= acceleration * (1 + 1e-9))
    bounds = rig.lower, rig.upper
    check_interpolations(result.times, q, given, changes, speed, acceleration, bounds)


def check_interpolations(times, q, v, a, speed, acceleration, bounds=(-np.inf, np.inf)):
    """Check the interpolation of knots by a controller: limits hold, and the motion is smooth.

    The polynomials are those of trajectory.cpp of joint_trajectory_controller: linear from
    positions, cubic from velocities too, quintic from accelerations too.
    """
    if len(times) == 1:
        return
    T = np.diff(times)[:, None]
    p0, p1, v0, v1, a0, a1 = q[:-1], q[1:], v[:-1], v[1:], a[:-1], a[1:]
    zero = np.zeros_like(p0)
    linear = [p0, (p1 - p0) / T, zero, zero, zero, zero]
    cubic = [
        p0, v0, (-3 * p0 + 3 * p1 - 2 * v0 * T - v1 * T) / T**2,
        (2 * p0 - 2 * p1 + v0 * T + v1 * T) / T**3, zero, zero,
    ]  # fmt: skip
    quintic = [
        p0, v0, 0.5 * a0,
        (-20 * p0 + 20 * p1 - 3 * a0 * T**2 + a1 * T**2 - 12 * v0 * T - 8 * v1 * T) / (2 * T**3),
        (30 * p0 - 30 * p1 + 3 * a0 * T**2 - 2 * a1 * T**2 + 16 * v0 * T + 14 * v1 * T)
        / (2 * T**4),
        (-12 * p0 + 12 * p1 - a0 * T**2 + a1 * T**2 - 6 * v0 * T - 6 * v1 * T) / (2 * T**5),
    ]  # fmt: skip
    ways = []
    for coefficients in (linear, cubic, quintic):
        for part in np.linspace(0.0, 1.0, 21):
            t = part * T
            position = sum(c * t**k for k, c in enumerate(coefficients))
            rate = sum(k * c * t ** (k - 1) for k, c in enumerate(coefficients) if k)
            change = sum(
                k * (k - 1) * c * t ** (k - 2) for k, c in enumerate(coefficients) if k > 1
            )
            assert np.all(np.abs(rate) <= speed * (1 + 1e-9) + 1e-9)
            # Rounding of positions of order 1 over DT^2, with the factors above.
            assert np.all(np.abs(change) <= acceleration * (1 + 1e-9) + 1e-7)
            assert np.all((position >= bounds[0] - 1e-9) & (position <= bounds[1] + 1e-9))
            ways.append(position)
    straight, smooth, smoother = np.split(np.array(ways), 3)
    assert np.allclose(smooth, smoother, rtol=0, atol=1e-9)
    # A linear part leaves the motion by no more than a T^2 / 8.
    bent = np.max(acceleration) * np.minimum(T, DT) ** 2 / 8
    assert np.all(np.abs(straight - smooth) <= bent + 1e-9)

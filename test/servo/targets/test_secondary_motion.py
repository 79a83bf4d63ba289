# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Secondary aims: elbows, manipulability, centering and chosen joints, by Pinocchio."""

import numpy as np
import pytest
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig
from support.robots.robots import PinocchioRobot

from ros_ik.demo.robots import find_robot
from ros_ik.servo import StopState
from ros_ik.servo.motion.manipulability_slope import manipulability_slope
from ros_ik.servo.step.task_joints import ChainMotion
from ros_ik.settings import SettingsError

pytestmark = pytest.mark.oracle

# A posture that can be improved, the link of the elbow, and other joints that are free.
ROBOTS = {
    'panda': ({'panda_joint3': 0.4, 'panda_joint4': -1.1}, 'panda_link4', {}),
    'baxter': (
        {'left_s1': 0.2, 'left_e0': -1.4, 'left_e1': 1.0, 'left_w1': 0.6}, 'left_lower_elbow', {},
    ),
    'tiago': ({'arm_4_joint': 0.6}, 'arm_4_link', {}),
    'ur5': (
        {'elbow_joint': 0.9, 'wrist_1_joint': 0.6}, 'forearm_link',
        {'ee__orientation_weight': 0.0, 'ee__position_weight': 1.0},
    ),
}  # fmt: skip
# Largest error of the target with an aim [m, rad]. Each tick removes the error, and the aim adds
# its displacement, 5 mrad, times the square of its weight, 1e-4, over a singular value of 0.02.
BOUND = 3e-5


def make_rig(robot, **values):
    """Return a robot at its posture with that pose as target, and its model in Pinocchio."""
    home, elbow, free = ROBOTS[robot]
    # Links of Baxter's description are near each other by design.
    rig = Rig.shared(
        robot, home=home, ee__elbow_frame=elbow, barriers__self_collision__enabled=False, **free,
        **values,
    )  # fmt: skip
    rig.aim(rig.pose())
    rig.tick(5)
    return rig, PinocchioRobot(find_robot(robot).urdf_path.read_text(), rig.model)


def manipulability(rig, other, q=None):
    """Return Yoshikawa's measure of the weighted rows, seen from a base at rest."""
    task = rig.settings.tasks[0]
    rows = np.array(task.position_weight + task.orientation_weight) > 0.0
    dofs = rig.robot.group.variable_dof
    J = other.jacobian(rig.q if q is None else q, task.frame)[:, dofs]
    base = other.pose(rig.q if q is None else q, rig.model.body_label[rig.robot.base_link])[1]
    J = np.vstack([base.T @ J[:3], base.T @ J[3:]])[rows]
    return np.sqrt(np.linalg.det(J @ J.T))


def height(rig, other):
    """Return the height of the elbow above the base, along the base's axis [m]."""
    base, turned = other.pose(rig.q, rig.model.body_label[rig.robot.base_link])
    return (turned.T @ (other.pose(rig.q, rig.settings.tasks[0].elbow_frame)[0] - base))[2]


def off_centre(rig, _other):
    """Return the negative sum of squared distances of joints from the middle of their ranges.

    A larger value is better.
    """
    dofs = rig.robot.group.variable_dof
    middle = 0.5 * (rig.robot.lower[dofs] + rig.robot.upper[dofs])
    return -np.nansum(np.where(np.isfinite(middle), rig.q[rig.robot.coords] - middle, 0.0) ** 2)


AIMS = {
    'elbow': ({'ee__elbow_speed': 0.5}, height, 0.005),
    'manipulability': ({'ee__manipulability_speed': 0.5}, manipulability, 1e-4),
    'centering': ({'posture__centering': 1.0}, off_centre, 0.02),
}


@pytest.mark.parametrize('robot', ROBOTS)
def test_the_slope_of_the_manipulability_is_that_of_its_logarithm(robot):
    rig, other = make_rig(robot)
    task, rng = rig.settings.tasks[0], np.random.default_rng(7)
    rows = np.array(task.position_weight + task.orientation_weight) > 0.0
    chain = ChainMotion(rig.robot, rig.robot.task_links[0], rig.robot.task_references[0])
    for _ in range(10):
        q = rig.q.copy()
        q[rig.robot.coords] += rng.uniform(-0.3, 0.3, len(rig.robot.coords))
        found = np.zeros(len(rig.robot.coords))
        slope = manipulability_slope(*chain.at(rig.servo._solver.commanded_state.at(q)), rows)
        np.add.at(found, chain.variables, chain.factors * slope)
        expected = []
        for coord in rig.robot.coords:
            ends = []
            for way in (-1e-6, 1e-6):
                there = q.copy()
                there[coord] += way
                ends.append(np.log(manipulability(rig, other, there)))
            expected.append((ends[1] - ends[0]) / 2e-6)
        np.testing.assert_allclose(found, expected, atol=2e-4 * (1.0 + np.abs(expected).max()))


def test_fewer_joints_than_rows_have_no_manipulability():
    few = np.ones((4, 3))
    assert manipulability_slope(few, few, np.ones(6, dtype=bool)) is None


@pytest.mark.parametrize(('robot', 'aim'), in_turn(list(ROBOTS), list(AIMS)))
def test_an_aim_is_neared_and_the_target_is_kept(robot, aim):
    rig, other = make_rig(robot)
    values, measure, gain = AIMS[aim]
    before, target = measure(rig, other), rig.pose()
    rig.set(**values)
    errors = []
    for _ in range(300):
        rig.tick()
        report = rig.outputs[-1].tasks[0]
        errors.append(max(report.linear_error, report.angular_error))
    assert measure(rig, other) > before + gain
    assert max(errors) < BOUND
    counted = slice(0, 3 if robot == 'ur5' else 7)
    np.testing.assert_allclose(rig.pose()[counted], target[counted], atol=2.0 * BOUND)
    rig.assert_within_limits()


@pytest.mark.parametrize('robot', ['panda', 'tiago'])
def test_an_elbow_goes_where_it_is_told(robot):
    sides = []
    for side in (-1.0, 1.0):
        rig, other = make_rig(robot)
        rig.set(ee__elbow_speed=1.0, ee__elbow_direction=[0.0, side, 0.0])
        rig.tick(seconds=4.0)
        sides.append(other.pose(rig.q, rig.settings.tasks[0].elbow_frame)[0][1])
        rig.assert_within_limits()
    assert sides[1] - sides[0] > 0.05


def test_only_the_direction_of_an_elbow_has_an_effect_and_not_its_length():
    found = []
    for length in (1.0, 0.01, 20.0):
        rig, _ = make_rig('panda')
        rig.set(ee__elbow_speed=0.5, ee__elbow_direction=[0.0, length, length])
        rig.tick(20)
        found.append(rig.speeds())
    assert np.abs(found[0]).max() > 0.05
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-9)


def test_an_aim_whose_task_does_not_count_moves_nothing():
    rig = Rig.shared(
        'baxter', base_frame='torso', frame_tasks=['left', 'right'], left__frame='left_gripper',
        right__frame='right_gripper', right__elbow_frame='right_lower_elbow',
        right__elbow_speed=0.5, posture__centering=0.5, barriers__self_collision__enabled=False,
    )  # fmt: skip
    names = np.array(rig.robot.group.joint_names)
    right = rig.robot.coords[np.char.startswith(names, 'right')]
    before = rig.q[right]
    rig.aim(rig.pose())
    rig.tick(seconds=1.0)
    np.testing.assert_allclose(rig.q[right], before, atol=1e-9)
    rig.aim(rig.pose(task=1), task=1)
    rig.set(posture__centering=0.0)
    rig.tick(seconds=0.5)
    assert np.abs(rig.q[right] - before).max() > 1e-4
    # The elbow of the second task changes its side smoothly, by 1 rad/s in 0.1 s.
    rig.set(right__elbow_direction=[0.0, 0.0, -1.0])
    rig.tick(20)
    jerk = np.abs(np.diff(rig.speeds()[-22:], 2, axis=0)).max() / rig.dt**2
    assert jerk < 100.0


def test_chosen_joints_go_to_their_positions_and_the_others_where_the_target_leads_them():
    rig = Rig.shared(reports=False, posture__joints=['panda_joint3'], posture__positions=[0.5])
    assert rig.q[rig.robot.coord_of['panda_joint3']] < 0.1
    rig.aim(rig.pose())
    rig.tick(seconds=15.0)
    assert rig.q[rig.robot.coord_of['panda_joint3']] == pytest.approx(0.5, abs=0.05)
    with pytest.raises(SettingsError, match='one per controlled joint: panda_joint3'):
        Rig(posture__joints=['panda_joint3'], posture__positions=[0.5, 0.0])
    with pytest.raises(SettingsError, match='different controlled joints'):
        Rig(posture__joints=['panda_joint9'], posture__positions=[0.5])


@pytest.mark.parametrize('change', [{'ee__elbow_speed': 0.5}, {'posture__centering': 0.5}])
def test_an_aim_needs_a_weight(change):
    with pytest.raises(SettingsError, match='above 0'):
        Rig(posture__weight=0.0, ee__elbow_frame='panda_link4', **change)


def test_an_elbow_without_a_direction_is_refused():
    with pytest.raises(SettingsError, match='direction'):
        Rig(
            ee__elbow_speed=0.5, ee__elbow_frame='panda_link4', ee__elbow_direction=[0.0] * 3
        )


@pytest.mark.parametrize(
    'change',
    [{'posture__weight': 0.02}, {'solver__regularization': 2e-6}, {'com__weight': 1.0}],
    ids=list,
)
def test_another_weight_makes_the_joints_stay_where_they_are(change):
    drifts = []
    for values in ({}, change):
        rig = Rig.shared(reports=False)
        rig.aim(rig.moved((0.0, 0.4, -0.2)))
        rig.tick(seconds=2.0)
        rig.set(**values)
        rig.tick(20)
        before = rig.q
        rig.tick(seconds=1.0)
        drifts.append(np.abs(rig.q - before).max())
    # Without a change they go on to where the motion began.
    assert drifts[1] < 0.2 * drifts[0]


# With every row an offset does not change the manipulability.
FEW_ROWS = {'ee__manipulability_speed': 0.5, 'ee__orientation_weight': 0.0}


@pytest.mark.parametrize(
    ('aim', 'change'),
    [
        (FEW_ROWS, {'ee__offset_xyz': [0.3, 0.2, 0.4]}),
        ({'ee__manipulability_speed': 0.5}, {'ee__orientation_weight': 0.0}),
        ({'posture__centering': 0.5}, {'posture__positions': [0.3] * 3 + [-1.5] + [0.3] * 3}),
    ],
    ids=['offset', 'rows', 'posture'],
)
def test_what_is_set_later_changes_an_aim_as_if_it_had_been_set_from_the_start(aim, change):
    def speeds(rig, **values):
        rig.set(**values)
        rig.aim(rig.pose())
        rig.tick(50)
        return rig.speeds()

    begun = speeds(Rig(reports=False, **aim, **change))
    # A shared servo may have had the other values at its start.
    changed = speeds(Rig(reports=False, **aim), **change)
    np.testing.assert_allclose(changed, begun, atol=1e-6)
    assert np.abs(changed - speeds(Rig.shared(reports=False, **aim))).max() > 1e-2


def test_steps_that_are_predicted_are_those_that_come():
    rig = Rig.shared(
        rollout_steps=5, outputs__default__command_horizon=0.2, ee__elbow_frame='panda_link4'
    )
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    rig.tick(10)
    rig.set(ee__elbow_speed=0.5, ee__manipulability_speed=0.3)
    rig.tick(3)
    predicted = rig.outputs[-1].predicted_q
    for row in predicted:
        np.testing.assert_allclose(rig.tick().joint_q, row, atol=1e-6)


def test_the_filter_of_a_task_goes_before_that_of_all():
    def farthest(**values):
        rig = Rig.shared(ee__max_linear_acceleration=100.0, **values)
        rig.aim(rig.moved((0.0, 0.02, 0.0)))
        rig.tick(30)
        return rig.outputs[-1].tasks[0].linear_error

    assert farthest(ee__target_filter_tau=1.0) > 0.01
    assert farthest(target_filter_tau=1.0) > 0.01
    assert farthest(target_filter_tau=1.0, ee__target_filter_tau=0.0) < 1e-3


def test_a_motion_begins_at_rest_whatever_the_last_one_did():
    rig = Rig.shared(ee__elbow_frame='panda_link4', ee__elbow_direction=[0.0, 1.0, 0.0])
    for _ in range(2):
        rig.aim(rig.pose())
        rig.set(ee__elbow_speed=0.5)
        rig.tick(seconds=0.5)
        rig.quiet()
        rig.change(stop=StopState.LATCHED)
        rig.tick(seconds=0.5)
        assert rig.outputs[-1].still
        rig.change(stop=StopState.CLEAR, resets=rig.command.resets + 1)
        rig.published.clear()
    rig.set(ee__elbow_speed=0.0)
    rig.aim(rig.pose())
    rig.tick(seconds=0.5)
    assert np.abs(rig.speeds()).max() < 1e-6

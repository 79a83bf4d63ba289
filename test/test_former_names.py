# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Former public names work for one release, with a warning that names the new one."""

import dataclasses
import importlib
import inspect
import sys

import numpy as np
import pytest

from ros_ik import ArgumentError
from ros_ik import CollisionGeometry
from ros_ik import CollisionScene
from ros_ik import DifferentialIK
from ros_ik import IKObjectiveJointPosition
from ros_ik import Model
from ros_ik import rollout
from ros_ik import Task
from ros_ik.demo.robots import find_robot
from ros_ik.limits import JerkLimit
from ros_ik.limits import Limit
from ros_ik.limits import MotionLimit
import ros_ik.servo
from ros_ik.servo import StatusCode
from ros_ik.solvers.optimal_control.result import OptimalControlResult
from ros_ik.solvers.pose_ik.interface.result import ChainIKResult

MODULES = {
    'ros_ik.demo.trajectory_rules': 'ros_ik.demo.controller.trajectory_rules',
    'ros_ik.demo.trajectory_sampler': 'ros_ik.demo.controller.trajectory_sampler',
}


@pytest.mark.parametrize('before', MODULES)
def test_a_module_has_the_names_that_it_had(before):
    with pytest.warns(DeprecationWarning, match=MODULES[before]):
        old = importlib.reload(importlib.import_module(before))
    new = importlib.import_module(MODULES[before])
    own = {
        name
        for name, value in vars(new).items()
        if getattr(value, '__module__', new.__name__) == new.__name__ and not name.startswith('_')
    }
    assert own and all(getattr(old, name) is getattr(new, name) for name in own)


def old_module():
    sys.modules.pop('ros_ik.demo.trajectory_rules', None)
    import ros_ik.demo.trajectory_rules  # noqa: F401


def old_limit():
    class Slow(Limit):
        yields = 3


def old_argument():
    JerkLimit(np.ones(6)).set_last_displacements(np.zeros(6), before=np.zeros(6))


@pytest.mark.parametrize(
    'use',
    [
        old_module,
        old_limit,
        old_argument,
        lambda: ros_ik.servo.ObstacleBook,
        lambda: ros_ik.servo.Command().replacing,
    ],
)
def test_the_warning_shows_the_line_that_used_the_name(use):
    with pytest.warns(DeprecationWarning) as caught:
        use()
    (warning,) = caught
    lines, first = inspect.getsourcelines(use)
    assert warning.filename == __file__
    assert first <= warning.lineno < first + len(lines)


def test_a_former_name_is_read_only_and_has_a_docstring():
    none = np.zeros(0)
    output = ros_ik.servo.ServoOutput(StatusCode.OK, '', none, none, True, True, [])
    with pytest.raises(AttributeError):
        output.ahead = none
    assert '``predicted_q``' in ros_ik.servo.ServoOutput.ahead.__doc__


def test_the_registry_of_obstacles_has_its_former_name():
    with pytest.warns(DeprecationWarning, match='ObstacleRegistry'):
        assert ros_ik.servo.ObstacleBook is ros_ik.servo.ObstacleRegistry
    with pytest.raises(AttributeError, match='no attribute'):
        _ = ros_ik.servo.ObstacleBooks


@pytest.mark.parametrize(
    ('before', 'after'), [('left', 'violated_targets'), ('missed', 'unreachable_targets')]
)
def test_the_targets_of_a_result_of_optimal_control_have_their_former_name(before, after):
    fields = {field.name: None for field in dataclasses.fields(OptimalControlResult)}
    result = OptimalControlResult(**fields | {after: ('tool',)})
    with pytest.warns(DeprecationWarning, match=after):
        assert getattr(result, before) == ('tool',)


@pytest.mark.parametrize(
    ('before', 'after', 'value'),
    [('replacing', 'model_loading', True), ('forgotten', 'last_dropped', 7)],
)
def test_the_fields_of_a_command_have_their_former_names(before, after, value):
    command = ros_ik.servo.Command(**{after: value})
    with pytest.warns(DeprecationWarning, match=after):
        assert getattr(command, before) == value


@pytest.mark.parametrize(
    ('before', 'after'), [('ahead', 'predicted_q'), ('ahead_qd', 'predicted_qd')]
)
def test_the_predictions_of_an_output_have_their_former_names(before, after):
    none = np.zeros(0)
    output = ros_ik.servo.ServoOutput(StatusCode.OK, '', none, none, True, True, [])
    setattr(output, after, np.ones((2, 3)))
    with pytest.warns(DeprecationWarning, match=after):
        assert getattr(output, before) is getattr(output, after)


def test_the_targets_of_a_servo_have_their_former_name():
    servo = object.__new__(ros_ik.servo.Servo)
    servo.targets = object()
    with pytest.warns(DeprecationWarning, match='targets'):
        assert servo.goals is servo.targets


def test_results_with_an_axis_of_solutions_have_their_former_name():
    result = ChainIKResult(np.zeros((2, 1, 7)), *(np.zeros((2, 1)) for _ in range(4)))
    with pytest.warns(DeprecationWarning, match='with_solution_axis'):
        assert result.in_places() is result.with_solution_axis()


def test_the_check_of_stops_has_its_former_name():
    model = Model.from_urdf(find_robot('six_axis').urdf_path, device='cpu')
    solver, q, dofs = DifferentialIK(model), model.neutral_joint_q(), model.joint_dof_count
    steps = [np.full(dofs, 0.01) for _ in range(2)]
    arguments = np.zeros(dofs), np.full(dofs, 10.0)
    status = solver.limit_to_stoppable(q, (), steps[0], *arguments, tolerance=1e-6)
    with pytest.warns(DeprecationWarning, match='limit_to_stoppable'):
        assert solver.enforce_stopping(q, (), steps[1], *arguments, tolerance=1e-6) is status
    np.testing.assert_array_equal(*steps)


def test_the_step_before_the_last_one_has_its_former_name():
    model = Model.from_urdf(find_robot('six_axis').urdf_path, device='cpu')
    solver, q, dofs = DifferentialIK(model), model.neutral_joint_q(), model.joint_dof_count
    last, before = np.full(dofs, 0.01), np.full(dofs, 0.012)
    acceleration, jerk = np.full(dofs, 10.0), np.full(dofs, 100.0)
    steps = [np.full(dofs, np.nan) for _ in range(3)]
    arguments = last, acceleration, None
    solver.limit_to_stoppable(q, (), steps[0], *arguments, jerk=jerk)
    solver.limit_to_stoppable(q, (), steps[1], *arguments, jerk=jerk, delta_q_before_last=before)
    with pytest.warns(DeprecationWarning, match='delta_q_before_last'):
        solver.limit_to_stoppable(q, (), steps[2], *arguments, jerk=jerk, delta_q_before=before)
    assert (steps[0] != steps[1]).any()
    np.testing.assert_array_equal(steps[1], steps[2])


def test_a_rollout_takes_the_former_name_of_the_step_before_the_last_one():
    model = Model.from_urdf(find_robot('six_axis').urdf_path, device='cpu')
    solver, q, dofs = DifferentialIK(model), model.neutral_joint_q(), model.joint_dof_count
    tasks = [Task(IKObjectiveJointPosition(model, q + 0.5))]
    limits = [JerkLimit(np.full(dofs, 100.0))]
    last, before = np.full(dofs, 0.01), np.full(dofs, 0.012)
    given = {'n_steps': 1, 'last_delta_q': last}
    plain = rollout(solver, q, tasks, limits, **given)
    result = rollout(solver, q, tasks, limits, **given, delta_q_before_last=before)
    with pytest.warns(DeprecationWarning, match='delta_q_before_last'):
        former = rollout(solver, q, tasks, limits, **given, delta_q_before=before)
    assert (plain.delta_q != result.delta_q).any()
    np.testing.assert_array_equal(former.delta_q, result.delta_q)


def test_the_need_for_gjk_has_its_former_name():
    model = Model.from_urdf(find_robot('six_axis').urdf_path, device='cpu')
    scene = CollisionScene(CollisionGeometry.from_model(model), max_obstacles=1)
    with pytest.warns(DeprecationWarning, match='needs_gjk'):
        assert scene.is_convex is scene.needs_gjk is True


@pytest.mark.parametrize('kind', [JerkLimit, MotionLimit])
def test_limits_take_the_former_name_of_the_step_before_the_last_one(kind):
    limit = kind(*(np.full(6, 1.0) for _ in range(1 if kind is JerkLimit else 3)))
    with pytest.warns(DeprecationWarning, match='before_last'):
        limit.set_last_displacements(np.full(6, 0.1), before=np.full(6, 0.2))
    np.testing.assert_array_equal(limit._steps, [np.full(6, 0.1), np.full(6, 0.2)])
    with pytest.raises(ArgumentError, match='before_last'):
        limit.set_last_displacements(np.zeros(6))


def test_the_precedence_of_a_limit_has_its_former_name():
    with pytest.warns(DeprecationWarning, match='precedence'):

        class Slow(Limit):
            yields = 3

    assert Slow.precedence == 3
    assert Limit.precedence == 0 and JerkLimit.precedence == 2

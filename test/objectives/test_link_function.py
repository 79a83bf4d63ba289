# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""User-defined objectives declared by Warp functions: values, every solver, errors."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
from support.solvers.link_functions import Height
from support.solvers.link_functions import too_low
from support.solvers.link_functions import too_low_rate
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjectiveLinkFunction
from ros_ik import IKObjectivePosition
from ros_ik import IKSolver
from ros_ik import Task
from ros_ik.errors import ArgumentError
from ros_ik.solvers.batch_ik.fused.fused_lm import IKFusedLM
from ros_ik.solvers.batch_ik.optimizers.lm import IKOptimizerLM


@wp.struct
class Reach:
    """A point of the link and its target."""

    point: wp.vec3d
    target: wp.vec3d


@wp.func
def lack(reach: Reach, pose: wp.transformd) -> wp.vec3d:
    """Vector from the point to its target."""
    return reach.target - wp.transform_point(pose, reach.point)


@wp.func
def lack_rate(reach: Reach, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.vec3d:
    """Rate of the vector as the link moves."""
    arm = wp.transform_vector(pose, reach.point)
    return -wp.spatial_top(velocity) - wp.cross(wp.spatial_bottom(velocity), arm)


PROBLEMS = [2, 0, 1, 1]
POINT = np.array([0.1, -0.2, 0.3])


def reach(target, point=POINT):
    made = Reach()
    made.point, made.target = wp.vec3d(*point), wp.vec3d(*target)
    return made


def height(target):
    made = Height()
    made.target = target
    return made


def own(link, targets, **options):
    given = [reach(target) for target in targets]
    return IKObjectiveLinkFunction(link, lack, lack_rate, given, **options)


@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name):
    rng = np.random.default_rng(1)
    model, (link, reference) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(4, rng)
    targets = rng.normal(size=(3, 3))
    objective = own(link, targets, reference_link_index=reference, weight=(1.0, 2.0, 0.5))
    poses = rig.link_poses(name, joint_q)
    seen = [R2.T @ (p1 + R1 @ POINT - p2) for (p1, R1), (p2, R2) in poses]
    exact = np.array([1.0, 2.0, 0.5]) * (targets[PROBLEMS] - np.array(seen))
    np.testing.assert_allclose(
        rig.residuals(objective, model, joint_q, PROBLEMS), exact, atol=1e-12
    )
    single = rig.residuals(objective, model, joint_q, PROBLEMS, wp.float32)
    np.testing.assert_allclose(single, exact, atol=1e-5)
    rig.check_jacobians(objective, model, joint_q, PROBLEMS, double_tape=LONG)


def test_a_function_may_return_one_number():
    rng = np.random.default_rng(2)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = model.random_joint_q(4, rng)
    objective = IKObjectiveLinkFunction(link, too_low, too_low_rate, height(0.7))
    exact = [[0.7 - p[2]] for (p, _), _ in rig.link_poses('panda', joint_q)]
    np.testing.assert_allclose(rig.residuals(objective, model, joint_q, None), exact, atol=1e-12)
    rig.check_jacobians(objective, model, joint_q, None, double_tape=LONG)


class Solves:
    """Reachable targets of the Panda, and seeds."""

    def __init__(self, n=6):
        rng = np.random.default_rng(3)
        self.model, (self.link, _) = rig.robot('panda'), rig.links('panda')
        self.seeds = self.model.random_joint_q(n, rng).astype(np.float32)
        goals = rig.link_poses('panda', self.model.random_joint_q(n, rng))
        self.targets = np.array([p + R @ POINT for (p, R), _ in goals])

    def solve(self, objectives, **options):
        """Return the solver and its answers."""
        options = {'jacobian_mode': 'analytic', **options}
        solver = IKSolver(self.model, len(self.seeds), objectives, **options)
        answers = np.zeros_like(self.seeds)
        solver.step(self.seeds, answers, iterations=60)
        return solver, answers


def lift(link, weight):
    """Return the objective that keeps a link above a height."""
    return IKObjectiveLinkFunction(link, too_low, too_low_rate, height(0.5), weight=weight)


def test_a_batch_is_solved_in_one_kernel_as_the_built_in_objective_is():
    case = Solves()
    built_in = IKObjectivePosition(case.link, POINT, case.targets)
    _, expected = case.solve([built_in])
    # Beside others without weight it shares the kernel of the next test.
    others = [lift(case.link, 0.0), IKObjectivePosition(0, POINT, POINT, weight=0.0)]
    solver, answers = case.solve([own(case.link, case.targets), *others])
    assert isinstance(solver._backend, IKFusedLM)
    np.testing.assert_allclose(answers, expected, atol=1e-5)
    assert np.all(solver.costs.numpy() < 1e-8)
    solver, answers = case.solve([own(case.link, case.targets)], use_fused=False)
    assert isinstance(solver._backend, IKOptimizerLM)
    assert np.all(solver.costs.numpy() < 1e-6)
    solver, _ = case.solve([own(case.link, case.targets)], optimizer='lbfgs')
    assert np.all(solver.costs.numpy() < 1e-6)


def test_the_next_solve_takes_new_parameters_beside_objectives_of_other_kinds():
    case = Solves()
    objective = own(case.link, np.full((len(case.seeds), 3), 5.0))
    others = [lift(case.link, 0.01), IKObjectivePosition(0, POINT, POINT, weight=0.0)]
    solver, _ = case.solve([objective, *others])
    first = solver.costs.numpy().copy()
    objective.set_parameters([reach(target) for target in case.targets])
    answers = np.zeros_like(case.seeds)
    solver.step(case.seeds, answers, iterations=60)
    assert np.all(solver.costs.numpy() < 1e-3) and np.all(first > 1.0)
    before = solver.compute_costs(answers).numpy().copy()
    objective.set_parameter(1, reach(case.targets[1] + [1.0, 0.0, 0.0]))
    after = solver.compute_costs(answers).numpy()
    assert after[1] == pytest.approx(1.0, abs=0.1)
    np.testing.assert_array_equal(np.delete(after, 1), np.delete(before, 1))


def test_a_control_step_is_that_of_the_built_in_objective():
    case = Solves()
    built_in = IKObjectivePosition(case.link, POINT, case.targets[:1])
    steps = []
    for objective in (built_in, own(case.link, case.targets[:1])):
        solver = DifferentialIK(case.model, 'panda_link0:panda_hand_tcp')
        task = Task(objective, gain=0.3, weight=(1.0, 0.5, 2.0), damping=0.1, max_error=0.2)
        step = np.zeros(case.model.joint_dof_count)
        assert solver.solve_ik(case.seeds[0].astype(float), [task], (), (), step, 1e-4).ok
        assert solver._problems.last._rows is None
        steps.append(step)
    np.testing.assert_allclose(steps[1], steps[0], rtol=1e-9, atol=1e-12)
    assert np.abs(steps[0]).max() > 1e-3


@wp.func
def of_single_precision(values: Reach, pose: wp.transform) -> wp.vec3d:
    return values.target


@wp.func
def without_annotation(values: Reach, pose: wp.transformd):
    return values.target


@wp.func
def of_many(values: Reach, pose: wp.transformd) -> wp.types.vector(7, wp.float64):
    return wp.types.vector(7, wp.float64)()


@wp.func
def of_two(values: Reach, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.vec2d:
    return wp.vec2d()


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'residual': print}, ['residual', '@wp.func', 'print']),
        ({'residual': of_single_precision}, ['of_single_precision', 'Reach, transformf']),
        ({'residual': lack_rate}, ['lack_rate', 'wp.transformd', 'wp.spatial_vectord']),
        ({'residual': without_annotation}, ['without_annotation', 'annotation']),
        ({'residual': of_many}, ['of_many', '1 to 6']),
        ({'column': lack}, ['column', 'lack', 'wp.spatial_vectord']),
        ({'column': of_two}, ['of_two', 'lack', 'vec3d', 'vec2d']),
        ({'column': too_low_rate}, ['too_low_rate', 'Height', 'Reach']),
        ({'parameters': height(1.0)}, ['parameters', 'Reach']),
        ({'parameters': []}, ['parameters', 'Reach']),
        ({'link_index': 1.5}, ['link_index']),
        ({'weight': (1.0, 2.0)}, ['weight', '3']),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(arguments, words):
    given = {
        'link_index': 1, 'residual': lack, 'column': lack_rate, 'parameters': reach(POINT),
        **arguments,
    }  # fmt: skip
    with pytest.raises(ArgumentError) as caught:
        IKObjectiveLinkFunction(**given)
    for word in words:
        assert word in str(caught.value)


def test_parameters_stay_as_many_as_they_were():
    objective = own(1, np.zeros((2, 3)))
    with pytest.raises(ArgumentError, match='2, got 1'):
        objective.set_parameters(reach(POINT))
    with pytest.raises(ArgumentError, match='problem_idx must be below 2, got 2'):
        objective.set_parameter(2, reach(POINT))

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of solvers and objectives have newton.ik's names, order and defaults."""

import inspect

import pytest
from support.solvers.ik_problems import newton
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import PoseProblems
from support.solvers.ik_problems import solve

import ros_ik
from ros_ik.solvers.batch_ik.optimizers.lbfgs import IKOptimizerLBFGS
from ros_ik.solvers.batch_ik.optimizers.lm import IKOptimizerLM

pytestmark = pytest.mark.oracle
nik = newton.ik

CLASSES = {
    'IKSolver': ros_ik.IKSolver, 'IKOptimizerLM': IKOptimizerLM,
    'IKOptimizerLBFGS': IKOptimizerLBFGS, 'IKObjective': ros_ik.IKObjective,
    'IKObjectivePosition': ros_ik.IKObjectivePosition,
    'IKObjectiveRotation': ros_ik.IKObjectiveRotation,
    'IKObjectiveJointLimit': ros_ik.IKObjectiveJointLimit,
}  # fmt: skip
METHODS = [
    (name, method)
    for name in CLASSES
    for method, _ in inspect.getmembers(getattr(nik, name), inspect.isfunction)
    if method == '__init__' or not method.startswith('_')
]


def plain(value):
    """Return an enum member of either library as its value."""
    return getattr(value, 'value', value)


@pytest.mark.parametrize(('name', 'method'), METHODS)
def test_arguments_are_newtons(name, method):
    theirs = inspect.signature(getattr(getattr(nik, name), method)).parameters
    ours = inspect.signature(getattr(CLASSES[name], method)).parameters
    for parameter in theirs.values():
        assert parameter.name in ours, parameter
        mine = ours[parameter.name]
        # Arguments required there may have a default here; defaults there are the same here.
        if parameter.default is not parameter.empty:
            assert plain(mine.default) == plain(parameter.default), parameter.name
    positional = [p.name for p in theirs.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
    mine = [p.name for p in ours.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
    assert mine[: len(positional)] == positional


def test_every_class_of_newton_is_compared():
    classes = {name for name, value in inspect.getmembers(nik, inspect.isclass)}
    assert classes - set(CLASSES) == {'IKJacobianType', 'IKOptimizer', 'IKSampler'}
    for name in ('IKJacobianType', 'IKOptimizer', 'IKSampler'):
        assert {m.value for m in getattr(nik, name)} == {m.value for m in getattr(ros_ik, name)}


def test_the_default_number_of_iterations_is_taken():
    """The defaults of the optimizers differ; the front end has its own."""
    model = panda()
    problems = PoseProblems(model, model.body_index('panda_hand'), 4)
    for optimizer_type, default in ((IKOptimizerLM, 10), (IKOptimizerLBFGS, 50)):
        optimizer = optimizer_type(model, 4, [problems.objective()], jacobian_mode='analytic')
        taken = solve(optimizer, problems.seeds)
        assert (taken == solve(optimizer, problems.seeds, iterations=default)).all()
        assert not (taken == solve(optimizer, problems.seeds, iterations=default - 1)).all()

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The search for the configuration of least cost, checked by Pinocchio and L-BFGS-B."""

import numpy as np
import pytest
from solvers.optimal_control.optimal_control_rig import check_motion
from solvers.optimal_control.optimal_control_rig import Rig
from support.long_forms import either

from ros_ik.solvers.optimal_control.commands.command import OptimalControlCommandBuilder
from ros_ik.solvers.optimal_control.least_cost.search import StopReason


@pytest.fixture(scope='module')
def panda():
    return Rig('panda', seed=1)


@pytest.mark.oracle
@pytest.mark.parametrize('far', [0.0, 0.6], ids=['reachable', 'far'])
def test_the_end_is_a_local_minimum_inside_the_limits(panda, far):
    as_good, n = 0, either(3, 8)
    for _ in range(n):
        q = panda.random_joint_q()
        result = panda.solver.solve(panda.draw(q, far=far), q)
        check_motion(panda, result, q)
        end = result.positions[-1]
        # 1e-8 is the resolution of the finite differences of L-BFGS-B.
        assert panda.total(end) <= 1.001 * panda.local_minimum(end) + 1e-8
        as_good += panda.total(end) <= 1.01 * panda.local_minimum(q) + 1e-8
    assert as_good >= n - 1  # L-BFGS-B may go to another of several minima


def test_costs_are_those_of_the_document(panda):
    q = panda.random_joint_q()
    panda.draw(q, far=0.3)
    command = panda.builder().set_error_scaling(1.7).build()
    result = panda.solver.solve(command, q)
    cartesian, _, joints = panda.costs(result.positions[-1])
    scale = 1.7**2
    assert result.feedback.cartesian_costs == pytest.approx(scale * np.array(cartesian), rel=1e-6)
    assert result.feedback.joint_position_costs == pytest.approx(scale * np.array(joints))
    assert result.feedback.center_of_mass_cost == 0.0
    total = scale * (sum(cartesian) + sum(joints))
    assert result.feedback.total_cost == pytest.approx(total, rel=1e-6)


def test_two_targets_of_one_joint_add_up(panda):
    q = 0.5 * (panda.model.neutral_joint_q() + panda.random_joint_q())
    name = panda.names[0]
    made = OptimalControlCommandBuilder()
    made.add_joint_position_target(name, 0.2, 1.0).add_joint_position_target(name, 0.5, 3.0)
    result = panda.solver.solve(made.build(), q)
    # argmin (0.2 - q)^2 + 3 (0.5 - q)^2 = 0.425, where it is 0.0675.
    assert result.positions[-1, panda.coords[0]] == pytest.approx(0.425, abs=1e-6)
    assert result.feedback.total_cost == pytest.approx(0.0675, abs=1e-9)
    # The ten iterations without progress have not passed: the optimum is exact.
    assert result.iterations < 10 and result.reason is StopReason.MINIMUM
    assert result.feedback.finished
    for stop_cost, stops in ((0.0650, False), (0.0700, True)):
        result = panda.solver.solve(made.set_stop_cost(stop_cost).build(), q)
        assert (result.reason is StopReason.STOP_COST) == stops


def test_reasons_to_stop(panda):
    q = panda.random_joint_q()
    panda.draw(q, joint_weight=0.0)
    easy = panda.solver.solve(panda.builder().set_stop_cost(0.01).build(), q)
    assert easy.reason is StopReason.STOP_COST and easy.feedback.total_cost <= 0.01
    exact = panda.solver.solve(panda.builder().build(), q)
    assert exact.feedback.total_cost < easy.feedback.total_cost
    assert exact.iterations > easy.iterations

    impatient = panda.builder().set_stop_cost(0.0).set_min_delta_cost(1e6).set_patience(3)
    result = panda.solver.solve(impatient.build(), q)
    assert result.reason is StopReason.PATIENCE and len(result.times) > 1
    longer = panda.solver.solve(impatient.set_patience(5).build(), q)
    assert longer.feedback.total_cost < result.feedback.total_cost

    beyond = OptimalControlCommandBuilder()
    beyond.add_joint_position_target(panda.names[0], panda.upper[0] + 1.0)
    result = panda.solver.solve(beyond.build(), q)
    assert result.reason is StopReason.LIMIT and result.feedback.finished
    assert result.positions[-1, panda.coords[0]] == pytest.approx(panda.upper[0])

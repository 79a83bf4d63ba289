# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Two hands, two feet and the centre of mass of TALOS and G1, seen from the left foot."""

import numpy as np
import pytest
from solvers.optimal_control.optimal_control_rig import check_motion
from solvers.optimal_control.optimal_control_rig import Rig
from support.long_forms import either

from ros_ik.barriers import PositionBarrier
from ros_ik.solvers.optimal_control.solver import OptimalControl
from ros_ik.solvers.status import SolveStatus

HUMANOIDS = ['talos_reduced', 'g1_29dof_rev_1_0']


@pytest.mark.oracle
@pytest.mark.parametrize('name', either(HUMANOIDS[:1], HUMANOIDS))
def test_the_end_is_a_local_minimum(name):
    rig = Rig(name, seed=2)
    for far in (0.0, 0.3):
        q = rig.random_joint_q(spread=0.3)
        result = rig.solver.solve(rig.draw(q, far=far), q)
        check_motion(rig, result, q)
        end = result.positions[-1]
        cartesian, center, _ = rig.costs(end)
        assert result.feedback.cartesian_costs == pytest.approx(cartesian, rel=1e-4, abs=1e-9)
        assert result.feedback.center_of_mass_cost == pytest.approx(center, rel=1e-4, abs=1e-9)
        assert rig.total(end) <= 1.001 * rig.local_minimum(end) + 1e-8


@pytest.mark.parametrize('name', HUMANOIDS)
def test_hands_and_centre_of_mass_reach_targets_of_one_posture(name):
    """Targets that one configuration meets are met, from many starts."""
    rig = Rig(name, seed=4)
    for _ in range(5):
        q = rig.random_joint_q(spread=0.2)
        result = rig.solver.solve(rig.draw(q, reach=0.4, joint_weight=1e-6), q)
        check_motion(rig, result, q)
        cartesian, center, _ = rig.costs(result.positions[-1])
        # 1e-6 of the joints' way is all that may be left: 30 joints, 0.4 rad.
        assert sum(cartesian) + center < 1e-5


@pytest.mark.parametrize('name', HUMANOIDS)
def test_a_hand_stays_in_its_box(name):
    rig = Rig(name, seed=5)
    q = rig.random_joint_q(spread=0.2)
    command = rig.draw(q, reach=0.5)
    reference, hand = rig.pairs[0]
    frames, target = rig.frames(q), rig.targets[0].translation
    here = frames[reference].actInv(frames[hand]).translation
    # A wall a third of the way to the target, across the axis of the longest way.
    axis = int(np.argmax(np.abs(target - here)))
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    wall = here[axis] + (target[axis] - here[axis]) / 3.0
    (high if target[axis] > here[axis] else low)[axis] = wall
    barrier = PositionBarrier(
        rig.model.body_index(hand), low, high,
        reference_link_index=rig.model.body_index(reference),
    )  # fmt: skip
    solver = OptimalControl(rig.model, '', barriers=[barrier])
    result = solver.solve(command, q)
    check_motion(rig, result, q)
    assert result.status is SolveStatus.AT_LIMITS
    assert f'{hand} in {reference}' in result.unreachable_targets[0]
    sign = np.sign(target[axis] - here[axis])
    for x in result.positions:
        frames = rig.frames(x)
        position = frames[reference].actInv(frames[hand]).translation
        assert sign * (wall - position[axis]) >= -1e-7
    assert abs(wall - position[axis]) < 1e-4  # it rests there

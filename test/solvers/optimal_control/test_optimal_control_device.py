# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions on a device with memory of its own are those of the CPU."""

import numpy as np
import pytest
from solvers.optimal_control.optimal_control_rig import Rig
from support.long_forms import in_turn
from support.solvers.apart_memory import apart_memory

from ros_ik.barriers import PositionBarrier


def motions(name, has_box):
    """Return results of a few commands, out of reach some."""
    rig = Rig(name)
    if has_box:
        tip = rig.model.body_index(rig.pairs[0][1])
        rig = Rig(name, barriers=[PositionBarrier(tip, [-5.0] * 3, [0.6] * 3)])
    found = []
    for far in (0.0, 0.1):
        joint_q = rig.random_joint_q(0.5)
        command = rig.draw(joint_q, reach=1.5, far=far)
        found.append(rig.solver.solve(command, joint_q))
    return found


@pytest.mark.parametrize(
    ('name', 'has_box'), in_turn(['panda', 'talos_reduced'], [False, True])
)
def test_motions_are_those_of_the_cpu(name, has_box):
    here = motions(name, has_box)
    with apart_memory() as copies:
        there = motions(name, has_box)
    assert copies.up > 0 and copies.down > 0
    for one, other in zip(here, there, strict=True):
        assert (one.status, one.reason) == (other.status, other.reason)
        np.testing.assert_array_equal(one.positions, other.positions)
    assert len(here[0].positions) > 10

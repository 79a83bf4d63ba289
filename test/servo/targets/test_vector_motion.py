# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Estimated motion: offsets decay as their differential equation says, and targets rest."""

import numpy as np
import pytest
from scipy.linalg import expm

from ros_ik.servo.targets.target_motion import TargetMotion
from ros_ik.servo.targets.vector_motion import _Estimate
from ros_ik.servo.targets.vector_motion import Gains
from ros_ik.servo.targets.vector_motion import VectorMotion


@pytest.mark.parametrize('rate', [2.0, 30.0, 200.0])
@pytest.mark.parametrize('time', [0.0, 0.003, 0.05])
def test_offsets_decay_with_a_triple_pole(rate, time):
    rng = np.random.default_rng(0)
    estimate = _Estimate()
    state, offset = rng.normal(size=(2, 3, 3)) * np.array([0.01, 0.2, 3.0])[:, None]
    estimate.state, estimate.offset = (
        tuple(map(tuple, rows.tolist())) for rows in (state, offset)
    )
    estimate._rate, estimate.acceleration_time = rate, 1.0
    # (d/dt + w)^3 o = 0 as a system of the first order.
    decay = expm(time * np.array([[0, 1, 0], [0, 0, 1], [-(rate**3), -3 * rate**2, -3 * rate]]))
    np.testing.assert_allclose(estimate._offset_at(time), decay @ offset, rtol=1e-9, atol=1e-9)
    # Both forms of the position, one of which each tick computes.
    followed = np.subtract(estimate.position_at(time), estimate.output_at(time))
    np.testing.assert_allclose(followed, (decay @ offset)[0], rtol=1e-9, atol=1e-12)


def rests_and_moves(seed):
    """Return displacements of a target that stays and moves in turn."""
    rng = np.random.default_rng(seed)
    moves = [(0.0, 0.0, 0.0)] * 8
    for _ in range(12):
        moves += [tuple((1e-4 * rng.normal(size=3)).tolist())] * int(rng.integers(1, 6))
        moves += [(0.0, 0.0, 0.0)] * int(rng.integers(1, 120))
    return moves


def followed(moves):
    """Return the motion along displacements, and the positions at which it is seen."""
    motion, gains, seen = VectorMotion(), Gains(0.01), []
    for moved in moves:
        motion.add(moved, 0.01, gains, (1.0, 5.0), 0.002)
        seen.append((motion.at(0.003), motion.at(0.009), motion.rests, motion._mean_error))
    return motion, seen


@pytest.mark.parametrize('seed', range(5))
def test_messages_of_a_target_at_rest_change_what_they_would_if_all_was_computed(
    seed, monkeypatch
):
    moves = rests_and_moves(seed)
    motion, quick = followed(moves)
    assert sum(rests for *_, rests, _ in quick) > 20
    assert not motion.is_new
    monkeypatch.setattr(_Estimate, 'is_settled', False)
    assert followed(moves)[1] == quick


def test_a_motion_is_new_until_the_target_moves():
    rest, start = (0.0, 0.0, 0.0), (1e-3, 0.0, 0.0)
    motion, _ = followed([rest] * 5)
    assert motion.is_new
    assert followed([rest, start, rest])[1][1:] == followed([start, rest])[1]
    assert not followed([rest, start])[0].is_new


class Unlike(list):
    """A pose that seems to differ from every other one."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def test_a_repeated_pose_moves_the_target_as_if_its_difference_was_computed():
    rng = np.random.default_rng(0)
    motions, pose = (TargetMotion(), TargetMotion()), np.array([0.1, 0.2, 0.3, 0, 0, 0, 1.0])
    for tick in range(400):
        if tick % 60 > 40:
            pose[:3] += 1e-3 * rng.normal(size=3)
            pose[3:] += 0.02 * rng.normal(size=4)
            pose[3:] /= np.linalg.norm(pose[3:])
        now = 0.01 * tick
        for motion, kind in zip(motions, (list, Unlike), strict=True):
            motion.add(kind(pose.tolist()), now, None, (1.0, 2.0), (5.0, 10.0))
        one, other = (motion.between(now + 0.001, now + 0.002) for motion in motions)
        assert one == other
        assert motions[0].moves(now) == motions[1].moves(now)

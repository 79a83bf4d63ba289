# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""States after a step: against the solver's own integration and forward kinematics."""

import numpy as np
import pytest
from support.rigs.servo_rig import Rig

from ros_ik.servo.step.commanded_state import CommandedState
from ros_ik.settings import read_settings


@pytest.fixture(scope='module', params=['panda', 'talos_left_arm'])
def rig(request):
    return Rig(request.param)


def random_states(rig, count):
    rng, model = np.random.default_rng(4), rig.model
    for q in model.random_joint_q(count, rng):
        yield q, 0.01 * rng.normal(size=model.joint_dof_count)


def test_a_step_leads_where_the_solver_says(rig):
    state, diff = CommandedState(rig.robot, rig.settings), rig.servo._solver.diff
    for q, step in random_states(rig, 5):
        after = state.advance(q, step)
        np.testing.assert_array_equal(after, diff.integrate(q, step))
        np.testing.assert_array_equal(state.poses, diff.body_poses(after))
        assert state.at(after) is state.poses
        sigma = state.singularity.sigma()
        state.at(q)
        assert np.all(state.singularity.sigma() != sigma)
        np.testing.assert_array_equal(state.poses, diff.body_poses(q))
        state.at(after)
        np.testing.assert_array_equal(state.singularity.sigma(), sigma)


def test_what_it_returned_stays(rig):
    state = CommandedState(rig.robot, rig.settings)
    kept = [(state.advance(q, step), state.poses) for q, step in random_states(rig, 4)]
    copies = [(after.copy(), poses.copy()) for after, poses in kept]
    state.at(rig.q)
    for one, other in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_changed_weights_count_at_once_where_it_is(rig):
    settings = read_settings({**rig.given, 'ee.orientation_weight': 0.0})
    state = CommandedState(rig.robot, rig.settings)
    state.at(rig.q)
    before = state.singularity.sigma()
    state.apply(settings)
    fresh = CommandedState(rig.robot, settings)
    fresh.at(rig.q)
    assert state.singularity.sigma()[0] != before[0]
    np.testing.assert_array_equal(state.singularity.sigma(), fresh.singularity.sigma())


def test_poses_cannot_be_changed_in_place_and_are_new_for_each_configuration(rig):
    state = CommandedState(rig.robot, rig.settings)
    (q, step), (other, _) = random_states(rig, 2)
    for move in (lambda: state.advance(q, step), lambda: state.at(other), lambda: state.at(q)):
        before, kept = state.poses, state.poses.copy()
        move()
        assert state.poses is not before
        np.testing.assert_array_equal(before, kept)
        with pytest.raises(ValueError, match='read-only'):
            state.poses[0, 0] = 1.0

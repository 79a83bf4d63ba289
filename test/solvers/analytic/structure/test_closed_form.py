# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Recognition of the structure of arms, and the reasons of those without a closed form."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.axis_arms import arm
from support.robots.axis_arms import arm_urdf
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import STRUCTURES
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik import closed_form
from ros_ik import Model
from ros_ik.errors import ArgumentError
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily as Family
from ros_ik.solvers.analytic.structure.structure import StructureTolerances

# A pair of parallel or meeting axes that leaves a quadratic equation instead of a quartic.
QUARTIC = {
    'wrist', 'shoulder', '2, 3, 4 meet', '3, 4, 5 meet', '2, 3, 4 parallel', '3, 4, 5 parallel',
    '1, 2, 3 parallel', '4, 5, 6 parallel',
}  # fmt: skip


def robot(name):
    """Return the model of the URDF with this file name."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path)


@pytest.mark.parametrize('structure', STRUCTURES)
def test_random_arms_of_each_structure_are_recognised(structure):
    for seed in range(either(4, 20)):
        h, p, tool = random_axes(structure, np.random.default_rng(seed))
        form = closed_form(arm(h, p, tool), 'tool')
        kind, joints = STRUCTURES[structure][0]
        assert form.family is (Family.SPHERICAL if kind == 'meet' else Family.PARALLEL)
        assert form.special_joints == tuple(f'j{k + 1}' for k in joints)
        assert form.exact and form.deviation < 1e-12
        assert form.quartic == (structure in QUARTIC)
        assert form.max_branches == 8 and form.reason == ''


@pytest.mark.parametrize(
    'name, link, family',
    [
        ('ur5_robot', 'tool0', Family.PARALLEL),
        ('ur10_robot', 'tool0', Family.PARALLEL),
        ('z1', 'gripperStator', Family.PARALLEL),
        ('kinova', 'j2s6s200_end_effector', Family.SPHERICAL),
        ('talos_full_v2', 'leg_left_6_link', Family.SPHERICAL),
    ],
)
def test_robots_at_hand(name, link, family):
    form = closed_form(robot(name), link)
    assert form.family is family and form.exact and not form.quartic


def test_axes_that_nearly_fit_are_told_from_those_that_do():
    h, p, tool = random_axes('2, 3, 4 parallel', np.random.default_rng(0))
    for tilt, family, exact in (
        (1e-10, Family.PARALLEL, True),
        (1e-6, Family.PARALLEL, False),
        (1e-3, Family.PARALLEL, False),
        (2e-2, Family.GENERAL, True),
    ):
        tilted = h.copy()
        across = np.cross(h[2], [0.3, 0.5, 0.8])
        tilted[2] += tilt * across / np.linalg.norm(across)
        tilted[2] /= np.linalg.norm(tilted[2])
        form = closed_form(arm(tilted, p, tool), 'tool')
        assert form.family is family and form.exact == exact
        if family is Family.PARALLEL:
            assert form.deviation == pytest.approx(tilt, rel=0.6, abs=1e-15)
    wider = StructureTolerances(angle=5e-2)
    assert closed_form(arm(tilted, p, tool), 'tool', tolerances=wider).family is Family.PARALLEL


def test_a_wrist_whose_axes_miss_one_another():
    h, p, tool = random_axes('wrist', np.random.default_rng(0))
    for gap, family, exact in (
        (1e-5, Family.SPHERICAL, False),
        (1e-3, Family.SPHERICAL, False),
        (1e-1, Family.GENERAL, True),
    ):
        moved = p.copy()
        moved[4] += gap * np.cross(h[4], h[5])
        form = closed_form(arm(h, moved, tool), 'tool')
        assert form.family is family and form.exact == exact


@pytest.mark.parametrize(
    'structure', ['wrist', '2, 3, 4 parallel, 5 meets 6', 'wrist, 2 parallel 3']
)
def test_the_tool_does_not_change_the_structure(structure):
    h, p, tool = random_axes(structure, np.random.default_rng(1))
    for gap in (0.0, 1e-3, 1e-1):
        moved = p.copy()
        moved[4] += gap * np.cross(h[4], h[5])
        near = closed_form(arm(h, moved, tool), 'tool')
        for away in (3.0, 30.0, 1000.0):
            far = closed_form(arm(h, moved, tool + away * np.array([0.6, 0.0, 0.8])), 'tool')
            assert (far.family, far.special_joints) == (near.family, near.special_joints)
            assert (far.exact, far.max_branches) == (near.exact, near.max_branches)
            assert far.deviation == pytest.approx(near.deviation, rel=1e-6, abs=1e-9)


def test_the_reason_is_given_where_there_is_none():
    h, p, tool = random_axes('wrist', np.random.default_rng(0))
    flat = closed_form(arm(np.tile(h[0], (6, 1)), p, tool), 'tool')
    assert flat.family is Family.NONE and flat.max_branches == 0
    assert 'every configuration is singular' in flat.reason


def test_a_redundant_arm_names_the_joints_to_lock():
    form = closed_form(robot('panda'), 'panda_hand_tcp')
    assert form.redundancy == 1 and form.redundant_joint == 'panda_joint7'
    assert form.lockable == ('panda_joint4', 'panda_joint5', 'panda_joint6', 'panda_joint7')
    six = [name for name in form.joints if name != 'panda_joint7']
    locked = closed_form(robot('panda'), 'panda_hand_tcp', six)
    assert locked.family is not Family.NONE and locked.joints == tuple(six)


def test_a_following_joint_has_no_closed_form():
    text = arm_urdf(*random_axes('wrist', np.random.default_rng(0)))
    joint = '<joint name="j2" type="continuous">'
    text = text.replace(joint, joint + '<mimic joint="j1"/>')
    form = closed_form(Model.from_urdf(text, device='cpu'), 'tool')
    assert form.family is Family.NONE and 'a joint is a mimic joint' in form.reason


def test_wrong_arguments_are_named():
    model = robot('ur5_robot')
    with pytest.raises(ArgumentError, match='nowhere'):
        closed_form(model, 'nowhere')
    with pytest.raises(ArgumentError, match='Model'):
        closed_form('ur5', 'tool0')
    for value in (1e-3, 'fine', np.ones(2)):
        with pytest.raises(ArgumentError, match='tolerances must be StructureTolerances'):
            closed_form(model, 'tool0', tolerances=value)
    with pytest.raises(ArgumentError, match='angle'):
        StructureTolerances(angle=0.0)

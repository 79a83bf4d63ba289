# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers of the solvers of poses keep the limits of mimic joints outside the chain.

Such a joint is the side link of a parallelogram, or a cover that a joint of the arm moves. The
judge reads limits and mimic tags from the description; Pinocchio gives the poses.
"""

import dataclasses
import functools

import numpy as np
import pinocchio as pin
import pytest
from support.robots.robots import urdf_text
from support.solvers.followers import Follower
from support.solvers.followers import is_inside
from support.solvers.followers import own_limits
from support.solvers.followers import positions_by_name
from support.solvers.followers import random_followers
from support.solvers.followers import with_followers

from ros_ik import all_solutions
from ros_ik import ChainIK
from ros_ik import closed_form
from ros_ik import DifferentialIK
from ros_ik import IKObjectiveJointPosition
from ros_ik import inverse_kinematics
from ros_ik import Model
from ros_ik import PositionLimit
from ros_ik import solve_path
from ros_ik import SolveStatus
from ros_ik import Task

# The search keeps limits of a few radians in float32, and closed forms in float64.
SLACK, FINE = 1e-6, 1e-9

PLANAR = """<robot name="planar"><link name="l0"/><link name="l1"/><link name="l2"/>
<link name="l3"/>
<joint name="a" type="revolute"><parent link="l0"/><child link="l1"/><origin xyz="0 0 0.1"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<joint name="b" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0.5 0 0"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<joint name="c" type="revolute"><parent link="l2"/><child link="l3"/><origin xyz="0.4 0.1 0"/>
<axis xyz="1 0 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint></robot>"""
# The joint c follows the joint b inside the chain, as in test_chain_ik_structures.py.
COUPLED = PLANAR.replace(
    '<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><mimic joint="b" multiplier="-0.8" offset="0.2"/>'
)


@dataclasses.dataclass
class Case:
    """A robot with side links, without them, and poses of configurations of all its range."""

    text: str
    bare: str
    link: str
    joints: tuple
    targets: int = 60

    @functools.cached_property
    def model(self):
        return Model.from_urdf(self.text, device='cpu')

    @functools.cached_property
    def oracle(self):
        model = pin.buildModelFromXML(self.text)
        return model, model.createData()

    def positions(self, joint_q):
        return positions_by_name(self.model, joint_q)

    def pose(self, positions):
        """Return the pose [7] of the link by Pinocchio, with positions by name."""
        model, data = self.oracle
        q = pin.neutral(model)
        for k in range(1, model.njoints):
            joint, value = model.joints[k], positions[model.names[k]]
            wide = joint.nq == 2
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                [np.cos(value), np.sin(value)] if wide else [value]
            )
        pin.framesForwardKinematics(model, data, q)
        return pin.SE3ToXYZQUAT(data.oMf[model.getFrameId(self.link)])

    def draw(self, rng):
        """Return configurations inside the limits of drivers, and which are inside all limits."""
        model, own = self.model, own_limits(self.text)
        joint_q = np.zeros((4000, model.joint_coord_count))
        start = model.joint_q_start.numpy()
        for name in self.joints:
            low, high = np.clip(own[name], -np.pi, np.pi)
            joint_q[:, start[model.joint_index(name)]] = rng.uniform(low, high, 4000)
        joint_q = model.apply_mimic(joint_q)
        good = is_inside(self.text, self.positions(joint_q))
        assert good.sum() >= 8
        half = self.targets // 2
        chosen = [*np.flatnonzero(good)[:half], *np.flatnonzero(~good)[:half]]
        joint_q, good = joint_q[chosen], good[chosen]
        at = self.positions(joint_q)
        poses = [self.pose({name: v[k] for name, v in at.items()}) for k in range(len(joint_q))]
        return joint_q, np.array(poses), good

    def check(self, rows, poses, slack=SLACK):
        """Check that configurations [n, coordinates] are inside limits and at their poses."""
        at = self.positions(rows)
        assert is_inside(self.text, at, slack).all()
        for k, pose in enumerate(poses):
            found = self.pose({name: v[k] for name, v in at.items()})
            np.testing.assert_allclose(found[:3], pose[:3], atol=1e-3)
            assert abs(found[3:] @ pose[3:]) > 1.0 - 1e-4


def make_case(kind, seed):
    rng = np.random.default_rng(seed)
    bare, link, joints = {
        'planar': (PLANAR, 'l3', ('a', 'b', 'c')),
        'coupled': (COUPLED, 'l3', ('a', 'b')),
        'ur5': (
            urdf_text('ur5_robot'), 'tool0',
            ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
             'wrist_2_joint', 'wrist_3_joint'),
        ),
        'panda': (
            urdf_text('panda'), 'panda_hand_tcp',
            tuple(f'panda_joint{k}' for k in range(1, 8)),
        ),
    }[kind]  # fmt: skip
    parent = {'ur5': 'base_link', 'panda': 'panda_link0'}.get(kind, 'l0')
    text = with_followers(bare, random_followers(rng, bare, list(joints)), parent)
    return Case(text, bare, link, joints), rng


CASES = [('planar', 0), ('planar', 1), ('planar', 2), ('coupled', 3), ('coupled', 4),
         ('ur5', 5), ('ur5', 6), ('panda', 7), ('panda', 8)]  # fmt: skip


@pytest.mark.parametrize(('kind', 'seed'), CASES)
@pytest.mark.parametrize('options', [
    {'method': 'search'}, {'method': 'search', 'n_solutions': 6}, {'method': 'auto'},
    {'preference': 'middle'}, {'preference': 'manipulability'},
], ids=str)  # fmt: skip
def test_answers_are_inside_the_limits_of_side_links(kind, seed, options):
    case, rng = make_case(kind, seed)
    joint_q, poses, good = case.draw(rng)
    result = inverse_kinematics(case.model, case.link, poses, **options)
    solved = result.status == SolveStatus.CONVERGED
    # A configuration inside all limits reaches its pose.
    assert solved[good].mean() > 0.95
    rows = result.joint_q
    if rows.ndim == 3:
        number = np.repeat(np.arange(len(poses)), result.n_found)
        kept = np.arange(rows.shape[1]) < np.asarray(result.n_found)[:, None]
        case.check(rows[kept], poses[number])
    else:
        case.check(rows[solved], poses[solved])


@pytest.mark.parametrize(('kind', 'seed'), [('ur5', 5), ('ur5', 9), ('panda', 7), ('planar', 0)])
def test_closed_forms_find_the_solutions_inside_the_limits_of_side_links(kind, seed):
    case, rng = make_case(kind, seed)
    joint_q, poses, good = case.draw(rng)
    result = inverse_kinematics(case.model, case.link, poses, joint_q, method='closed_form')
    solved = result.status == SolveStatus.CONVERGED
    assert solved[good].all()
    case.check(result.joint_q[solved], poses[solved], FINE)


@pytest.mark.parametrize('seed', range(10, 14))
def test_all_solutions_are_those_of_the_bare_arm_inside_all_limits(seed):
    case, rng = make_case('ur5', seed)
    _, poses, _ = case.draw(rng)
    bare = Model.from_urdf(case.bare, device='cpu')
    options = {'all_turns': True, 'max_solutions': 600}
    found = all_solutions(case.model, case.link, poses, **options)
    expected = all_solutions(bare, case.link, poses, **options)
    names = list(case.joints)
    for k in range(len(poses)):
        rows = found.joint_q[k, : found.n_found[k]]
        assert is_inside(case.text, case.positions(rows), FINE).all()
        full = case.model.neutral_joint_q() + np.zeros((expected.n_found[k], 1))
        of_bare = positions_by_name(bare, expected.joint_q[k, : expected.n_found[k]])
        for name in names:
            full[:, case.model.joint_q_start.numpy()[case.model.joint_index(name)]] = of_bare[name]
        full = case.model.apply_mimic(full)
        full = full[is_inside(case.text, case.positions(full), -1e-6)]
        apart = np.abs(full[:, None] - rows[None]).max(axis=-1, initial=0.0)
        assert len(rows) or not len(full)
        assert np.all(apart.min(axis=1, initial=np.inf) < 1e-6)
    case.check(
        np.concatenate([found.joint_q[k, : found.n_found[k]] for k in range(len(poses))]),
        np.repeat(poses, found.n_found, axis=0), FINE,
    )  # fmt: skip


@pytest.mark.parametrize('seed', [7, 8])
def test_all_solutions_of_a_redundant_arm_are_inside_the_limits_of_side_links(seed):
    case, rng = make_case('panda', seed)
    joint_q, poses, good = case.draw(rng)
    found = all_solutions(case.model, case.link, poses, joint_q)
    assert np.all(found.status[good] == SolveStatus.CONVERGED)
    rows = np.concatenate([found.joint_q[k, : found.n_found[k]] for k in range(len(poses))])
    case.check(rows, np.repeat(poses, found.n_found, axis=0), FINE)


def test_the_class_of_a_chain_keeps_the_limits_of_side_links():
    case, rng = make_case('planar', 1)
    joint_q, poses, good = case.draw(rng)
    result = ChainIK(case.model, case.link, len(poses)).solve(poses)
    solved = result.status == SolveStatus.CONVERGED
    assert solved[good].mean() > 0.95
    case.check(result.joint_q[solved], poses[solved])


@pytest.mark.parametrize('method', ['auto', 'search'])
def test_a_path_ends_or_breaks_at_the_limit_of_a_side_link(method):
    # q = 0.3 - 2 v inside [-1, 0.5], so that the joint a stays in [-0.1, 0.65].
    text = with_followers(PLANAR, [Follower('f', 'a', -2.0, 0.3, -1.0, 0.5)], 'l1')
    case = Case(text, PLANAR, 'l3', ('a', 'b', 'c'))
    rows = np.zeros((60, case.model.joint_coord_count))
    start = case.model.joint_q_start.numpy()
    rows[:, start[case.model.joint_index('a')]] = np.linspace(0.0, 2.5, 60)
    rows[:, start[case.model.joint_index('b')]] = 0.4
    rows = case.model.apply_mimic(rows)
    at = case.positions(rows)
    poses = np.array([case.pose({n: v[k] for n, v in at.items()}) for k in range(len(rows))])
    path = solve_path(case.model, 'l3', poses, start=rows[0], method=method)
    assert is_inside(text, case.positions(path.joint_q), SLACK).all()
    assert path.fraction < 0.35


def test_limits_of_side_links_that_exclude_every_position_have_no_effect():
    followers = [
        Follower('f', 'a', 1.0, 9.0, -1.0, 1.0),
        Follower('g', 'a', 1.0, 0.0, -0.5, 1.0),
    ]
    text = with_followers(PLANAR, followers, 'l0')
    case = Case(text, PLANAR, 'l3', ('a', 'b', 'c'))
    assert 'all outside its limits' in case.model.warnings[0]
    joint_q = case.model.random_joint_q(40, 0)
    at = case.positions(joint_q)
    poses = np.array([case.pose({n: v[k] for n, v in at.items()}) for k in range(40)])
    for method in ('search', 'closed_form'):
        result = inverse_kinematics(case.model, 'l3', poses, joint_q, method=method)
        assert np.all(result.status == SolveStatus.CONVERGED)
        assert is_inside(text, case.positions(result.joint_q), SLACK, exempt=('f',)).all()


@pytest.mark.parametrize(
    ('driver', 'factor', 'text'),
    [
        ('a', 1.0, "'a' that 'e' can follow lead it from 0.8 to 1.3, all"),
        ('e', -1.0, "'a' that 'e' can follow lead it from -1.3 to -0.8, all"),
        ('a', 0.0, "'a' lead it from 2 to 2, all"),
    ],
)
def test_limits_that_only_together_exclude_every_position_have_no_effect(driver, factor, text):
    followers = [
        Follower('e', 'a', 1.0, 0.0, 0.8, 1.3),
        Follower('f', driver, factor, 0.0 if factor else 2.0, 0.5, 0.6),
    ]
    arm = with_followers(PLANAR, followers, 'l0')
    model = Model.from_urdf(arm, device='cpu')
    (warning,) = model.warnings
    assert warning.startswith("joint 'f' mimic: ")
    assert warning.endswith(f'{text} outside its limits, 0.5 to 0.6')
    joint_q = model.random_joint_q(40, 0)
    assert is_inside(arm, positions_by_name(model, joint_q), SLACK, exempt=('f',)).all()
    solver, step = DifferentialIK(model), np.zeros(model.joint_dof_count)
    task = Task(IKObjectiveJointPosition(model, model.neutral_joint_q()))
    status = solver.solve_ik(joint_q[0], [task], [PositionLimit()], [], step)
    assert status == SolveStatus.CONVERGED


def test_side_links_of_locked_joints_bound_nothing():
    # The joint a is locked where its mimic joint is outside.
    text = with_followers(PLANAR, [Follower('f', 'a', 1.0, 0.0, -0.5, 0.5)], 'l0')
    case = Case(text, PLANAR, 'l3', ('a', 'b', 'c'))
    locked = case.model.neutral_joint_q({'a': 2.0, 'b': 0.5, 'c': 0.7})
    pose = case.pose({name: float(v) for name, v in case.positions(locked).items()})
    for method in ('search', 'closed_form'):
        result = inverse_kinematics(
            case.model, 'l3', pose[None], joint_group=['b', 'c'], joint_q=locked, method=method
        )
        assert result.status[0] == SolveStatus.CONVERGED
        np.testing.assert_allclose(result.joint_q[0], locked, atol=1e-3)


def test_side_links_change_no_closed_form():
    case, _ = make_case('ur5', 5)
    bare = Model.from_urdf(case.bare, device='cpu')
    forms = [closed_form(model, 'tool0') for model in (case.model, bare)]
    assert forms[0].family == forms[1].family and forms[0].exact == forms[1].exact

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""After a break a path gets as far as one that begins there, in bounded time."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.collision_oracle import robot_with_meshes
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.kinematics import eval_fk
from ros_ik.model import ModelBuilder
from ros_ik.model.builder import DofData
from ros_ik.solvers.path.branch_follower import BranchFollower
from ros_ik.solvers.path.branch_follower import LOCAL
from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.path.solver import solve_path
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

N = 20
# Kinds of joints, revolute and prismatic. Other tests solve chains of those in the short form, and
# so share their kernels.
CHAINS = ['rrrrr', 'prrrrrr', 'rrrrrrr', *either([], ['prrrrr', 'rpprrr'])]


def chain(kinds, rng):
    """Return a model of a chain of random axes."""
    builder = ModelBuilder()
    links = [builder.add_link(f'l{k}') for k in range(len(kinds) + 1)]
    joints = [builder.add_joint_fixed(-1, links[0])]
    for k, kind in enumerate(kinds):
        axis, rotation = rng.normal(size=3), rng.normal(size=4)
        reach = 2.5 if kind == 'r' else 0.4
        pose = [*rng.normal(size=3) * 0.2, *rotation / np.linalg.norm(rotation)]
        add = builder.add_joint_revolute if kind == 'r' else builder.add_joint_prismatic
        dof = DofData(tuple(axis / np.linalg.norm(axis)), -reach, reach)
        joints.append(add(links[k], links[k + 1], dof=dof, parent_xform=pose))
    builder.add_articulation(joints)
    return builder.finalize('cpu')


def poses_of(model, link, joint_q):
    """Return the poses of a link, [n, 7]."""
    body_q = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    return body_q[:, link].copy()


def robot(name):
    """Return the model of the URDF with this file name."""
    return load(next(path for path in ALL_URDFS if path.stem == name))


@pytest.mark.parametrize('away', [5.0, 0.05])
@pytest.mark.parametrize('kinds', CHAINS)
def test_a_path_gets_as_far_after_a_break_as_without_a_start(kinds, away):
    rng, compared = np.random.default_rng(len(kinds)), 0
    for _ in range(either(4, 12)):
        model, link = chain(kinds, rng), len(kinds)
        start = model.random_joint_q(1, rng)[0]
        spread = np.where([kind == 'r' for kind in kinds], 0.6, 0.15)
        lower, upper = model.limits64()[:2]
        end = np.clip(start + spread * rng.normal(size=len(start)), lower, upper)
        line = start + np.linspace(0.0, 1.0, N)[:, None] * (end - start)
        poses = poses_of(model, link, line)
        poses[8, 0] += away
        step = 1.2 * np.abs(np.diff(line, axis=0)).max()
        options = {'max_joint_step': step, 'method': 'search'}
        for begin in (start, None):
            path = solve_path(model, link, poses, begin, **options)
            reached = path.status == SolveStatus.CONVERGED
            for k in path.breaks:
                # The pose of the break, or the first one after those that are out of reach.
                first = k + int(np.argmax(reached[k:]))
                if not reached[first]:
                    continue
                ends = [other for other in path.breaks if other > first]
                free = solve_path(model, link, poses[first:], **options)
                furthest = first + round(free.fraction * (N - first))
                assert min(ends, default=N) >= furthest, (path.breaks, first)
                compared += 1
    assert compared


def circle(model, link, joint_q, n, radius):
    """Return poses on a horizontal circle that begins where the link is."""
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    poses = np.tile(poses_of(model, link, joint_q[None])[0], (n, 1))
    poses[:, 0] += radius * (np.cos(angle) - 1.0)
    poses[:, 1] += radius * np.sin(angle)
    return poses


@pytest.mark.parametrize('step', [0.3, 0.1, np.inf])
@pytest.mark.parametrize(('name', 'tool'), [('panda', 'panda_hand_tcp'), ('ur5_robot', 'tool0')])
def test_branches_followed_together_are_those_followed_alone(name, tool, step):
    rng, lengths = np.random.default_rng(6), set()
    for checks in (False, True):
        model = robot_with_meshes(name) if checks else robot(name)
        link, check = model.body_index(tool), MotionCheck(model, None, np.zeros(0))
        if checks:
            solver = ChainIK(model, tool, check_collisions=True)
            check = MotionCheck(model, solver.collision_pairs, solver.collision_margins)
        alone = BranchFollower(ChainIK(model, tool, settings=LOCAL), check, step)
        together = BranchFollower(ChainIK(model, tool, 4, settings=LOCAL), check, step)
        search = ChainIK(model, tool, n_solutions=6)
        for n in (8, 40):
            q = model.random_joint_q(1, rng)[0]
            poses = circle(model, link, q, n, radius=0.2)
            starts = search.solve(poses[:1], q[None]).joint_q.reshape(6, -1).copy()
            found = together.follow(poses, starts, poses[0])
            assert len(found) == 6
            for path, start in zip(found, starts, strict=True):
                (expected,) = alone.follow(poses, start[None], poses[0])
                lengths.add(len(expected))
                np.testing.assert_array_equal(path, expected)
    assert len(lengths) > 1


@pytest.mark.parametrize('case', ['far apart', 'too fast', 'every second out of reach'])
def test_a_path_that_breaks_everywhere_takes_few_solves(monkeypatch, case):
    """They grow with the number of poses, not with that of poses times branches."""
    local, searched = [], []
    solve = ChainIK.solve

    def counted(self, poses, seeds=None):
        # Poses that are not finite fill the batch.
        count = np.isfinite(np.asarray(poses)[:, 0]).sum()
        (searched if self.settings.max_attempts > 1 else local).append(count)
        return solve(self, poses, seeds)

    monkeypatch.setattr(ChainIK, 'solve', counted)
    model = robot('panda')
    link, q = model.body_index('panda_hand_tcp'), model.random_joint_q(40, 2)
    poses = poses_of(model, link, q) if case == 'far apart' else circle(model, link, q[0], 40, 0.1)
    if case == 'every second out of reach':
        poses[::2, 0] += 5.0
    step = 1e-3 if case == 'too fast' else 0.3
    path = solve_path(model, link, poses, method='search', max_joint_step=step)
    assert len(path.breaks) >= 38
    # One search of the first pose, one of all others, and two after each break.
    assert len(searched) <= 2 + 2 * 40 and sum(searched) <= 1 + 40 + 2 * 40
    assert len(local) <= 25 * 40

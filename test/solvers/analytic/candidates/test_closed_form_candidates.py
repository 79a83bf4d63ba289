# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Candidates of closed forms before the polish, which hides their faults: judged by Pinocchio."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.axis_arms import arm_urdf
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import SOME_STRUCTURES
from support.robots.axis_arms import STRUCTURES
from support.robots.chain_judge import ChainJudge
import warp as wp

from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.candidates.sources import candidate_source
from ros_ik.solvers.analytic.structure.form import recognised
from ros_ik.solvers.analytic.structure.structure import StructureTolerances

N = 12
WRIST, SHOULDER = (3, 4, 5), (0, 1, 2)
# Joints from the base to the tool, P slides and R turns; those whose axes meet; axes of real arms.
SLIDES = [
    *((f'{kinds}RRR', WRIST, '') for kinds in ('RRP', 'RPR', 'PRR', 'RPP', 'PRP', 'PPR')),
    *((f'RRR{kinds}', SHOULDER, '') for kinds in ('RRP', 'RPR', 'PRR', 'RPP', 'PRP', 'PPR')),
    *((kinds, (), '') for kinds in ('PPPRRR', 'RPPRPR', 'PRPRPR', 'RRRPPP')),
    ('RPPRRR', WRIST, 'zzxzyz'), ('RRPRRR', WRIST, 'zyxxyx'), ('RPRRRR', WRIST, 'zxyzyz'),
    ('RPRRRR', WRIST, 'xxyzyz'), ('PRRRRR', WRIST, 'zxyzyz'), ('RRPRRR', WRIST, 'zxxzyz'),
]  # fmt: skip
# Rounding of a candidate, over the least singular value at the random configurations here.
PLACE, ANGLE, MISS = 1e-10, 1e-10, 1e-8


def candidates(judge, poses, seeds):
    """Return the candidates [n, 16, joints] of an arm, and which of them are polished."""
    form, made = recognised(judge.model, judge.chain, '', StructureTolerances())
    assert form.exact and len(made) == 1
    source = candidate_source(made, True, len(poses), 'cpu')
    assert source.candidates.shape == (len(poses), MAX_CANDIDATES, 6)
    source.launch([wp.array(poses, dtype=wp.transformd), wp.array(seeds, dtype=wp.float64)])
    return source.candidates.numpy(), source.misses.numpy() <= source.slack


def assert_exact(judge):
    """Assert that candidates reach the poses, and that planted configurations are among them."""
    q = judge.random(N)
    poses = judge.poses(q)
    found, there = candidates(judge, poses, np.zeros((N, 6)))
    for k in range(N):
        rows = found[k, there[k]]
        assert judge.has(rows, q[k], MISS)
        moved, turned = judge.errors(rows, np.tile(poses[k], (len(rows), 1)))
        assert moved.max() < PLACE and turned.max() < ANGLE
        assert np.all(np.abs(rows[:, ~judge.slides]) <= np.pi + 1e-12)


@pytest.mark.parametrize(('kinds', 'meeting', 'along'), SLIDES)
def test_arms_with_slides(kinds, meeting, along):
    rng = np.random.default_rng(4)
    h = np.eye(3)[['xyz'.index(axis) for axis in along]] if along else rng.normal(size=(6, 3))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    p = np.cumsum(rng.uniform(-0.5, 0.5, (6, 3)), axis=0)
    p[list(meeting)] = p[list(meeting)[:1]]
    slides = [k for k, kind in enumerate(kinds) if kind == 'P']
    tool = p[-1] + rng.uniform(-0.3, 0.3, 3)
    assert_exact(ChainJudge(arm_urdf(h, p, tool, slides=slides), 'tool', None, ''))


def test_two_slides_at_the_same_angle_to_the_turn_between_them():
    # The equation of the slides is linear then.
    rng = np.random.default_rng(4)
    h = rng.normal(size=(6, 3))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    h[2] = 2.0 * (h[0] @ h[1]) * h[1] - h[0]
    p = np.cumsum(rng.uniform(-0.5, 0.5, (6, 3)), axis=0)
    p[3:] = p[3]
    text = arm_urdf(h, p, p[3] + rng.uniform(-0.3, 0.3, 3), slides=(0, 2))
    assert_exact(ChainJudge(text, 'tool', None, ''))


@pytest.mark.parametrize('structure', either(SOME_STRUCTURES, STRUCTURES))
def test_arms_that_turn(structure):
    axes = random_axes(structure, np.random.default_rng(8))
    assert_exact(ChainJudge(arm_urdf(*axes), 'tool', None, ''))

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""No robot rests where a local motion would bring it nearer to its targets.

Targets are given one after the other, each until it is reached, the robot rests or 20 s are over.
Where it rests, or still moves by then, ``safety.judge`` looks for a feasible motion that would
have lowered the error. SAFETY_TICKS sets the number of targets, as in docs/safety.md.
"""

import collections
import json
import os

import numpy as np
import pytest
from safety.cases import CASES
from safety.contacts import near_contacts
from safety.drive import DISTANCE
from safety.drive import Drive
from safety.drive import MARGIN
from safety.judge import RestJudge
from safety.settling import EARLY_TICKS
from safety.settling import settle
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import coal_distance

TICKS = int(os.environ.get('SAFETY_TICKS', '3200'))
ROBOTS = 16 if TICKS < 100_000 else 64
# Ticks of each robot, targets that are judged, and how thoroughly.
SETTLING = max(600, TICKS // ROBOTS)
JUDGED = max(8, TICKS // 800)
THOROUGH = {'directions': 300, 'walks': 1} if TICKS < 30_000 else {'directions': 2000, 'walks': 10}


@pytest.mark.timeout(180 + TICKS // 50)
@pytest.mark.parametrize('name', sorted(CASES))
def test_no_rest_is_one_that_a_better_local_choice_would_free(name):
    drive = Drive(name, ROBOTS, seed=3)
    outcomes = settle(drive, SETTLING)
    judge = RestJudge(drive)
    late = [outcome for outcome in outcomes if outcome.kind != 'reached'][:JUDGED]
    judged = [(o, judge.judge(o.joint_q, o.wanted, **THOROUGH)) for o in late]
    print(name, json.dumps(_summary(outcomes, judged), default=float))
    rests = [found for outcome, found in judged if outcome.kind == 'rest']
    assert any(outcome.kind == 'reached' for outcome in outcomes)
    assert rests
    assert not [found for found in rests if found.is_stuck]


def test_the_judge_tells_robots_that_stop_too_early():
    drive = Drive('panda', 48, seed=5)
    drive.aim(np.ones(drive.n, dtype=bool))
    for _ in range(20):
        drive.tick(is_checked=False)
    judge, stuck, seen = RestJudge(drive), 0, 0
    for k in np.flatnonzero(drive.feasible):
        found = judge.judge(drive.joint_q[k], drive.wanted[k], directions=300, walks=0)
        if found.error > 0.05:
            seen += 1
            stuck += found.is_stuck
            assert found.promised > 0.0
    assert seen >= 5
    assert stuck == seen


@pytest.mark.oracle
@pytest.mark.parametrize('name', sorted(CASES))
def test_what_the_judge_takes_for_distances_are_those_of_coal(name):
    drive = Drive(name, 1, seed=6)
    pairs, (body, start, end, radius) = drive.inside.pairs, drive.capsules
    for joint_q in drive.random(5):
        poses = drive.poses(joint_q[None])
        starts, ends, _ = drive.placed(poses)
        lengths = np.linalg.norm(end - start, axis=1)
        placed = [_along(a, b) for a, b in zip(starts[0], ends[0], strict=True)]
        shapes = [coal.Capsule(r, x) for r, x in zip(radius, lengths, strict=True)]
        near = near_contacts(drive, joint_q, 0.09)
        found = near.distances(poses)[0]
        for a, b in pairs:
            # coal is exact for separate bodies; for overlapping ones the two depths differ.
            theirs = coal_distance(shapes[a], placed[a], shapes[b], placed[b])[0]
            if 1e-6 < theirs < 0.08:
                same = (near.body == [body[a], body[b]]).all(axis=1)
                assert np.isclose(found[same], theirs, rtol=0.0, atol=1e-6).any()
        # The least distance, by which paths are judged, samples obstacles more coarsely.
        least = min(found.min(initial=0.09), 0.09)
        if least > 0.0:
            assert least == pytest.approx(min(drive.clearance(poses)[0], 0.09), abs=5e-3)


def test_slopes_point_away_from_what_is_near():
    drive = Drive('panda', 1, seed=7)
    judge, rng = RestJudge(drive), np.random.default_rng(7)
    for joint_q in drive.random(20):
        value, slope, _ = judge.rows(joint_q, 0.05)
        step = 1e-5 * rng.normal(size=len(drive.coords))
        moved = joint_q.copy()
        moved[drive.coords] += step
        near = near_contacts(drive, joint_q, DISTANCE + MARGIN + 0.05)
        after = near.distances(drive.poses(moved[None]))[0] - DISTANCE - MARGIN
        count = len(after)
        np.testing.assert_allclose(
            after, value[:count] + slope[:count] @ step, rtol=0.0, atol=1e-8
        )


def _along(start, end):
    """Return coal's pose of a capsule with its axis from one point to another."""
    axis = end - start
    length = np.linalg.norm(axis)
    z = axis / length if length > 1e-12 else np.array([0.0, 0.0, 1.0])
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= np.linalg.norm(x)
    rotation = np.stack([x, np.cross(z, x), z], axis=1)
    return coal.Transform3s(rotation, 0.5 * (start + end))


def _summary(outcomes, judged):
    """Return the figures of docs/safety.md."""
    counts = collections.Counter(
        f'{"free" if outcome.is_free else "any"} {outcome.kind}'
        + (' early' if outcome.kind == 'reached' and outcome.ticks <= EARLY_TICKS else '')
        for outcome in outcomes
    )
    rests = [found for outcome, found in judged if outcome.kind == 'rest']
    moving = [found for outcome, found in judged if outcome.kind == 'moving']
    holds = collections.Counter(kind for found in rests for kind in found.holds or {'nothing'})
    trembling = sum(outcome.kind == 'rest' and outcome.speed > 0.05 for outcome, _ in judged)
    falls = [1.0 - min(f.descent, f.directions) / f.error for f in rests]
    return {
        'targets': dict(sorted(counts.items())),
        'rests judged': len(rests),
        'stuck': sum(found.is_stuck for found in rests),
        'promised above 0.2 %': sum(found.promised > 0.002 for found in rests),
        'greatest fall': max(falls, default=0.0),
        'freed by walks': sum(found.is_freed_by_walks for found in rests),
        'held by': dict(sorted(holds.items())),
        'trembling': trembling,
        'moving judged': len(moving),
        'moving with a way': sum(found.is_stuck for found in moving),
    }

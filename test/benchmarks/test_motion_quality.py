# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Target streams of the motion-quality benchmark, and the evaluation of the motions."""

import dataclasses
import json

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio, the judge, is not installed')

from support.motions.target_streams import ride  # noqa: E402

from benchmarks.harness.job import Job  # noqa: E402
from benchmarks.harness.measure import Runner  # noqa: E402
from benchmarks.harness.process import Answer  # noqa: E402
from benchmarks.motion import quality  # noqa: E402
from benchmarks.motion.loop_jobs import home  # noqa: E402
from benchmarks.motion.loop_jobs import OURS  # noqa: E402
from benchmarks.motion.loop_jobs import run_loops  # noqa: E402
from benchmarks.motion.picture import derivatives  # noqa: E402
from benchmarks.motion.quality import held  # noqa: E402
from benchmarks.motion.quality import judge  # noqa: E402
from benchmarks.motion.quality import low_passed  # noqa: E402
from benchmarks.motion.quality import messages  # noqa: E402
from benchmarks.motion.quality import PATHS  # noqa: E402
from benchmarks.motion.quality import PICTURED  # noqa: E402
from benchmarks.motion.quality import SOLVERS  # noqa: E402
from benchmarks.motion.target_streams import eight  # noqa: E402
from benchmarks.motion.target_streams import Stream  # noqa: E402
from benchmarks.ours import servo  # noqa: E402

PLACE = np.array([0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])


def resting(loop=100.0):
    """Return configurations of a Panda that stays at home, by path."""
    return {
        path: np.tile(home('panda'), (round(loop * seconds) - 1, 1))
        for path, (_, seconds) in PATHS.items()
    }


def test_a_peer_holds_the_newest_message_between_two():
    rows = messages(PLACE, 'eight', 100.0, 30.0)
    arrived = np.flatnonzero(np.isfinite(rows[:, 0]))
    assert len(rows) == 599 and len(arrived) == 180
    poses = held(rows, PLACE)
    for k, pose in enumerate(poses):
        made = rows[arrived[arrived <= k][-1], 7]
        assert 0.01 * (k + 1) - made < 1.0 / 30.0 + 1e-9
        np.testing.assert_allclose(pose, PLACE + [*eight(made), 0, 0, 0, 0], atol=1e-15)
    np.testing.assert_array_equal(held(np.full((3, 8), np.nan), PLACE), np.tile(PLACE, (3, 1)))


def test_of_two_messages_in_one_tick_the_newer_counts():
    rows = messages(PLACE, 'eight', 100.0, 250.0)
    # The last message of each tick was made in that tick.
    time = 0.01 * np.arange(1, len(rows) + 1)
    assert np.all((rows[:, 7] > time - 0.004 - 1e-9) & (rows[:, 7] <= time + 1e-9))


@pytest.mark.parametrize('loop', [100, 1000])
def test_the_low_pass_has_its_time_constant_at_every_rate(loop):
    step = np.tile(PLACE, (loop, 1))
    step[:, 1] += 0.02
    found = low_passed(step, PLACE, 1.0 / loop, 0.05)
    # The input jumps before the first tick, which answers it already.
    assert (found[loop // 20 - 1, 1] - PLACE[1]) / 0.02 == pytest.approx(1.0 - np.exp(-1.0))
    np.testing.assert_array_equal(found[:, 3:], step[:, 3:])
    assert found[-1, 1] == pytest.approx(PLACE[1] + 0.02, abs=1e-9)


def test_what_is_pictured_are_differences_of_the_same_ticks():
    time = 0.01 * np.arange(1, 51)
    shown = derivatives(5.0 * time**3 / 6.0, 0.01)
    assert {len(values) for values in shown} == {47}
    np.testing.assert_allclose(shown[0], 5.0 * time[3:] ** 3 / 6.0)
    np.testing.assert_allclose(shown[1], 0.5 * 5.0 * time[3:] ** 2, atol=5.0 * 0.01)
    np.testing.assert_allclose(shown[3], 5.0, rtol=1e-6)


@pytest.mark.parametrize('loop', [100, 1000])
def test_the_judgement_of_a_robot_at_rest(loop):
    figures, success = judge('panda', loop, resting(loop))
    assert success == 1.0
    assert figures['jerk'] == figures['sign_changes'] == figures['overshoot_mm'] == 0.0
    # At a constant speed since 0.5 s: the mean of the ticks after 1.1 s, up to 1.6 s.
    assert figures['lag_ms'] == pytest.approx(1e3 * (1.35 + 0.5 / loop - 0.5), abs=1e-6)
    away = np.array([np.linalg.norm(eight(k / loop)) for k in range(1, 6 * loop)])
    assert figures['distance_mm'] == pytest.approx(1e3 * away[round(1.5 * loop) :].mean())
    assert figures['path_error_mm'] < 1e-6


def test_a_tick_outside_the_limits_is_counted():
    q = resting()
    q['eight'][300:, 0] += 0.03  # 3 rad/s for one tick
    q['ramp'][100:110, 3] = 0.1  # beyond the upper limit, and there and back at once
    _, success = judge('panda', 100.0, q)
    assert success == pytest.approx(1.0 - (1 + 10 + 1) / 898.0)


def test_a_failing_peer_is_a_row_and_spoils_no_other(monkeypatch, tmp_path):
    def run(runner, module, loops):
        if module.endswith('pink'):
            return {key: Answer(None, None, {}, error='no such solver') for key in loops}
        return {key: Answer(resting(key[1][1])[key[2]], None, {}) for key in loops}

    monkeypatch.setattr(quality, 'run_loops', run)
    # One robot will do: those of the others have other joints.
    rows = quality.measure(Runner(tmp_path), True)
    assert [entry['peer_name'] for entry in rows] == [solver.name for solver in SOLVERS[1:]]
    for entry in rows:
        failed = entry['peer_name'].startswith('pink')
        assert ('no such solver' in entry['note']) == failed
        assert (entry['peer'] is None) == failed and entry['ours'] == 0.0
    assert (tmp_path / 'motion_quality.png').stat().st_size > 10_000
    assert {solver.module.rsplit('.', 1)[1] for solver in PICTURED} == {
        'servo', 'step_pink', 'step_mink',
    }  # fmt: skip


def test_our_servo_gets_the_stream_as_the_tests_of_target_motion_give_it():
    solver = SOLVERS[0]
    loop = quality._loop(solver, ('panda', 100, 30), 'eight')
    job = dataclasses.asdict(_job_of(loop, n=99))
    solve, now = servo.build(Job(**json.loads(json.dumps(job)))), home('panda')
    found = []
    for target in loop.targets[:99]:
        now = now + solve(target, now)
        found.append(now)
    followed = ride(Stream(rate=30.0), 1.0, ee__target_prediction='velocity')
    velocity = np.diff(found, axis=0, prepend=home('panda')[None]) / 0.01
    np.testing.assert_allclose(velocity, followed.velocity, atol=1e-9)


def _job_of(loop, n):
    joints = tuple(f'panda_joint{k}' for k in range(1, 8))
    return Job(
        key='loop', mode='step', variant=loop.variant, urdf='', tip='', joints=joints, lower=(),
        upper=(), problems='', n=n, position_tolerance=0.0, rotation_tolerance=0.0,
        options={'robot': loop.robot, **loop.options},
    )  # fmt: skip


def test_a_loop_in_its_process_begins_after_the_warm_up(tmp_path):
    loop = quality._loop(SOLVERS[0], ('panda', 100, 30), 'ramp')
    loop = dataclasses.replace(loop, targets=loop.targets[:80])
    answer = run_loops(Runner(tmp_path), OURS, {'a': loop})['a']
    assert answer.error == '' and answer.joint_q.shape == (80, 7)
    moved = np.abs(answer.joint_q - home('panda')).max(axis=1)
    # The ramp begins after 0.5 s; the first message that tells of it is made at 0.533 s.
    assert moved[:53].max() < 1e-9 < moved[53]

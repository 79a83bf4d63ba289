# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times to joint targets: arrival, limits, and Ruckig's times."""

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio, the judge, is not installed')
ruckig = pytest.importorskip('ruckig', reason='ruckig is not installed')

from benchmarks.harness.job import Job  # noqa: E402
from benchmarks.harness.measure import Runner  # noqa: E402
from benchmarks.harness.process import Answer  # noqa: E402
from benchmarks.motion import joint_targets  # noqa: E402
from benchmarks.motion.joint_targets import arrival  # noqa: E402
from benchmarks.motion.joint_targets import Case  # noqa: E402
from benchmarks.motion.joint_targets import cases  # noqa: E402
from benchmarks.motion.joint_targets import within  # noqa: E402
from benchmarks.motion.loop_jobs import home  # noqa: E402
from benchmarks.peers import ruckig_online  # noqa: E402

LIMITS = {'velocity': [1.0], 'acceleration': [2.0], 'jerk': [40.0]}


def test_a_robot_has_arrived_where_it_stays():
    target = np.array([0.5, -0.5])
    q = np.tile(target, (10, 1))
    assert arrival(q, target, 0.01) == pytest.approx(0.01)
    q[:4, 0] = 0.4
    assert arrival(q, target, 0.01) == pytest.approx(0.05)
    q[6, 1] += 2e-6  # It swings beyond.
    assert arrival(q, target, 0.01) == pytest.approx(0.08)
    q[9, 1] += 0.5e-6
    assert arrival(q, target, 0.01) == pytest.approx(0.08)
    q[9, 1] += 1e-6
    assert arrival(q, target, 0.01) is None


def motion(jerk, ticks=4, dt=0.01):
    """Return positions at rest that then gain acceleration with a jerk."""
    rates = np.r_[0.0, np.full(ticks, jerk)]
    return dt**3 * np.cumsum(np.cumsum(np.cumsum(rates)))[:, None]


@pytest.mark.parametrize('name', ['velocity', 'acceleration', 'jerk'])
def test_each_limit_is_judged_in_each_tick(name):
    start, q = np.zeros(1), motion(40.0)
    reached = {'velocity': 0.04, 'acceleration': 1.6, 'jerk': 40.0}
    assert within(q, start, LIMITS, 0.01).all()
    tight = LIMITS | {name: [0.999 * reached[name]]}
    good = within(q, start, tight, 0.01)
    assert good[0] and not good[-1]
    assert within(q, start, LIMITS | {name: [1.001 * reached[name]]}, 0.01).all()


def test_a_motion_that_begins_at_once_breaks_the_limits_of_its_first_tick():
    q = np.array([[0.009], [0.018], [0.027]])
    # Its jerk ends in the second.
    assert within(q, np.zeros(1), LIMITS, 0.01).tolist() == [False, False, True]
    wide = LIMITS | {'jerk': [1e9]}
    assert within(q, np.zeros(1), wide, 0.01).tolist() == [False, True, True]


@pytest.mark.parametrize('case', cases(quick=True), ids=lambda case: case.problem)
def test_ruckig_tick_by_tick_takes_the_time_of_its_trajectory(case):
    dof, dt, start = len(case.target), 1.0 / case.rate, home(joint_targets.ROBOT)
    limits = joint_targets._limits(case)
    job = Job(
        key='', mode='step', variant='joints', urdf='', tip='', joints=('joint',) * dof, lower=(),
        upper=(), problems='', n=1, position_tolerance=0.0, rotation_tolerance=0.0,
        options={'dt': dt, **limits},
    )  # fmt: skip
    solve, now, rows = ruckig_online.build(job), start, []
    for target in [start] * 5 + [case.target] * 600:
        now = now + solve(target, now)
        rows.append(now)
    np.testing.assert_array_equal(rows[4], start)
    given, trajectory = ruckig.InputParameter(dof), ruckig.Trajectory(dof)
    given.current_position, given.target_position = start.tolist(), case.target.tolist()
    given.max_velocity, given.max_acceleration = limits['velocity'], limits['acceleration']
    given.max_jerk = limits['jerk']
    assert ruckig.Ruckig(dof).calculate(given, trajectory) == ruckig.Result.Working
    q = np.array(rows[5:])
    # What is left in its last tick may be less than counts.
    assert trajectory.duration - 2.0 * dt < arrival(q, case.target, dt) < trajectory.duration + dt
    assert within(q, start, limits, dt).all()


def test_every_motion_ends_in_half_of_the_time_that_is_looked_at():
    for case in cases(quick=False):
        way = np.abs(case.target - home(joint_targets.ROBOT)).max()
        # With acceleration alone, and for the jerk as long as it takes to gain it, twice.
        least = 2.0 * np.sqrt(way / joint_targets.ACCELERATION) + 2.0 / case.ratio
        assert least < 0.5 * joint_targets._SECONDS


def test_a_side_without_an_answer_or_an_arrival_is_a_row_with_the_reason(monkeypatch, tmp_path):
    def run(runner, module, loops):
        if 'ruckig' in module:
            return {key: Answer(None, None, {}, error='no such solver') for key in loops}
        return {key: Answer(np.tile(loop.rest, (9, 1)), None, {}) for key, loop in loops.items()}

    monkeypatch.setattr(joint_targets, 'run_loops', run)
    rows = joint_targets.measure(Runner(tmp_path), True)
    assert len(rows) == 4 and len({entry['problem'] for entry in rows}) == 4
    for entry in rows:
        assert 'peer: no such solver' in entry['note']
        assert 'ours: has not arrived' in entry['note'] and entry['success_ours'] == 1.0
        assert entry['ratio'] is entry['ours'] is None


def test_a_case_names_what_moves():
    assert isinstance(cases(quick=True)[0], Case)
    for case in cases(quick=False):
        moving = np.count_nonzero(case.target - home(joint_targets.ROBOT))
        assert moving == (1 if case.problem.startswith('one') else 6)

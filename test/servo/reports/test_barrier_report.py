# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reports on barriers are made in ticks whose report is read, and repeated in others."""

import numpy as np
import pytest
from support.rigs.barrier_rig import BarrierRig
from support.rigs.servo_rig import Rig

from ros_ik.servo import Obstacle
from ros_ik.servo import StatusCode
from ros_ik.servo.barriers.barrier_rows import BarrierRows

HELD_BACK = {StatusCode.SLOWED_BY_BARRIER, StatusCode.HALTED_BY_BARRIER}
EVERY = 5


def said(output):
    return (
        output.code, output.text, output.limiting_barrier, output.limiting_pair,
        output.barrier_distance,
    )  # fmt: skip


def into_itself():
    rig = BarrierRig()
    target = rig.pose()
    target[:3] = [0.0, 0.0, 0.15]
    rig.aim(target)
    return rig


def test_reports_now_and_then_say_what_reports_at_every_tick_say():
    always, sometimes = into_itself(), into_itself()
    codes = set()
    for k in range(600):
        sometimes.reports = k % EVERY == 0
        one, other = always.tick(), sometimes.tick()
        assert (one.joint_q == other.joint_q).all()
        if sometimes.reports:
            assert said(other) == said(one), f'tick {k}'
            codes.add(one.code)
            last = one
        elif last.code in HELD_BACK:
            assert said(other) == said(last), f'tick {k}'
        else:
            # Other codes belong to each tick.
            assert said(other)[2:] == said(last)[2:], f'tick {k}'
    assert codes >= HELD_BACK, 'the test shows nothing'


def test_nothing_is_evaluated_without_readers(monkeypatch):
    rig = into_itself()
    solver, asked = rig.servo._solver, []
    values = solver.barrier_values
    monkeypatch.setattr(solver, 'barrier_values', lambda q: asked.append(1) or values(q))
    rig.tick(20)
    assert len(asked) == 21, 'one each, and one before the first step'
    rig.reports = False
    rig.tick(20)
    assert len(asked) == 21


@pytest.mark.parametrize('change', ['obstacles', 'pause'])
def test_a_report_of_other_barriers_or_of_another_motion_is_not_repeated(change):
    rig = into_itself()
    rig.tick(600)
    assert rig.outputs[-1].code in HELD_BACK and rig.outputs[-1].limiting_barrier
    rig.reports = False
    assert rig.tick().limiting_barrier
    if change == 'obstacles':
        sphere = rig.moved((0.0, 0.0, 0.6))
        rig.change(obstacles=(Obstacle('ball', 'sphere', (0.05,), sphere, 0),))
    else:
        rig.change(paused=True)
        rig.tick(seconds=1.0)
        rig.change(paused=False)
    output = rig.tick()
    assert output.code == StatusCode.OK and output.limiting_barrier == ''
    rig.reports = True
    assert rig.tick().limiting_barrier == 'self_collision'


@pytest.mark.parametrize('barrier', ['world', 'self_collision'])
def test_at_rest_a_changed_margin_does_not_change_the_distance(barrier):
    rig = BarrierRig.shared()
    if barrier == 'world':
        ball = rig.moved((0.0, 0.0, -0.1))
        rig.change(obstacles=(Obstacle('ball', 'sphere', (0.03,), ball, 0),))
    rig.aim_joint_velocities(panda_joint1=0.0)
    first = rig.tick(3)
    assert first.limiting_barrier == barrier and np.isfinite(first.barrier_distance)
    for margin in (0.03, 0.0, 0.04):
        rig.set(**{f'barriers__{barrier}__margin': margin})
        output = rig.tick()
        assert (output.joint_q == first.joint_q).all(), 'the test shows nothing'
        assert output.limiting_pair == first.limiting_pair
        assert output.barrier_distance == pytest.approx(first.barrier_distance, abs=1e-9)


def test_at_rest_the_pair_is_that_of_the_configuration_of_the_report(monkeypatch):
    rig = into_itself()
    rig.tick(600)
    solver, asked = rig.servo._solver, []
    values, least_change = solver.barrier_values, solver.least_change
    monkeypatch.setattr(solver, 'barrier_values', lambda q: asked.append(q.copy()) or values(q))

    def changed(joint_q, before):
        # As with limited jerk: the last step counts, so its start is evaluated.
        solver.barrier_values(rig.model.neutral_joint_q())
        return least_change(joint_q, before)

    monkeypatch.setattr(solver, 'least_change', changed)
    output, at_rest = rig.outputs[-1], rig.outputs[-1].joint_q
    report = rig.servo._motion_report._barriers
    report.update(output, at_rest, at_rest, wanted=1.0, achieved=0.0, cut=False)
    assert len(asked) >= 2 and (asked[-1] == at_rest).all()


def test_the_distance_of_a_row_is_the_least_of_all_rows_of_its_pair():
    rig = BarrierRig.shared()
    ball = rig.moved((0.0, 0.0, -0.1))
    rig.change(obstacles=(Obstacle('ball', 'sphere', (0.03,), ball, 0),))
    rig.tick(3)
    solver = rig.servo._solver
    values, rows, nearer = solver.barrier_values(rig.q), solver.rows, 0
    of_row = [(rows.name(k), rows.pair(k)) for k in range(len(values))]
    distances = np.array([rows.distance(k, values[k]) for k in range(len(values))])
    for row, (name, pair) in enumerate(of_row):
        if pair[0]:
            same = [k for k, other in enumerate(of_row) if other == (name, pair)]
            assert rows.distance_of_pair(row, values) == distances[same].min()
            nearer += distances[row] > distances[same].min() + 1e-4
    assert nearer, 'the test shows nothing'


@pytest.mark.parametrize(
    ('links', 'world', 'margin'), [(1.0, 4.0, 0.02), (3.0, 0.5, 0.05), (40.0, 2.0, 0.02)]
)
def test_each_row_counts_with_the_gain_that_its_barrier_has_now(links, world, margin):
    rig = BarrierRig.shared()
    solver, lead = rig.servo._solver, 0.1
    late = BarrierRows(solver.barriers, lead, rig.settings)
    rig.set(barriers__self_collision__gain=links, barriers__world__gain=world,
            barriers__world__margin=margin)  # fmt: skip
    late.apply(rig.settings)
    values = np.random.default_rng(4).uniform(-0.1, 0.4, len(late.barrier))
    names = [late.name(row) for row in range(len(values))]
    assert set(names) == {'self_collision', 'world'}
    gains = np.array([{'self_collision': links, 'world': world}[name] for name in names])
    margins = np.array([solver.barriers[index].margin for index in late.barrier])
    for rows, largest in ((solver.rows, np.inf), (late, 0.25 / lead)):
        # The bound of a row of a barrier, of its documentation.
        h = values - margins
        expected = -np.minimum(gains, largest) * rig.dt * h / (1.0 + np.abs(h))
        np.testing.assert_allclose(rows.least_change(values), expected, rtol=1e-12)
        world_row = names.index('world')
        assert rows.distance(world_row, 0.1) == pytest.approx(0.1 + margin)


def test_where_accelerations_build_up_slowly_the_last_step_counts():
    rig = Rig.shared(
        joint_limits__panda_joint1__has_jerk_limits=True,
        joint_limits__panda_joint1__max_jerk=50.0,
        barriers__position__floor__frame='panda_hand',
        barriers__position__floor__min=[-9.0, -9.0, 0.0],
    )  # fmt: skip
    rig.aim(rig.moved((0.0, 0.2, -0.2)))
    rig.tick(40)
    solver, lead = rig.servo._solver, rig.servo._solver.diff.settings.barrier_lead
    before, now, _ = (output.joint_q for output in rig.outputs[-3:])
    values = solver.barrier_values(now).copy()
    steady = values - solver.barrier_values(before)
    # A share of the bound of the barrier, and the rest of the last step.
    share = rig.dt / (rig.dt + lead)
    expected = share * solver.rows.least_change(values) + (1.0 - share) * steady
    assert lead > rig.dt and np.abs(steady).max() > 1e-4, 'the test shows nothing'
    np.testing.assert_allclose(solver.least_change(now, values), expected, atol=1e-9)


def test_joints_that_another_controller_moves_count_where_they_are(monkeypatch):
    ceiling = 0.9
    rig = Rig(
        locked_joints=['panda_joint2'],
        barriers__position__box__frame='panda_hand_tcp',
        barriers__position__box__max=[np.inf, np.inf, ceiling],
    )  # fmt: skip
    report = rig.servo._motion_report._barriers
    moved, values_at, errors = rig.robot.coord_of['panda_joint2'], report._values_at, []

    def compared(joint_q):
        values = values_at(joint_q)
        (row,) = (k for k in range(len(values)) if rig.servo._solver.rows.name(k) == 'box')
        errors.append(abs(values[row] - (ceiling - rig.pose(joint_q)[2])))
        return values

    monkeypatch.setattr(report, '_values_at', compared)
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    for _ in range(20):
        rig.offset[moved] += 0.005
        rig.tick()
    assert len(errors) == 40 and max(errors) < 1e-6, errors

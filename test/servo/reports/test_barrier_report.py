# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reports on barriers are made in ticks whose report is read, and repeated in others."""

import pytest
from support.rigs.barrier_rig import BarrierRig

from ros_ik.servo import Obstacle
from ros_ik.servo import StatusCode

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

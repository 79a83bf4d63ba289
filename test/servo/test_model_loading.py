# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ticks of a servo while another one is built, whose graphs another thread records."""

import threading

import numpy as np
import pytest
from support.motions.command_changes import added
from support.motions.command_changes import command_changes
from support.rigs.servo_rig import Rig
from support.solvers.device_uses import watch_device
import warp as wp

from ros_ik.servo import StopState
from ros_ik.servo.barriers.obstacle_registry import ObstacleRegistry
from ros_ik.servo.barriers.obstacle_scene import ObstacleScene
from ros_ik.solvers.graph import Graph

# A thread that does not come [s].
NEVER = 60.0


def registry(rig):
    return ObstacleRegistry(rig.robot, rig.settings.barriers_max_obstacles)


def place(rig):
    """Return where the device has the first obstacle [m], None if there is none."""
    scene = rig.servo._solver.scene
    row = scene.obstacle_rows[0]
    tables = [table.shapes for table in scene._tables.values()]
    if all(table.kind.numpy()[row] < 0 for table in tables):
        return None
    places = np.array([table.pose.numpy()[row][:3] for table in tables])
    assert np.ptp(places, axis=0).max() < 1e-6
    return places[0].round(6).tolist()


@pytest.mark.parametrize('publish_when_idle', [False, True])
def test_a_resting_servo_leaves_the_device_alone(publish_when_idle, monkeypatch):
    rig = Rig(publish_when_idle=publish_when_idle)
    rig.aim(rig.moved((0.1, 0.0, 0.0)))
    rig.tick(20)
    rig.quiet()
    rig.change(paused=True)
    rig.tick()
    # While the robot brakes, a wider margin waits for rest, and would be applied in a tick there.
    rig.set(limits__position_margin=[0.2], limits__acceleration_scale=0.5)
    rig.change(paused=False, model_loading=True)
    while not rig.tick().still:
        pass
    changes = command_changes(rig)
    used = watch_device(monkeypatch, lambda: True)
    replays = []
    monkeypatch.setattr(wp, 'capture_launch', replays.append)
    monkeypatch.setattr(Graph, 'launch', lambda graph: replays.append(graph))
    # The controller reports a velocity, with which a motion would start.
    rig.reference = rig.q[rig.robot.coords], np.full(len(rig.robot.coords), 0.1)
    for name, change in changes.items():
        change()
        assert rig.tick(2).still, name
        assert (used, replays) == (set(), []), name
    assert not rig.servo._solver.limits.is_applied
    monkeypatch.undo()
    rig.change(model_loading=False)
    rig.tick()
    assert rig.servo._solver.limits.is_applied


def test_ticks_run_beside_a_recording():
    rig = Rig()
    rig.change(model_loading=True)
    rig.tick(2)
    values = wp.zeros(1, dtype=wp.float64, device='cpu')
    recording, ticked, waited = threading.Event(), threading.Event(), []

    def record():
        values.fill_(1.0)
        if wp.get_device('cpu').is_capturing:
            recording.set()
            waited.append(ticked.wait(NEVER))

    graphs = []
    recorder = threading.Thread(target=lambda: graphs.append(Graph(record, 'cpu')))
    recorder.start()
    assert recording.wait(NEVER)
    try:
        for change in command_changes(rig).values():
            change()
            rig.tick()
    finally:
        ticked.set()
        recorder.join(NEVER)
    assert waited == [True]
    values.zero_()
    graphs[0].launch()
    assert values.numpy()[0] == 1.0


def test_the_newest_obstacles_are_in_force_once_the_servo_goes_on():
    rig = Rig()
    book = registry(rig)
    rig.change(obstacles=book.apply([added('ball', (1.0, 0.0, 0.5))]))
    rig.tick()
    rig.change(model_loading=True)
    rig.tick()
    for y in (0.1, 0.2):
        rig.change(obstacles=book.apply([added('ball', (1.0, y, 0.5))]))
        rig.tick(2)
        assert place(rig) == [1.0, 0.0, 0.5]
    rig.change(model_loading=False)
    rig.tick()
    assert place(rig) == [1.0, 0.2, 0.5]


def test_a_servo_that_still_brakes_gets_obstacles():
    rig = Rig()
    rig.aim(rig.moved((0.0, 0.3, 0.0)))
    rig.tick(20)
    rig.change(model_loading=True)
    assert not rig.tick().still
    rig.change(obstacles=registry(rig).apply([added('ball', (1.0, 0.0, 0.5))]))
    rig.tick()
    assert place(rig) == [1.0, 0.0, 0.5]


@pytest.mark.parametrize('failing', ['_write', '_place', '_refresh'])
def test_obstacles_of_a_failed_tick_are_applied_in_the_next(failing, monkeypatch):
    rig = Rig()
    tip = rig.pose()[:3]
    rig.change(obstacles=registry(rig).apply([added('ball', tip + [0.0, 0.0, 0.3])]))
    with monkeypatch.context() as patch:
        patch.setattr(ObstacleScene, failing, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            rig.tick()
    rig.servo.interrupt()
    rig.aim(rig.moved((0.0, 0.0, 0.3)))
    rig.tick(200)
    np.testing.assert_allclose(place(rig), tip + [0.0, 0.0, 0.3], atol=1e-6)
    assert rig.outputs[-1].limiting_pair, 'the barrier has no pair of the ball'
    assert 'ball' in rig.outputs[-1].limiting_pair
    assert rig.pose()[2] < tip[2] + 0.25


def test_a_stop_repeats_its_point_again_after_the_build():
    rig = Rig(publish_when_idle=True)
    rig.change(stop=StopState.LATCHED)
    assert rig.tick(3).publish
    rig.change(model_loading=True)
    assert not rig.tick(2).publish
    rig.change(model_loading=False)
    output = rig.tick(2)
    assert output.publish
    assert output.still

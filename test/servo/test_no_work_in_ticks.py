# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""No tick compiles, loads or records anything, whatever changes while the robot moves.

Kernels that are loaded and graphs that are recorded are counted where Warp does it. Parameters
come from the schema, so that new ones are tried too.
"""

import numpy as np
import pytest
from support.motions.other_values import dynamic_parameters
from support.motions.other_values import other_value
from support.rigs.servo_rig import Rig
import warp as wp

from ros_ik.servo import Mode
from ros_ik.servo import StopState
from ros_ik.servo.barriers.obstacle_registry import ObstacleKind
from ros_ik.servo.barriers.obstacle_registry import ObstacleOperation
from ros_ik.servo.barriers.obstacle_registry import ObstacleRegistry
from ros_ik.servo.barriers.obstacle_registry import ObstacleRequest

FLOOR = {
    'barriers__position__floor__frame': 'panda_hand',
    'barriers__position__floor__min': [-9.0, -9.0, 0.05],
}
ROBOTS = {
    'panda': ('panda', FLOOR),
    'panda with a rollout': (
        'panda',
        {'rollout_steps': 2, 'outputs__default__command_horizon': 0.2},
    ),
    'panda with jerk limits': (
        'panda',
        {
            'joint_limits__panda_joint1__has_jerk_limits': True,
            'joint_limits__panda_joint1__max_jerk': 500.0,
        },
    ),
    'ur5': ('ur5', {}),
    'panda with two levels': (
        'panda',
        {
            'frame_tasks': ['ee', 'elbow'],
            'elbow__frame': 'panda_link4',
            'elbow__orientation_weight': 0.0,
            'elbow__priority': 2,
        },
    ),
}


class Work:
    """Counter of modules that Warp loads and graphs that it records."""

    def __init__(self, monkeypatch):
        self.done = []
        load, begin = wp.Module.load, wp.ScopedCapture.__enter__

        def spy_load(module, *args, **options):
            before = len(module.execs)
            found = load(module, *args, **options)
            if len(module.execs) != before:
                self.done.append(f'loaded {module.name}')
            return found

        def spy_begin(capture):
            self.done.append('recorded a graph')
            return begin(capture)

        monkeypatch.setattr(wp.Module, 'load', spy_load)
        monkeypatch.setattr(wp.ScopedCapture, '__enter__', spy_begin)

    def check(self, rig, what):
        """Fail if a tick in motion has done work, or if nothing was sent."""
        output = rig.outputs[-1]
        assert not self.done, f'{what}: {self.done}'
        assert output.publish, f'{what}: {output.text}'


@pytest.fixture(params=ROBOTS)
def moving(request, monkeypatch):
    """Return a rig whose frame moves to and fro, and a counter of work."""
    name, values = ROBOTS[request.param]
    rig = Rig(name, **values)
    work = Work(monkeypatch)
    return rig, work


def sway(rig, ticks=3):
    """Let the frame move to and fro."""
    for _ in range(ticks):
        rig.aim(rig.moved((0.05 * np.cos(5.0 * rig.now), 0.05 * np.sin(5.0 * rig.now), 0.0)))
        rig.tick()


def test_no_parameter_costs_a_tick_more_than_numbers(moving):
    rig, work = moving
    sway(rig, 20)
    given, n_joints = dict(rig.given), rig.robot.group.n_variables
    entries = dynamic_parameters(given)
    assert len(entries) > 40
    for name, entry in entries.items():
        value = given.get(name, entry.default)
        for other in (other_value(entry, value, n_joints), value):
            rig.set(**{name.replace('.', '__'): other})
            sway(rig, 2)
            work.check(rig, f'{name} = {other}')
    rig.set(limits__position_margin=[0.1], limits__acceleration_scale=0.3, com__weight=1.0)
    sway(rig, 30)
    work.check(rig, 'several')


def test_the_first_of_every_kind_of_message_costs_no_more(moving):
    rig, work = moving
    rig.set(com__weight=1.0)
    sway(rig)
    joint, tip = rig.robot.group.joint_names[-1], rig.settings.tasks[0].frame
    firsts = {
        'a velocity': lambda: rig.aim_twist((0.05, 0.0, 0.0)),
        'the centre of mass': lambda: rig.aim_center((0.0, 0.0, 0.4)),
        'joints': lambda: rig.aim_joints(**{joint: 0.1}),
        'a pose in a link': lambda: rig.aim((0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0), frame=tip),
    }
    for what, begin in firsts.items():
        rig.quiet()
        begin()
        rig.tick(3)
        work.check(rig, what)
    for mode in Mode:
        rig.change(mode=mode)
        rig.tick(3)
        assert not work.done, f'{mode.name}: {work.done}'
    rig.change(mode=Mode.AUTO)
    rig.set(halt_mode='hold')
    for event in (
        {'paused': True},
        {'paused': False},
        {'stop': StopState.LATCHED},
        {'stop': StopState.CLEAR, 'resets': 1},
        {'active': False},
        {'active': True},
    ):
        rig.change(**event)
        sway(rig)
        assert not work.done, f'{event}: {work.done}'


def test_the_first_obstacle_of_a_kind_costs_no_more(moving):
    rig, work = moving
    book = ObstacleRegistry(rig.robot, rig.settings.barriers_max_obstacles)
    sway(rig, 5)
    for kind in ObstacleKind:
        place = rig.pose()[:3] + [0.15, 0.0, -0.1]
        size = [0.05] * kind.size
        if kind is ObstacleKind.HALF_SPACE:
            place = [0.0, 0.0, -1.0]
        request = ObstacleRequest(ObstacleOperation.ADD, kind.name, kind, size, '', place)
        rig.change(obstacles=book.apply([request]))
        sway(rig)
        work.check(rig, kind.name)
    for kind in ObstacleKind:
        rig.change(obstacles=book.apply([ObstacleRequest(ObstacleOperation.REMOVE, kind.name)]))
        sway(rig)
        work.check(rig, f'without {kind.name}')

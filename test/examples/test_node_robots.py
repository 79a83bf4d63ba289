# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Examples with their own robots and parameters, started as their docstrings describe."""

import ast
import functools
import re
import shlex
import subprocess

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
import numpy as np
import pytest
from support.processes.ros_processes import ROOT
from support.rigs.dynamic_rig import change
from support.rigs.example_rig import Session

from ros_ik.demo.mock_robot import nanoseconds

pytestmark = [pytest.mark.dds, pytest.mark.timeout(480)]
# Real processes: a fork would move the robot while the node still starts its planners, which
# disturbs motions that are measured to a millimetre.
AS_USERS = subprocess.DEVNULL


def start_command(name):
    """Return the words after `ros_ik.demo.session` in the head of an example."""
    head = ast.get_docstring(ast.parse((ROOT / 'examples' / 'node' / f'{name}.py').read_text()))
    _, _, rest = head.replace('\\\n', ' ').partition('ros_ik.demo.session')
    return [
        str(ROOT / word) if '/' in word else word for word in shlex.split(rest.splitlines()[0])
    ]


@pytest.fixture
def session(request, tmp_path):
    """Yield a session with the robot of the example that the test is named after."""
    session = Session(tmp_path, *start_command(request.node.name.removeprefix('test_')))
    try:
        yield session.wait_until_ready()
    finally:
        session.end()


class Poses:
    """Measured positions of tasks [n, 3] by name."""

    def __init__(self, client, *tasks):
        self.heard, self._stamps = {task: [] for task in tasks}, {task: [] for task in tasks}
        for task in tasks:
            hear = functools.partial(self._hear, task)
            client.node.create_subscription(
                PoseStamped, f'ros_ik/{task}/current_pose', lambda m, hear=hear: hear(m), 1000
            )
        client.wait_for(lambda: all(self.heard.values()), 'poses of all tasks')

    def _hear(self, task, message):
        place = message.pose.position
        self.heard[task].append(np.array([place.x, place.y, place.z]))
        self._stamps[task].append(nanoseconds(message.header.stamp))

    def forward(self, task):
        """Return the largest way of a task along x from its first position [m].

        A busy machine may hear the way there and the way back at once.
        """
        heard = np.array(self.heard[task])[:, 0]
        return heard.max() - heard[0]

    def farthest(self, task):
        """Return the largest distance of a task from its first position [m]."""
        heard = np.array(self.heard[task])
        return np.linalg.norm(heard - heard[0], axis=1).max()

    def apart(self, first, second):
        """Return the distances of two tasks at the ticks for which both were received [m]."""
        places = [dict(zip(self._stamps[t], self.heard[t], strict=True)) for t in (first, second)]
        both = sorted(places[0].keys() & places[1].keys())
        return np.array([np.linalg.norm(places[0][k] - places[1][k]) for k in both])


def errors(session, example, *tasks):
    """Return the distance of each task that has a target [m], once these have.

    Targets are stale for a moment where a busy machine holds up the example for 0.2 s.
    """
    found = {}

    def are_active():
        nonlocal found
        found = {task.name: task.linear for task in session.client.status.tasks if task.active}
        return found.keys() >= set(tasks)

    session.wait_for(are_active, f'targets of {tasks}', example)
    return found


def test_every_grasp(session):
    session.prepare_planner(max_solutions=8, check_collisions=True)
    with session.example('every_grasp', stdin=AS_USERS) as example:
        assert example.wait() == 0, example.text()
        # The same as with the library, see test_library.
        assert '1000 grasps: 7658 solutions are free\n' in example.text()
        assert 'nearest: grasp 847, 0.55 rad away' in example.text()


def have_new_stamps(client):
    """Return True if no status reports targets that repeat the stamp of the previous one."""
    return not any('do not advance' in status.text for status in client.statuses)


def waist(states):
    """Return the positions of the three joints of the waist in joint states [rad], [n, 3]."""
    found = [
        [value for name, value in zip(state.name, state.position, strict=True) if 'waist' in name]
        for state in states
    ]
    return np.array(found).reshape(-1, 3)


def test_two_arms(session):
    client, poses = session.client, Poses(session.client, 'left_hand', 'right_hand')
    with session.example('two_arms', stdin=AS_USERS) as example:
        session.wait_for(lambda: poses.forward('left_hand') > 0.1, 'way forward', example)
        assert example.text().count('both hands carry a tray') == 1
        tasks = {'left_hand', 'right_hand'}
        assert set(errors(session, example, *tasks)) == tasks
        sizes = poses.apart('left_hand', 'right_hand')
        assert len(sizes) > 20 and np.allclose(sizes[-20:], sizes[0], atol=0.01)
        session.wait_for(
            lambda: np.abs(waist(client.states)).max() > 0.02, 'motion of the waist', example
        )
        session.interrupt(example)


def test_humanoid(session):
    poses = Poses(session.client, 'left_hand', 'right_foot')
    with session.example('humanoid', stdin=AS_USERS) as example:
        session.wait_for(lambda: poses.forward('left_hand') > 0.2, 'way forward', example)
        assert errors(session, example, 'com')['com'] < 5e-3
        foot = np.array(poses.heard['right_foot'])
        assert np.abs(foot - foot[0]).max() < 2e-3
        assert have_new_stamps(session.client)
        said = r'centre of mass \d+ mm'
        session.wait_for(lambda: re.search(said, example.text()), 'word', example)
        session.interrupt(example)


def test_fingertips(session):
    tips = 'index', 'middle', 'ring', 'thumb'
    poses = Poses(session.client, *tips)
    with session.example('fingertips', stdin=AS_USERS) as example:
        # Each moves 15 mm or more and returns; with missed ticks it moves less far.
        session.wait_for(
            lambda: all(poses.farthest(tip) > 0.008 for tip in tips), 'grasp', example
        )
        assert set(errors(session, example, *tips)) == set(tips)
        assert have_new_stamps(session.client)
        assert 'the fingers close and open' in example.text()
        session.interrupt(example)


def test_mobile_manipulator(session):
    client, commands = session.client, []
    client.node.create_subscription(Twist, 'cmd_vel', lambda message: commands.append(message), 1)
    # The drive takes seconds: on a busy machine this client might hear the example only after it.
    change(client, limits__velocity_scale=0.02)
    with session.example('mobile_manipulator', stdin=AS_USERS) as example:
        session.wait_for(lambda: commands, 'velocities of the base', example)
        change(client, limits__velocity_scale=1.0)
        session.wait_for(lambda: 'reached' in example.text(), 'target', example)
        session.interrupt(example)
    positions = client.positions()
    assert positions['base_x'] > 0.8
    assert max(abs(positions[f'arm_{k}'] - start) for k, start in ((2, -0.3), (3, 0.5))) > 0.02
    assert max(command.linear.x for command in commands) > 0.2

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Simulated time: the loop waits for /clock by name, follows it, and survives a jump back."""

import time

from diagnostic_msgs.msg import DiagnosticStatus
import pytest
from sensor_msgs.msg import JointState
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import RATE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

HOME = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]


class Simulation:
    """Publishes time at a rate of its own, and joint states of a robot at rest."""

    def __init__(self, client):
        self.client, self.now, self.speed = client, 100.0, 0.5
        self.states = client.node.create_publisher(JointState, 'joint_states', 1)

    def run(self, seconds):
        """Let time pass on the wall."""
        before = time.monotonic()
        until = before + seconds
        while before < until:
            self.client.simulate(self.now)
            self.states.publish(JointState(name=list(ARM), position=HOME))
            self.client.spin(0.005)
            wall = time.monotonic()
            self.now, before = self.now + (wall - before) * self.speed, wall

    def run_until(self, condition):
        """Let time pass until a condition holds."""
        give_up = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < give_up, self.client.status
            self.run(0.05)


def is_loop_warned(client, text):
    """Return True if /diagnostics has warned about the loop with this text."""
    return any(
        entry.name == 'ros_ik: loop' and entry.level == DiagnosticStatus.WARN
        and text in entry.message
        for entry in client.diagnostics
    )  # fmt: skip


def time_of(status):
    """Return the time of the tick of a status [s]."""
    return status.header.stamp.sec + 1e-9 * status.header.stamp.nanosec


def test_it_says_that_it_waits_for_the_clock(tmp_path):
    text = 'waiting for /clock: use_sim_time is set'
    with ros_rig(tmp_path) as client:
        start_node(client, use_sim_time=True, diagnostics_period=0.1)
        status = client.wait_for_code(IkStatus.WAITING_FOR_MODEL, text=text)
        assert 'waiting for robot_description' in status.text
        assert list(status.waiting_for) == ['robot_description', '/clock']
        client.wait_for(lambda: is_loop_warned(client, text), 'a warning on /diagnostics')
        for value in (True, False):
            result = client.set(use_sim_time=value)['use_sim_time']
            assert result.successful == value, result.reason
        robot = HeldRobot(client)
        client.describe(panda_urdf())
        client.wait_for(lambda: client.status.model_generation == 1, 'a model', timeout=LONG)
        status = client.wait_for_code(IkStatus.OK, text=text)
        assert (status.text, list(status.waiting_for)) == (text, ['/clock'])
        client.wait_for(lambda: client.state() == 'active', 'activation')
        status = client.wait_for_code(IkStatus.OK, text=text)
        assert (status.text, list(status.waiting_for)) == (text, ['/clock'])
        client.diagnostics.clear()
        client.wait_for(lambda: is_loop_warned(client, text), 'a warning on /diagnostics')
        robot.silent = True
        simulation = Simulation(client)
        simulation.run_until(lambda: 'waiting for a target' in client.status.text)
        assert list(client.status.waiting_for) == []


def test_it_follows_simulated_time(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, use_sim_time=True)
        client.wait_for_code(IkStatus.WAITING_FOR_MODEL)
        client.describe(panda_urdf())
        simulation = Simulation(client)
        simulation.run_until(lambda: 'waiting for a target' in client.status.text)
        before = client.status
        simulation.run_until(lambda: time_of(client.status) - time_of(before) > 1.0)
        after = client.status
        ticks = after.ticks - before.ticks
        # A busy machine makes fewer of them, and knows how many it has missed.
        due = RATE * (time_of(after) - time_of(before))
        assert 0 < ticks <= 1.1 * due
        assert ticks + 2 * (after.missed_ticks - before.missed_ticks) >= 0.9 * due
        assert simulation.now - 10.0 < time_of(after) <= simulation.now
        simulation.now -= 50.0
        client.statuses.clear()
        simulation.run_until(lambda: any(s.code == IkStatus.CLOCK_JUMP for s in client.statuses))
        simulation.run_until(lambda: 'waiting for a target' in client.status.text)

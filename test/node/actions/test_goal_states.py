# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every transition of an action's goal, with a servo that moves and a planner that answers."""

import types

import numpy as np
import pytest
from support.motions.state_machines import record_transitions
from support.motions.state_machines import transitions
from support.rigs.servo_rig import Rig
from support.robots.simulated_drives import NO_BARRIERS

from ros_ik.node.actions import commander as node_side
from ros_ik.node.actions.action_server import Outcome
from ros_ik.node.actions.goal_state import GOAL_TRANSITIONS
from ros_ik.node.actions.goal_state import GoalState
from ros_ik.node.actions.move_to_pose import MoveToPoseMotion
from ros_ik.node.subscribers.transforms import ResolvedFrame
from ros_ik.planning import Reconfiguration
from ros_ik.servo import StatusCode
from ros_ik_interfaces.action import MoveToPose


class Commander:
    """The servo as a goal sees it; its status can report a rest short of the target.

    Attributes:
        rests_short: True if it does.
        found: Answer of the planner, or None before it arrives.
    """

    def __init__(self, rig):
        self.rig, self.rests_short, self.found = rig, False, None
        self.settings, self.servo, self.reader = rig.settings, rig.servo, rig.reader
        self.planner = types.SimpleNamespace(ask=lambda *_: 1, answer=lambda _: self.found)
        self.output = rig.outputs[-1]

    @property
    def command(self):
        return self.rig.command

    @property
    def ticks(self):
        return len(self.rig.outputs)

    def now(self):
        return self.rig.now

    def find(self, frame_id, stamp):
        return ResolvedFrame('', np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))

    def check_ready(self, *modes):
        pass

    def conditions(self):
        return None

    def interruption(self, conditions, *modes):
        return ''

    def preempting_target(self, before, now):
        return ''

    def start_links(self):
        return self.servo._poses()

    braking_time = node_side.Commander.braking_time

    def is_still(self, since):
        return self.output.still and self.rig.now - since > 0.05

    def replace_joints(self, before, target):
        if self.command.joints is before:
            self.rig.change(joints=target)

    def replace_pose(self, task, before, target):
        if self.command.pose_of(task) is before:
            self.rig.change(poses=(target,))

    def tick(self, motion, canceled=False):
        """Advance the servo and then the goal; return its end."""
        self.output = self.rig.tick()
        if self.rests_short:
            self.output.code = StatusCode.STATIONARY
        return motion.poll(self.rig.now, canceled)


def begin(commander, change):
    """Begin a goal with a pose 0.3 m to the other side."""
    goal = MoveToPose.Goal(allow_reconfiguration=change)
    side = -0.3 if commander.rig.pose()[1] > 0.0 else 0.3
    pose = commander.rig.moved((0.0, side, 0.0))
    p, q = goal.target.pose.position, goal.target.pose.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = pose.tolist()
    motion = MoveToPoseMotion(commander, goal)
    assert motion.state is GoalState.READY
    motion.begin()
    return motion


def reach(commander, motion, state, canceled=False):
    """Tick until the goal is in a state; return its end, or None."""
    for _ in range(400):
        end = commander.tick(motion, canceled)
        if motion.state is state:
            return end
    raise AssertionError(f'{state} was not reached from {motion.state}')


def elsewhere(rig):
    """Return the answer of a planner: the first joint a little farther."""
    positions = rig.q[rig.robot.coords] + np.array([0.1, 0, 0, 0, 0, 0, 0])
    return Reconfiguration(tuple(rig.robot.group.joint_names), tuple(positions))


def search(commander, found=None):
    """Begin a goal whose robot rests short; return it while the planner searches."""
    commander.rests_short, commander.found = True, None
    motion = begin(commander, True)
    reach(commander, motion, GoalState.SEARCHING)
    commander.found = found
    return motion


def detour(commander):
    """Return a goal whose joints move to another configuration."""
    motion = search(commander, elsewhere(commander.rig))
    reach(commander, motion, GoalState.RECONFIGURING)
    return motion


@pytest.fixture
def commander():
    return Commander(Rig(**NO_BARRIERS))


def test_every_transition_of_a_goal_is_made(commander, monkeypatch):
    made = record_transitions(monkeypatch)
    motion = begin(commander, False)
    assert motion.state is GoalState.PERSISTING
    assert reach(commander, motion, GoalState.ENDED).outcome is Outcome.SUCCEEDED
    assert motion.abort('once more').outcome is Outcome.ABORTED
    # It searches a detour, begins to move, rests again, takes another detour, and arrives.
    motion = search(commander)
    commander.rests_short = False
    reach(commander, motion, GoalState.PURSUING)
    commander.rests_short, commander.found = True, elsewhere(commander.rig)
    reach(commander, motion, GoalState.RECONFIGURING)
    commander.rests_short = False
    reach(commander, motion, GoalState.PURSUING)
    end = reach(commander, motion, GoalState.ENDED)
    assert end.result.reached and end.result.message == 'changed the configuration'
    # The planner finds nothing, or gets no request.
    motion = search(commander, Reconfiguration(message='there is none'))
    reach(commander, motion, GoalState.PERSISTING)
    assert motion.abort('enough').result.message == 'enough'
    motion = begin(commander, True)
    commander.rig.change(mode=motion.modes[1])
    reach(commander, motion, GoalState.PERSISTING)
    commander.rig.change(mode=motion.modes[0])
    reach(commander, motion, GoalState.CANCELING, canceled=True)
    assert reach(commander, motion, GoalState.ENDED, canceled=True).outcome is Outcome.CANCELED
    for make in (lambda: begin(commander, True), lambda: search(commander),
                 lambda: detour(commander)):  # fmt: skip
        motion = make()
        reach(commander, motion, GoalState.CANCELING, canceled=True)
        assert reach(commander, motion, GoalState.ENDED, canceled=True) is not None
        assert make().abort('enough').outcome is Outcome.ABORTED
    kinds = {one for one in made if isinstance(one[0], GoalState)}
    assert kinds == transitions(GOAL_TRANSITIONS)

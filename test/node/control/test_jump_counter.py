# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets refused as jumps: each is counted once, under the name of its topic."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from ros_ik.node.control.jump_counter import JumpCounter  # noqa: E402
from ros_ik.servo import Rejection  # noqa: E402


def of_topics(*topics):
    """Return a command with a pose from each topic."""
    return SimpleNamespace(poses=[SimpleNamespace(lasting=False, topic=topic) for topic in topics])


class Rig:
    """A counter beside a servo of two tasks that has refused one target before."""

    def __init__(self):
        self.added = []
        self.left, self.right, self.center = (SimpleNamespace(jumps=k) for k in (0, 1, 0))
        streams = {'left': self.left, 'right': self.right, 'com': self.center}
        targets = SimpleNamespace(streams=streams)
        message_stats = SimpleNamespace(add_in_tick=self._add)
        self.counter = JumpCounter(SimpleNamespace(targets=targets), message_stats)
        self.command = of_topics('left/target_pose', 'right/target_pose')

    def _add(self, topic, reason, what, count):
        assert reason is Rejection.TARGET_JUMP and 'max_target_step' in what()
        self.added.append((topic, count))


def test_nothing_is_counted_twice_or_from_before():
    rig = Rig()
    rig.counter.update(rig.command)
    assert rig.added == []
    rig.right.jumps += 1
    rig.counter.update(rig.command)
    rig.counter.update(rig.command)
    assert rig.added == [('right/target_pose', 1)]


def test_each_is_named_by_what_it_came_from():
    rig = Rig()
    rig.left.jumps += 1
    rig.center.jumps += 2
    rig.counter.update(of_topics('target_pose', 'right/target_pose'))
    assert rig.added == [('target_pose', 1), ('target_com', 2)]
    goal = SimpleNamespace(lasting=True, topic='')
    rig.left.jumps += 1
    rig.counter.update(SimpleNamespace(poses=(goal, None)))
    assert rig.added[2:] == [('move_to_pose', 1)]


def test_a_target_that_was_withdrawn_after_a_failed_tick_is_counted_for_its_task():
    rig = Rig()
    rig.right.jumps += 1
    rig.counter.update(SimpleNamespace(poses=(None, None)))
    assert rig.added == [('right/target_pose', 1)]

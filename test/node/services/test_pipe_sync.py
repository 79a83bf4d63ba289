# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Requests wait for all that the node sent before: replies, cancellations and time limits."""

import math
import threading

from ros_ik.node.services import pipe_sync
from ros_ik.node.services.pipe_sync import PipeSync
from ros_ik.node.services.process_link import SyncReply
from ros_ik.planning import Budget
from ros_ik.planning import RequestError

PATIENCE = 30.0


class Rig:
    """A synchronisation whose requests the test answers."""

    def __init__(self):
        self.sent, self._news = [], threading.Condition()
        self.sync = PipeSync(self._send)

    def _send(self, request):
        with self._news:
            self.sent.append(request.number)
            self._news.notify()

    def begin(self, budget=None):
        """Start to wait; return the thread and the errors that end it, once it has asked."""
        errors, asked = [], len(self.sent)

        def wait():
            try:
                self.sync.catch_up(budget or Budget())
            except RequestError as error:
                errors.append(str(error))

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        with self._news:
            assert self._news.wait_for(lambda: len(self.sent) > asked, PATIENCE)
        return thread, errors

    def reply(self, number):
        self.sync.note(SyncReply(number))


def ended(thread, seconds=PATIENCE):
    thread.join(seconds)
    return not thread.is_alive()


def test_each_request_waits_for_a_reply_of_its_own():
    rig = Rig()
    for number in (1, 2, 3):
        thread, errors = rig.begin()
        assert rig.sent == [*range(1, number + 1)]
        rig.reply(number - 1)
        assert not ended(thread, 0.05)
        rig.reply(number)
        assert ended(thread) and not errors


def test_a_cancelled_request_waits_no_longer(monkeypatch):
    # Without a check of the time limit, too.
    monkeypatch.setattr(pipe_sync, '_USUAL', math.inf)
    rig, budget = Rig(), Budget()
    thread, errors = rig.begin(budget)
    budget.cancel('the robot changed')
    assert ended(thread) and errors == ['the robot changed']
    # The next one does not take the late reply for its own.
    thread, errors = rig.begin()
    rig.reply(1)
    assert not ended(thread, 0.05)
    rig.reply(2)
    assert ended(thread) and not errors


def test_a_short_time_limit_leaves_time_for_the_reply(monkeypatch):
    monkeypatch.setattr(pipe_sync, '_CHECK_PERIOD', 0.001)
    monkeypatch.setattr(pipe_sync, '_USUAL', PATIENCE)
    rig = Rig()
    thread, errors = rig.begin(Budget(0.0))
    assert not ended(thread, 0.05)
    rig.reply(1)
    assert ended(thread) and not errors


def test_a_node_that_does_not_reply_costs_no_more_than_the_time_limit(monkeypatch):
    monkeypatch.setattr(pipe_sync, '_CHECK_PERIOD', 0.001)
    monkeypatch.setattr(pipe_sync, '_USUAL', 0.01)
    thread, errors = Rig().begin(Budget(0.0))
    assert ended(thread) and errors == ['the time limit has passed: 0 s']

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The node's side of the planners' process: what it sends, restarts and kills.

The process is played by a thread of this one, at the other ends of its pipes.
"""

import io
import os
import queue
import struct
import subprocess
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from ros_ik.node.services import planner_client  # noqa: E402
from ros_ik.node.services.planner_client import PlannerServices  # noqa: E402
from ros_ik.node.services.process_link import Description  # noqa: E402
from ros_ik.node.services.process_link import NodeIdentity  # noqa: E402
from ros_ik.node.services.process_link import ObstacleState  # noqa: E402
from ros_ik.node.services.process_link import PlannerRobotState  # noqa: E402
from ros_ik.node.services.process_link import ReconfigurationAnswer  # noqa: E402
from ros_ik.node.services.process_link import ReconfigurationRequest  # noqa: E402
from ros_ik.node.services.process_link import ShutdownRequest  # noqa: E402
from ros_ik.node.services.process_link import SyncReply  # noqa: E402
from ros_ik.node.services.process_link import SyncRequest  # noqa: E402
from ros_ik.node.transport.pipe_objects import read_object  # noqa: E402
from ros_ik.node.transport.pipe_objects import write_object  # noqa: E402
from ros_ik.planning import Reconfiguration  # noqa: E402
from ros_ik.servo import Measurement  # noqa: E402
from ros_ik.servo import Obstacle  # noqa: E402
from ros_ik.settings import read_settings  # noqa: E402

PATIENCE = 30.0
MEASURED = Measurement(np.array([0.5]), np.array([1.0]))
BALL = (Obstacle('ball', 'sphere', (0.1,), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), 0),)


class Gate(io.RawIOBase):
    """A pipe that takes bytes only while it is open."""

    def __init__(self, file, is_open):
        self._file, self._open = file, is_open
        self.written = threading.Event()

    def writable(self):
        return True

    def write(self, data):
        self.written.set()
        assert self._open.wait(PATIENCE)
        return self._file.write(data)

    def flush(self):
        self._file.flush()

    def close(self):
        self._file.close()


class Process:
    """A process that records what it gets, and ends with its input unless it is deaf."""

    def __init__(self, deaf=False):
        self.is_open, self.ended, self.waited = (threading.Event() for _ in range(3))
        self.is_open.set()
        mine, theirs = os.pipe()
        self.stdin = Gate(os.fdopen(theirs, 'wb'), self.is_open)
        answers, sink = os.pipe()
        self.stdout, self._answers = os.fdopen(answers, 'rb'), os.fdopen(sink, 'wb')
        self.got, self.returncode, self.waits, self.deaf = queue.Queue(), None, [], deaf
        self.is_terminated = False
        self._thread = threading.Thread(target=self._read, args=(mine,), daemon=True)
        self._thread.start()

    def _read(self, mine):
        with os.fdopen(mine, 'rb') as pipe:
            while (frame := read_object(pipe)) is not None:
                self.got.put(frame)
        self.got.put(None)
        if not self.deaf:
            self.end(0)

    def end(self, code):
        """End the process with a code."""
        if not self.ended.is_set():
            self.returncode = code
            self._answers.close()
            self.ended.set()

    def answer(self, value):
        write_object(self._answers, value)

    def next(self, kind):
        """Return the next frame, of this kind."""
        frame = self.got.get(timeout=PATIENCE)
        assert isinstance(frame, kind), frame
        return frame

    # The interface of subprocess.Popen.

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        self.waits.append(timeout)
        self.waited.set()
        if self.deaf and not self.ended.is_set() and timeout is not None:
            raise subprocess.TimeoutExpired('process', timeout)
        assert self.ended.wait(PATIENCE)
        return self.returncode

    def terminate(self):
        self.is_terminated = True

    def kill(self):
        self.end(-9)


class Rig:
    """Planner services whose processes are played, with a clock that the test moves."""

    def __init__(self, monkeypatch):
        self.processes, self.lines, self.now, self.state = [], [], 100.0, None
        self.deaf = False
        monkeypatch.setattr(planner_client, 'start_module', self._start)
        monkeypatch.setattr(
            planner_client, 'time', SimpleNamespace(monotonic=lambda: self.now)
        )
        node = SimpleNamespace(
            get_name=lambda: 'ros_ik',
            get_namespace=lambda: '/left',
            resolve_service_name=lambda name: name.replace('~', '/left/ros_ik'),
            context=SimpleNamespace(get_domain_id=lambda: 7),
            get_logger=lambda: SimpleNamespace(error=self.lines.append),
        )
        self.services = PlannerServices(node, lambda: self.state)

    def _start(self, module):
        self.processes.append(Process(self.deaf))
        return self.processes[-1]

    @property
    def process(self):
        return self.processes[-1]

    def adopt(self, generation, **values):
        """Switch to a robot; return the settings."""
        settings = read_settings({'ee.frame': 'x', 'moveit_services': 'off', **values})
        self.services.adopt(f'urdf {generation}', '', settings, generation)
        return settings

    def started(self, generation=1, **values):
        """Switch to the first robot; return the process once it knows it, and the settings."""
        settings = self.adopt(generation, **values)
        self.process.next(NodeIdentity)
        assert self.process.next(Description).generation == generation
        return self.process, settings

    def poll(self, obstacles=()):
        self.services.poll(MEASURED, obstacles)

    def crash(self):
        """End the process; poll until another one runs; return the least time until then [s]."""
        self.process.end(-11)
        count, begun = len(self.processes), self.now
        self.poll()
        while len(self.processes) == count:
            self.now += 0.5
            self.poll()
        self.process.next(NodeIdentity)
        return self.now - begun


@pytest.fixture
def rig(monkeypatch):
    rig = Rig(monkeypatch)
    yield rig
    rig.services.release(in_order=False)
    for process in rig.processes:
        process.is_open.set()
        process.end(0)


def test_the_first_object_tells_who_the_process_is(rig):
    settings = rig.adopt(3)
    identity = rig.process.next(NodeIdentity)
    assert (identity.node_name, identity.namespace) == ('ros_ik_planning', '/left')
    names = ('solve_ik', 'solve_fk', 'check_trajectory', 'solve_optimal')
    assert identity.services == {name: f'/left/ros_ik/{name}' for name in names}
    assert (identity.domain_id, identity.settings) == (7, settings)
    description = rig.process.next(Description)
    assert (description.urdf, description.generation) == ('urdf 3', 3)


def test_the_newest_of_each_kind_is_sent_after_all_that_came_before(rig):
    process, _ = rig.started()
    process.is_open.clear()
    process.stdin.written.clear()
    first = read_settings({'ee.frame': 'x', 'limits.velocity_scale': 0.5})
    rig.services.apply(first)
    assert process.stdin.written.wait(PATIENCE)
    # All this waits for the pipe.
    rig.services.apply(first)
    rig.adopt(2)
    last = read_settings({'ee.frame': 'x', 'limits.velocity_scale': 0.2})
    rig.services.apply(last)
    process.is_open.set()
    process.next(type(first))
    assert process.next(Description).generation == 2
    assert process.next(type(last)) == last
    assert process.got.empty()


def test_the_measured_state_comes_before_the_reply(rig):
    process, _ = rig.started()
    for number in (1, 2):
        rig.state = PlannerRobotState(1, np.array([0.1 * number]), np.array([True]))
        process.answer(SyncRequest(number))
        assert process.next(PlannerRobotState).joint_q[0] == 0.1 * number
        assert process.next(SyncReply).number == number
    rig.state = None
    process.answer(SyncRequest(3))
    assert process.next(SyncReply).number == 3


def test_obstacles_are_sent_when_they_change_and_again_for_another_robot_or_process(rig):
    process, _ = rig.started()
    for _ in range(3):
        rig.poll(BALL)
    frame = process.next(ObstacleState)
    assert frame.generation == 1 and frame.obstacles[0].name == 'ball'
    assert frame.joint_q[0] == 0.5 and process.got.empty()
    rig.adopt(2)
    process.next(Description)
    rig.poll(BALL)
    assert process.next(ObstacleState).generation == 2
    rig.crash()
    rig.process.next(Description)
    rig.poll(BALL)
    assert rig.process.next(ObstacleState).obstacles[0].name == 'ball'


def test_a_process_that_crashes_again_and_again_is_restarted_ever_later(rig):
    rig.started()
    assert [rig.crash() for _ in range(7)] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert len(rig.lines) == 7 and all('ended with code -11' in line for line in rig.lines)
    assert 'again in 1 s' in rig.lines[0] and 'again in 30 s' in rig.lines[-1]
    # One that ran for a minute crashed for another reason.
    rig.now += 59.0
    assert rig.crash() == 30.0
    rig.now += 60.0
    assert [rig.crash() for _ in range(2)] == [1.0, 2.0]
    # The pipes of crashed processes are closed.
    for process in rig.processes[:-1]:
        while process.got.get(timeout=PATIENCE) is not None:
            pass
    # A node that is configured again starts with the first delay.
    rig.services.release(in_order=True)
    rig.started(2)
    assert rig.crash() == 1.0


def test_a_process_that_replaces_another_has_the_newest_settings(rig):
    _, settings = rig.started()
    changed = read_settings({'ee.frame': 'x', 'limits.velocity_scale': 0.5})
    rig.services.apply(changed)
    rig.crash()
    assert rig.process.next(Description).settings == changed != settings


def test_only_the_answer_to_the_newest_question_of_a_task_counts(rig):
    process, _ = rig.started()
    pose, start = np.zeros(7), np.array([0.25])
    numbers = []
    for seconds in (1.0, 2.0):
        numbers.append(rig.services.ask(1, pose, start, (0.1, 0.2), seconds))
        question = process.next(ReconfigurationRequest)
        assert (question.number, question.task, question.seconds) == (numbers[-1], 1, seconds)
        assert question.tolerances == (0.1, 0.2)
    assert len({*numbers}) == 2 and rig.services.answer(numbers[1]) is None
    for number in numbers:
        process.answer(ReconfigurationAnswer(number, 1, Reconfiguration(message=f'to {number}')))
        # Its reply comes after the answer was read.
        process.answer(SyncRequest(number))
        process.next(SyncReply)
        found = [rig.services.answer(one) for one in numbers]
        expected = [f'to {one}' if one == number else None for one in numbers]
        assert [one and one.message for one in found] == expected


def test_requests_of_two_tasks_both_reach_the_process_and_get_their_answers(rig):
    process, _ = rig.started()
    pose, start = np.zeros(7), np.array([0.25])
    # A frame that is being written keeps the others waiting.
    process.is_open.clear()
    process.stdin.written.clear()
    rig.poll(BALL)
    assert process.stdin.written.wait(PATIENCE)
    numbers = [rig.services.ask(task, pose, start, (0.1, 0.2), 1.0) for task in (0, 1, 0)]
    process.is_open.set()
    process.next(ObstacleState)
    asked = [process.next(ReconfigurationRequest) for _ in range(2)]
    assert [(one.number, one.task) for one in asked] == [(numbers[1], 1), (numbers[2], 0)]
    for one in asked:
        found = Reconfiguration(message=f'to {one.number}')
        process.answer(ReconfigurationAnswer(one.number, one.task, found))
    process.answer(SyncRequest(1))
    process.next(SyncReply)
    answers = [rig.services.answer(number) for number in numbers]
    assert answers[0] is None
    assert [one.message for one in answers[1:]] == [f'to {number}' for number in numbers[1:]]


@pytest.mark.parametrize('in_order', [True, False])
def test_an_end_in_order_is_announced_and_gets_more_time(rig, in_order):
    process, _ = rig.started()
    rig.services.release(in_order=in_order)
    if in_order:
        process.next(ShutdownRequest)
    assert process.got.get(timeout=PATIENCE) is None
    assert process.ended.wait(PATIENCE) and process.returncode == 0
    assert process.waited.wait(PATIENCE)
    assert process.waits == [15.1 if in_order else 0.9]
    assert process.is_terminated != in_order
    # Nothing reaches it any more.
    rig.poll(BALL)
    assert rig.services.answer(1) is None and len(rig.processes) == 1


def test_news_that_wait_at_the_end_are_not_sent(rig):
    process, settings = rig.started()
    process.is_open.clear()
    process.stdin.written.clear()
    rig.services.apply(settings)
    assert process.stdin.written.wait(PATIENCE)
    rig.poll(BALL)
    rig.services.release(in_order=True)
    process.is_open.set()
    process.next(type(settings))
    process.next(ShutdownRequest)
    assert process.got.get(timeout=PATIENCE) is None


def test_a_process_that_does_not_end_is_killed(rig):
    rig.deaf = True
    process, _ = rig.started()
    rig.services.release(in_order=False)
    assert process.ended.wait(PATIENCE) and process.returncode == -9


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@pytest.mark.parametrize('deaf', [False, True])
@pytest.mark.parametrize('fault', ['write', 'state', 'answer'])
def test_a_process_without_one_of_its_threads_is_replaced(rig, monkeypatch, fault, deaf):
    def fail():
        raise ZeroDivisionError

    rig.deaf = deaf
    process, _ = rig.started()
    if fault == 'write':
        # No function of a function has a pickle.
        rig.services._child.post(fail)
    elif fault == 'state':
        monkeypatch.setattr(rig.services._child, '_state', fail)
        process.answer(SyncRequest(1))
    else:
        process._answers.write(struct.pack('<Q', 4) + b'junk')
        process._answers.flush()
    assert process.ended.wait(PATIENCE)
    rig.deaf = False
    rig.poll()
    rig.now += 1.0
    rig.poll()
    assert len(rig.processes) == 2
    rig.process.next(NodeIdentity)


@pytest.mark.parametrize('crashed', [False, True])
def test_no_process_starts_after_the_end(rig, crashed):
    """The executor may adopt a robot, or see a crash, while the main thread ends the node."""
    process, _ = rig.started()
    if crashed:
        process.end(-11)
        rig.poll()
    rig.services.release(in_order=False)
    rig.now += 100.0
    rig.poll()
    rig.adopt(2)
    assert rig.processes == [process]

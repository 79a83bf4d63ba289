# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parts of the planners' process: requests before the queue, the node's objects, the end."""

import io
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from support.processes.ros_processes import reserved_domain  # noqa: E402
from support.rigs.ros_rig import PATIENCE  # noqa: E402
from support.rigs.services_rig import points  # noqa: E402

from ros_ik.node.services import planner_main  # noqa: E402
from ros_ik.node.services.planner_main import PlannerNode  # noqa: E402
from ros_ik.node.services.process_link import Description  # noqa: E402
from ros_ik.node.services.process_link import NodeIdentity  # noqa: E402
from ros_ik.node.services.process_link import ObstacleState  # noqa: E402
from ros_ik.node.services.process_link import PlannerRobotState  # noqa: E402
from ros_ik.node.services.process_link import ReconfigurationAnswer  # noqa: E402
from ros_ik.node.services.process_link import ReconfigurationRequest  # noqa: E402
from ros_ik.node.services.process_link import ShutdownRequest  # noqa: E402
from ros_ik.node.services.process_link import SyncReply  # noqa: E402
from ros_ik.node.transport.pipe_objects import write_object  # noqa: E402
from ros_ik.settings import read_settings  # noqa: E402
from ros_ik_interfaces.srv import SolveFk  # noqa: E402
from ros_ik_interfaces.srv import SolveIk  # noqa: E402
from ros_ik_interfaces.srv import SolveOptimal  # noqa: E402

SETTINGS = read_settings(
    {
        'frame_tasks': ['left', 'right'], 'left.frame': 'a', 'right.frame': 'b',
        'services.max_poses': 5, 'services.timeout': 4.0,
    }
)  # fmt: skip
QUESTION = ReconfigurationRequest(7, 2, np.zeros(7), np.zeros(1), (0.1, 0.2), 3.0)


class Executor:
    """An executor without tasks, to which a future may refer."""


def submit(name, request, act):
    """Submit a request to a queue that acts on its job; return the responses."""
    responses, future = [], object()

    def finish(its_future, response):
        assert its_future is future
        responses.append(response)

    node = SimpleNamespace(
        _settings=SETTINGS, _finish=finish, jobs=SimpleNamespace(submit=act),
        _work={name: lambda planner, asked, budget: (planner, asked, budget)},
    )  # fmt: skip
    PlannerNode._submit(node, name, request, future)
    return responses


def test_a_request_is_worked_on_with_its_own_time_and_answered_once():
    request = SolveIk.Request(timeout=2.5)

    def act(job):
        planner, asked, budget = job.work('planner', job.budget)
        assert (planner, asked, budget) == ('planner', request, job.budget)
        assert budget.seconds == 2.5
        job.answer('an answer')
        job.answer('another')
        job.refuse('too late')

    assert submit('solve_ik', request, act) == ['an answer']


@pytest.mark.parametrize(
    ('name', 'kind'),
    [('solve_ik', SolveIk), ('solve_fk', SolveFk), ('solve_optimal', SolveOptimal)],
)
def test_a_refusal_is_the_response_of_its_service(name, kind):
    (response,) = submit(name, kind.Request(), lambda job: job.refuse('busy'))
    assert isinstance(response, kind.Response)
    assert not response.success and response.message == 'busy'
    if kind is SolveOptimal:
        assert response.reason == SolveOptimal.Response.FAILED


def test_what_is_too_large_for_the_tasks_never_waits():
    def act(job):
        raise AssertionError('it waits')

    # Without links, poses of both tasks are asked for.
    request = SolveFk.Request(configurations=points([[0.0]] * 3))
    (response,) = submit('solve_fk', request, act)
    assert not response.success and 'got 6' in response.message
    (response,) = submit('solve_ik', SolveIk.Request(timeout=-1.0), act)
    assert not response.success and 'timeout' in response.message


@pytest.mark.parametrize('fails', [False, True])
def test_a_request_is_pending_until_it_has_its_answer(fails):
    executor = Executor()
    node, futures = SimpleNamespace(pending=3, _executor=executor), []

    def submit(name, request, future):
        assert node.pending == 4
        if fails:
            raise ZeroDivisionError
        futures.append(future)

    node._submit = submit
    asked = PlannerNode._on_request(node, 'solve_ik', 'a request', None)
    if fails:
        with pytest.raises(ZeroDivisionError):
            asked.send(None)
    else:
        asked.send(None)
        assert node.pending == 4
        futures[0].set_result('an answer')
        with pytest.raises(StopIteration, match='an answer'):
            asked.send(None)
    # At its end the process waits for what is pending.
    assert node.pending == 3


def test_a_question_of_the_node_that_is_refused_is_answered_with_the_reason():
    sent = []

    def act(job):
        assert job.budget.seconds == QUESTION.seconds
        job.refuse('busy')

    planner_main._find_reconfiguration(SimpleNamespace(submit=act), QUESTION, sent.append)
    (answer,) = sent
    assert isinstance(answer, ReconfigurationAnswer)
    assert (answer.number, answer.task) == (7, 2)
    assert answer.found.message == 'busy' and not answer.found.positions


def test_each_object_of_the_node_goes_to_its_place_and_its_end_ends_the_process():
    frames = {
        'describe': Description('urdf', '', SETTINGS, 1), 'apply': SETTINGS,
        'measure': PlannerRobotState(1, np.zeros(1), np.ones(1, dtype=bool)),
        'place': ObstacleState(1, (), np.zeros(1)), 'submit': QUESTION, 'note': SyncReply(3),
        'allow_time': ShutdownRequest(),
    }  # fmt: skip
    pipe, calls = io.BytesIO(), []
    for frame in frames.values():
        write_object(pipe, frame)
    pipe.seek(0)

    def recorder(*names):
        return SimpleNamespace(
            **{name: lambda *given, name=name: calls.append((name, *given)) for name in names}
        )

    planner_main._read(
        pipe, None, recorder('describe', 'apply', 'measure', 'place', 'submit'),
        recorder('note'), recorder('allow_time', 'begin'),
    )  # fmt: skip
    assert [name for name, *_ in calls] == [*frames, 'begin']
    by_name = {name: given for name, *given in calls}
    assert by_name['describe'][0].urdf == 'urdf' and by_name['apply'] == [SETTINGS]
    assert by_name['note'] == [SyncReply(3)]


@pytest.mark.parametrize('frame', [SyncReply(3), 'of no known kind'])
def test_an_error_in_reading_ends_the_process_so_that_it_is_started_again(frame):
    def fail(*_):
        raise ZeroDivisionError

    pipe, begun = io.BytesIO(), []
    write_object(pipe, frame)
    pipe.seek(0)
    jobs = SimpleNamespace(**dict.fromkeys(('describe', 'apply', 'measure', 'place'), fail))
    end = SimpleNamespace(begin=lambda: begun.append(True))
    with pytest.raises((ZeroDivisionError, KeyError)):
        planner_main._read(pipe, None, jobs, SimpleNamespace(note=fail), end)
    assert begun == [True]


@pytest.mark.parametrize(('in_order', 'seconds'), [(False, 0.8), (True, 15.0)])
def test_the_process_ends_within_its_time_whatever_still_runs(monkeypatch, in_order, seconds):
    clock, alarms = SimpleNamespace(now=100.0), []
    monkeypatch.setattr(planner_main, 'time', SimpleNamespace(monotonic=lambda: clock.now))
    played = SimpleNamespace(
        ITIMER_REAL=signal.ITIMER_REAL, setitimer=lambda *given: alarms.append(given)
    )
    monkeypatch.setattr(planner_main, 'signal', played)
    end = planner_main._Shutdown()
    if in_order:
        end.allow_time()
    assert not end.begun.is_set() and not alarms
    for _ in range(2):
        end.begin()
        clock.now += 0.1
    assert end.begun.is_set() and alarms == [(signal.ITIMER_REAL, seconds)]
    # Answers are waited for until shortly before.
    for later, may_wait in ((seconds - 0.31, True), (seconds - 0.29, False)):
        clock.now = 100.0 + later
        assert end.may_wait() == may_wait


@pytest.fixture
def process():
    """Return the node of a process of planners, its executor, and one for a node of clients."""
    with reserved_domain() as domain:
        rclpy.init(domain_id=domain)
        executor, listening = SingleThreadedExecutor(), SingleThreadedExecutor()
        names = {'solve_ik': '/arm/solve_ik', 'solve_optimal': '/arm/solve_optimal'}
        identity = NodeIdentity('arm_planning', '/', names, (), domain, SETTINGS)
        node = PlannerNode(identity, executor, lambda budget: None)
        client = rclpy.create_node('client')
        executor.add_node(node)
        listening.add_node(client)
        try:
            yield node, executor, client, listening
        finally:
            node.jobs.end('the test is over')
            executor.shutdown()
            listening.shutdown()
            client.destroy_node()
            node.destroy_node()
            rclpy.try_shutdown()


def spin(executor, until):
    give_up = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < give_up, 'it never came'
        executor.spin_once(timeout_sec=0.05)


@pytest.mark.dds
def test_a_request_whose_callback_raises_is_refused_like_any_other(process, monkeypatch):
    """By default the reason of ``~/solve_optimal`` would be a reached cost."""
    node, executor, client, listening = process

    def broken(name, request, future):
        raise ZeroDivisionError('a mistake of ours')

    monkeypatch.setattr(node, '_submit', broken)
    kinds = {'solve_ik': SolveIk, 'solve_optimal': SolveOptimal}
    callers = {name: client.create_client(kind, f'/arm/{name}') for name, kind in kinds.items()}
    spin(listening, lambda: all(caller.service_is_ready() for caller in callers.values()))
    asked = {name: caller.call_async(kinds[name].Request()) for name, caller in callers.items()}

    def have_answers():
        executor.spin_once(timeout_sec=0.05)
        return all(future.done() for future in asked.values())

    spin(listening, have_answers)
    for future in asked.values():
        assert not future.result().success and 'a mistake of ours' in future.result().message
    assert asked['solve_optimal'].result().reason == SolveOptimal.Response.FAILED


@pytest.mark.dds
def test_requests_that_wait_while_the_process_ends_are_refused(process):
    """They came while the process was busy, or before it served any."""
    node, executor, client, listening = process
    kinds = {'solve_ik': SolveIk, 'solve_optimal': SolveOptimal}
    callers = {name: client.create_client(kind, f'/arm/{name}') for name, kind in kinds.items()}
    spin(listening, lambda: all(caller.service_is_ready() for caller in callers.values()))
    asked = [
        caller.call_async(kinds[name].Request())
        for name, caller in callers.items()
        for _ in range(2)
    ]
    time.sleep(0.3)
    end = planner_main._Shutdown()
    end.may_wait = lambda: False
    planner_main._leave(node, executor, end)
    spin(listening, lambda: all(future.done() for future in asked))
    for future in asked:
        assert not future.result().success and 'cleaned up' in future.result().message
    spin(listening, lambda: not any(caller.service_is_ready() for caller in callers.values()))

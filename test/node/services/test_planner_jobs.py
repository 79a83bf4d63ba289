# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The queue of planners' requests: one at a time, a bounded number waits, all get an answer."""

import contextlib
import functools
import threading
import time

import numpy as np
import pytest
from support.rigs.planning_rig import robot_text

from ros_ik.demo.robots import find_robot
from ros_ik.errors import ArgumentError
from ros_ik.node.services import jobs as jobs_module
from ros_ik.node.services.idle_preparation import idle_steps
from ros_ik.node.services.jobs import Job
from ros_ik.node.services.jobs import Jobs
from ros_ik.node.services.process_link import Description
from ros_ik.node.services.process_link import ObstacleState
from ros_ik.node.services.process_link import PlannerRobotState
from ros_ik.planning import Budget
from ros_ik.planning import OptimalRequest
from ros_ik.planning import Planner
from ros_ik.planning import PoseCost
from ros_ik.planning import solve_fk
from ros_ik.planning import solve_optimal
from ros_ik.planning.context import planning_context
from ros_ik.planning.context.barrier_solvers import BarrierSolvers
from ros_ik.planning.context.planning_context import PlanningContext
from ros_ik.planning.optimal_request import make_command
from ros_ik.servo import Obstacle
from ros_ik.settings import read_settings

PATIENCE = 30.0


class Answers:
    """Outcomes of requests."""

    def __init__(self):
        self.given, self.refused, self.logged, self.twice = {}, {}, [], []
        self._news = threading.Condition()
        self._earlier_threads = set(threading.enumerate())

    def job(self, name, work):
        """Return a request whose answer is recorded under a name."""

        def note(results, value):
            with self._news:
                if name in {*self.given, *self.refused}:
                    self.twice.append(name)
                results[name] = value
                self._news.notify_all()

        return Job(
            work,
            lambda answer: note(self.given, answer),
            lambda reason: note(self.refused, reason),
            Budget(),
        )

    def wait(self, *names):
        """Wait until every one of these requests has its answer or its refusal."""
        with self._news:
            done = self._news.wait_for(
                lambda: set(names) <= {*self.given, *self.refused}, PATIENCE
            )
        assert done, f'{names}: {self.given}, {self.refused}'

    def wait_for_threads(self):
        """Wait until no thread of jobs runs that began after this object was made."""
        for thread in set(threading.enumerate()) - self._earlier_threads:
            if thread.name == 'jobs':
                thread.join(PATIENCE)
                assert not thread.is_alive()


def description(generation=1, **values):
    files = find_robot('panda')
    settings = read_settings({'ee.frame': files.tip_link, **values})
    return Description(robot_text('panda'), '', settings, generation)


@pytest.fixture
def answers():
    return Answers()


@pytest.fixture
def jobs(answers):
    made = Jobs(2, lambda planner: None, answers.logged.append)
    yield made
    made.end('the test is over')
    answers.wait_for_threads()
    assert not answers.twice


class Blocking:
    """A request that runs until it is released, and checks its budget like all others."""

    def __init__(self):
        self.started, self.go = threading.Event(), threading.Event()

    def __call__(self, planner, budget):
        self.started.set()
        while not self.go.wait(0.01):
            budget.check()
        return 'done'


def test_requests_wait_for_the_model_and_are_answered_in_order(jobs, answers):
    order = []
    for name in 'ab':
        jobs.submit(answers.job(name, lambda planner, budget, name=name: order.append(name)))
    assert not answers.given
    jobs.describe(description())
    answers.wait('a', 'b')
    assert order == ['a', 'b'] and not answers.refused


def test_what_does_not_fit_the_queue_is_refused_at_once(jobs, answers):
    jobs.describe(description())
    work = Blocking()
    jobs.submit(answers.job('running', work))
    assert work.started.wait(PATIENCE)
    for name in ('first', 'second', 'third'):
        jobs.submit(answers.job(name, lambda planner, budget: 'done'))
    assert set(answers.refused) == {'third'}
    assert 'busy: 3' in answers.refused['third']
    assert 'services.max_waiting' in answers.refused['third']
    work.go.set()
    answers.wait('running', 'first', 'second')
    assert set(answers.given) == {'running', 'first', 'second'}


def test_another_robot_cancels_what_runs_and_what_waits(jobs, answers):
    jobs.describe(description())
    work = Blocking()
    jobs.submit(answers.job('running', work))
    assert work.started.wait(PATIENCE)
    begun = []
    jobs.submit(answers.job('waiting', lambda planner, budget: begun.append(planner)))
    jobs.describe(description(2))
    answers.wait('running', 'waiting')
    assert all('description changed' in reason for reason in answers.refused.values())
    assert set(answers.refused) == {'running', 'waiting'}
    jobs.submit(answers.job('after', lambda planner, budget: 'new'))
    answers.wait('after')
    assert answers.given == {'after': 'new'} and not begun


def test_a_request_that_was_answered_takes_no_place_in_the_queue(answers):
    jobs = Jobs(0, lambda planner: None, answers.logged.append)
    jobs.describe(description())
    for name in 'ab':
        jobs.submit(answers.job(name, lambda planner, budget: 'done'))
        answers.wait(name)
        give_up = time.monotonic() + PATIENCE
        while jobs._running is not None:
            assert time.monotonic() < give_up
            time.sleep(0.001)
    jobs.end('the test is over')
    answers.wait_for_threads()
    assert answers.given == {'a': 'done', 'b': 'done'}


def test_an_answer_for_another_robot_is_not_given(jobs, answers):
    begun, let_go = threading.Event(), threading.Event()

    def in_a_kernel(planner, budget):
        begun.set()
        assert let_go.wait(PATIENCE)
        return 'of the first robot'

    jobs.describe(description())
    jobs.submit(answers.job('running', in_a_kernel))
    assert begun.wait(PATIENCE)
    jobs.describe(description(2))
    let_go.set()
    answers.wait('running')
    assert 'description changed' in answers.refused['running'] and not answers.given


def test_settings_and_obstacles_of_the_robot_before_do_not_reach_the_next_one(jobs, answers):
    jobs.describe(description())
    jobs.submit(answers.job('first', lambda planner, budget: planner.joint_q))
    answers.wait('first')
    jobs.apply(description(**{'limits.velocity_scale': 0.5}).settings)
    second = description(2, **{'limits.velocity_scale': 0.7})
    jobs.describe(second)
    ball = Obstacle('ball', 'sphere', (0.1,), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), 0)
    state = answers.given['first']
    for name, generation, expected in (('old', 1, ()), ('own', 2, (ball,))):
        jobs.place(ObstacleState(generation, (ball,), state))
        jobs.submit(
            answers.job(name, lambda planner, budget: (planner.settings, planner.obstacles))
        )
        answers.wait(name)
        assert answers.given[name] == (second.settings, expected)


def test_a_request_of_the_robot_before_leaves_settings_to_the_next_one(answers):
    has_begun, let_go = threading.Event(), threading.Event()

    def catch_up(budget):
        has_begun.set()
        assert let_go.wait(PATIENCE)

    jobs = Jobs(2, lambda planner: None, answers.logged.append, catch_up=catch_up)
    jobs.describe(description())
    jobs.submit(answers.job('old', lambda planner, budget: planner.settings))
    assert has_begun.wait(PATIENCE)
    jobs.describe(description(2))
    changed = description(**{'limits.velocity_scale': 0.5}).settings
    jobs.apply(changed)
    let_go.set()
    jobs.submit(answers.job('new', lambda planner, budget: planner.settings))
    answers.wait('old', 'new')
    jobs.end('the test is over')
    answers.wait_for_threads()
    assert 'description changed' in answers.refused['old']
    assert answers.given['new'] is changed


@pytest.mark.parametrize('part', ['_bounded_models', 'BarrierSolvers'])
def test_settings_that_could_not_be_applied_are_applied_to_the_next_request(
    jobs, answers, monkeypatch, part
):
    def fail(*_):
        raise RuntimeError('no memory')

    def room_of(planner, budget):
        lower, upper = planner.bounded_model.limits64()[:2]
        return upper[0] - lower[0]

    jobs.describe(description())
    jobs.submit(answers.job('before', room_of))
    answers.wait('before')
    changed = description(**{'limits.position_margin': [0.25]}).settings
    with monkeypatch.context() as patch:
        owner = PlanningContext if part == '_bounded_models' else planning_context
        patch.setattr(owner, part, fail)
        jobs.apply(changed)
        jobs.submit(answers.job('failed', room_of))
        answers.wait('failed')
    assert 'no memory' in answers.refused['failed']
    jobs.submit(
        answers.job('after', lambda planner, budget: (planner, room_of(planner, budget)))
    )
    answers.wait('after')
    planner, room = answers.given['after']
    assert planner.settings is planner._solvers._settings is changed
    assert room == pytest.approx(answers.given['before'] - 2.0 * (0.25 - 0.02))


def test_obstacles_that_could_not_be_placed_are_placed_for_the_next_request(
    jobs, answers, monkeypatch
):
    def fail(*_):
        raise RuntimeError('no memory')

    jobs.describe(description())
    jobs.submit(answers.job('first', lambda planner, budget: planner.joint_q))
    answers.wait('first')
    ball = Obstacle('ball', 'sphere', (0.1,), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), 0)
    with monkeypatch.context() as patch:
        patch.setattr(BarrierSolvers, 'place', fail)
        jobs.place(ObstacleState(1, (ball,), answers.given['first']))
        jobs.submit(answers.job('failed', lambda planner, budget: None))
        answers.wait('failed')
    placed = []
    place = BarrierSolvers.place
    monkeypatch.setattr(
        BarrierSolvers, 'place', lambda self, it: placed.append(it.obstacles) or place(self, it)
    )
    jobs.submit(answers.job('after', lambda planner, budget: planner.obstacles))
    answers.wait('after')
    assert answers.given['after'] == (ball,) and placed == [(ball,)]


def test_a_request_waits_for_news_under_way_before_it_reads_them(answers):
    neutral, given = [], description(4)

    def catch_up(budget):
        if neutral:
            jobs.measure(PlannerRobotState(4, neutral[0] + 0.1, [True] * len(neutral[0])))

    jobs = Jobs(2, lambda planner: None, answers.logged.append, catch_up=catch_up)
    jobs.describe(given)
    for name in ('first', 'second'):
        jobs.submit(answers.job(name, lambda planner, budget: planner.joint_q))
        answers.wait(name)
        neutral.append(answers.given[name])
    jobs.end('the test is over')
    answers.wait_for_threads()
    assert neutral[1][0] == pytest.approx(neutral[0][0] + 0.1)


def test_a_request_that_fails_is_refused_and_the_next_one_answered(jobs, answers):
    def wrong(planner, budget):
        raise ArgumentError('link must be known')

    def broken(planner, budget):
        raise ZeroDivisionError('a mistake of ours')

    jobs.describe(description())
    jobs.submit(answers.job('wrong', wrong))
    jobs.submit(answers.job('broken', broken))
    answers.wait('wrong', 'broken')
    jobs.submit(answers.job('good', lambda planner, budget: 1))
    answers.wait('good')
    assert answers.refused['wrong'] == 'link must be known'
    assert 'ZeroDivisionError' in answers.refused['broken']
    assert len(answers.logged) == 1 and 'a mistake of ours' in answers.logged[0]


def test_a_request_whose_answer_cannot_be_given_is_refused_and_the_next_one_answered(
    jobs, answers
):
    def fail(result):
        raise ZeroDivisionError('a mistake of ours')

    broken = answers.job('broken', lambda planner, budget: 'done')
    broken.on_answer = fail
    jobs.describe(description())
    jobs.submit(broken)
    answers.wait('broken')
    jobs.submit(answers.job('good', lambda planner, budget: 1))
    answers.wait('good')
    assert 'ZeroDivisionError' in answers.refused['broken'] and answers.given == {'good': 1}
    assert len(answers.logged) == 1 and 'a mistake of ours' in answers.logged[0]


@pytest.mark.parametrize('part', ['build', 'request'])
def test_an_error_that_cannot_be_logged_ends_no_other_request(answers, part):
    def fail(*_):
        raise ZeroDivisionError('a mistake of ours')

    jobs = Jobs(2, fail if part == 'build' else lambda planner: None, fail)
    jobs.describe(description())
    for name in 'ab':
        jobs.submit(answers.job(name, fail))
        answers.wait(name)
    jobs.end('the test is over')
    answers.wait_for_threads()
    assert all('ZeroDivisionError' in reason for reason in answers.refused.values())


def test_a_robot_of_no_use_is_said_in_the_answers(jobs, answers):
    jobs.describe(description(**{'joint_group': 'no_such_group'}))
    jobs.submit(answers.job('a', lambda planner, budget: None))
    answers.wait('a')
    assert 'no_such_group' in answers.refused['a'] and not answers.logged


def test_an_error_of_ours_in_a_build_is_said_and_another_robot_answered(
    jobs, answers, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(jobs_module, 'Planner', lambda *parts: [][0])
        jobs.describe(description())
        jobs.submit(answers.job('a', lambda planner, budget: None))
        answers.wait('a')
    assert answers.refused['a'].startswith('there is no model: IndexError')
    assert len(answers.logged) == 1 and 'Traceback' in answers.logged[0]
    jobs.describe(description(2))
    jobs.submit(answers.job('b', lambda planner, budget: 'done'))
    answers.wait('b')
    assert answers.given == {'b': 'done'}


def test_a_planner_gets_the_folders_of_meshes_and_is_prepared_once(answers, monkeypatch):
    made, prepared = [], []
    monkeypatch.setattr(jobs_module, 'Planner', lambda *parts: made.append(parts) or Plain())
    jobs = Jobs(2, prepared.append, answers.logged.append, ('/one', '/two'))
    jobs.describe(description())
    for name in 'ab':
        jobs.submit(answers.job(name, lambda planner, budget: planner))
        answers.wait(name)
    jobs.end('the test is over')
    answers.wait_for_threads()
    assert [parts[3] for parts in made] == [('/one', '/two')]
    assert prepared == [answers.given['a']] == [answers.given['b']]


class Plain:
    """A planner that nothing changes."""

    obstacles = ()


def test_settings_and_states_reach_the_next_request_and_states_of_other_robots_do_not(
    jobs, answers
):
    jobs.describe(description(7))
    jobs.submit(answers.job('first', lambda planner, budget: planner.joint_q))
    answers.wait('first')
    neutral = answers.given['first']
    known = [True] * len(neutral)
    changed = description(**{'limits.velocity_scale': 0.5}).settings
    jobs.apply(changed)
    jobs.measure(PlannerRobotState(6, neutral + 0.1, known))
    jobs.submit(answers.job('other', lambda planner, budget: (planner.settings, planner.joint_q)))
    answers.wait('other')
    assert answers.given['other'][0] is changed
    assert (answers.given['other'][1] == neutral).all()
    jobs.measure(PlannerRobotState(7, neutral + 0.1, known))
    jobs.submit(answers.job('own', lambda planner, budget: planner.joint_q))
    answers.wait('own')
    coord = 0
    assert answers.given['own'][coord] == pytest.approx(neutral[coord] + 0.1)


def test_the_end_refuses_everything_and_ends_the_thread(jobs, answers):
    jobs.describe(description())
    work = Blocking()
    jobs.submit(answers.job('running', work))
    assert work.started.wait(PATIENCE)
    jobs.submit(answers.job('waiting', lambda planner, budget: None))
    jobs.end('it is late')
    answers.wait('running', 'waiting')
    jobs.submit(answers.job('after', lambda planner, budget: None))
    assert set(answers.refused.values()) == {'it is late'}
    answers.wait_for_threads()


def test_the_end_does_not_wait_for_what_runs(jobs, answers):
    let_go = threading.Event()

    def in_a_kernel(planner, budget):
        assert let_go.wait(PATIENCE)
        return 'too late'

    jobs.describe(description())
    jobs.submit(answers.job('deaf', in_a_kernel))
    while jobs._running is None:
        time.sleep(0.001)
    jobs.end('it is late')
    assert answers.refused == {'deaf': 'it is late'}
    let_go.set()
    answers.wait_for_threads()
    assert answers.given == {} and answers.logged == []


def device_of(planner, budget):
    return str(planner.model.device)


@pytest.mark.parametrize(('device', 'answer'), [('auto', 'cpu'), ('cuda:77,cpu', 'cpu')])
def test_planners_use_the_first_device_that_works(jobs, answers, device, answer):
    jobs.describe(description(device=device))
    jobs.submit(answers.job('a', device_of))
    answers.wait('a')
    assert answers.given == {'a': answer}


def test_a_device_that_does_not_work_is_said_in_the_answers(jobs, answers):
    jobs.describe(description(device='cuda:77'))
    jobs.submit(answers.job('a', device_of))
    answers.wait('a')
    assert 'cuda:77' in answers.refused['a'] and not answers.logged


def test_a_lost_device_is_replaced_and_settings_and_states_stay(jobs, answers, monkeypatch):
    lost, chosen = [], []

    def choose(wanted):
        chosen.append(wanted)
        return 'cpu', ()

    def lose(planner, budget):
        lost.append(planner.model.device)
        raise RuntimeError('the card is gone')

    def state(planner, budget):
        return planner, planner.settings, planner.joint_q

    monkeypatch.setattr(jobs_module, 'choose_device', choose)
    monkeypatch.setattr(jobs_module, 'fault_of', lambda device: 'gone' if lost else '')
    jobs.describe(description(3))
    jobs.submit(answers.job('before', state))
    answers.wait('before')
    first, _, neutral = answers.given['before']
    changed = description(**{'limits.velocity_scale': 0.5}).settings
    jobs.apply(changed)
    jobs.measure(PlannerRobotState(3, neutral + 0.1, [True] * len(neutral)))
    jobs.submit(answers.job('broken', lose))
    jobs.submit(answers.job('after', state))
    answers.wait('broken', 'after')
    assert 'the card is gone' in answers.refused['broken']
    second, settings, joint_q = answers.given['after']
    assert second is not first and settings is changed
    assert joint_q[0] == pytest.approx(neutral[0] + 0.1)
    assert len(chosen) == 2


class Steps:
    """Steps of the preparation in pauses, which wait until the test lets them go on."""

    def __init__(self, count, error=None):
        self.order, self.count, self.error = [], count, error
        self.begun, self.go = [[threading.Event() for _ in range(count)] for _ in range(2)]

    def __call__(self):
        return [lambda planner, k=k: self._step(k) for k in range(self.count)]

    def _step(self, k):
        self.order.append(k)
        self.begun[k].set()
        assert self.go[k].wait(PATIENCE)
        if self.error is not None:
            raise self.error


def _note(order, name, planner, budget):
    order.append(name)


@contextlib.contextmanager
def idle_jobs(steps, answers):
    """Yield jobs with further steps of the preparation."""
    jobs = Jobs(2, lambda planner: None, answers.logged.append, idle_steps=steps)
    try:
        yield jobs
    finally:
        jobs.end('the test is over')
        answers.wait_for_threads()


@contextlib.contextmanager
def prepared_in_pauses(steps, answers):
    """Yield jobs with further steps of the preparation, which are all let go at the end."""
    with idle_jobs(steps, answers) as jobs:
        try:
            yield jobs
        finally:
            for go in steps.go:
                go.set()


def test_a_request_comes_before_the_next_step_of_the_preparation(answers):
    steps = Steps(3)
    with prepared_in_pauses(steps, answers) as jobs:
        # A request that waits for the model comes before the first step.
        jobs.submit(answers.job('first', lambda planner, budget: steps.order.append('first')))
        jobs.describe(description())
        assert steps.begun[0].wait(PATIENCE)
        assert steps.order == ['first', 0]
        for name in 'ab':
            work = functools.partial(_note, steps.order, name)
            jobs.submit(answers.job(name, work))
        steps.go[0].set()
        answers.wait('a', 'b')
        assert steps.begun[1].wait(PATIENCE)
        assert steps.order == ['first', 0, 'a', 'b', 1]
        # Another robot is prepared from the first step on.
        jobs.describe(description(2))
        for go in steps.go:
            go.set()
        assert steps.begun[2].wait(PATIENCE)
        jobs.submit(answers.job('last', lambda planner, budget: 'done'))
        answers.wait('last')
        assert steps.order == ['first', 0, 'a', 'b', 1, 0, 1, 2]


@pytest.mark.parametrize(
    ('error', 'is_logged'), [(ArgumentError('no joint states'), False), (ValueError('odd'), True)]
)
def test_an_error_ends_the_preparation_and_no_request(answers, error, is_logged):
    steps = Steps(2, error)
    with prepared_in_pauses(steps, answers) as jobs:
        steps.go[0].set()
        jobs.describe(description())
        assert steps.begun[0].wait(PATIENCE)
        jobs.submit(answers.job('after', lambda planner, budget: 'done'))
        answers.wait('after')
        assert answers.given == {'after': 'done'} and steps.order == [0]
        assert bool(answers.logged) == is_logged


def test_an_error_before_the_first_step_of_the_preparation_ends_no_request(answers):
    def fail():
        raise ZeroDivisionError('a mistake of ours')

    with idle_jobs(fail, answers) as jobs:
        jobs.describe(description())
        jobs.submit(answers.job('after', lambda planner, budget: 'done'))
        answers.wait('after')
    assert answers.given == {'after': 'done'}
    assert len(answers.logged) == 1 and 'a mistake of ours' in answers.logged[0]


def test_a_first_optimal_command_finds_its_solver_and_its_graphs():
    told = description()
    planner = Planner(told.urdf, told.srdf, told.settings)
    planner.measure(planner.joint_q, np.ones(len(planner.joint_q), dtype=bool))
    for step in idle_steps():
        step(planner)
    solver = planner.optimal
    (problem,) = solver._problems
    pose = solve_fk(planner, planner.robot.group.joint_names, planner.joint_q[None, :7])[0, 0]
    link = planner.model.body_label[planner.task_frames()[0].link]
    request = OptimalRequest(poses=[PoseCost('', link, pose, 1.0, 1.0)])
    assert solver._problem(make_command(planner, request)) is problem
    solve_optimal(planner, request)
    assert planner.optimal is solver

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Log of the status and rates of /diagnostics, on a clock that the tests move."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from ros_ik.node.control.tick_faults import TickFaults  # noqa: E402
from ros_ik.node.reports import reporter as reporter_module  # noqa: E402
from ros_ik.node.reports.reporter import Reporter  # noqa: E402
from ros_ik.node.transport.message_stats import Drop  # noqa: E402
from ros_ik.node.transport.message_stats import MessageStats  # noqa: E402
from ros_ik.servo import StatusCode  # noqa: E402
from ros_ik.settings import read_settings  # noqa: E402

OK, STALE, STOPPED = StatusCode.OK, StatusCode.COMMAND_STALE, StatusCode.STOPPED


class Rig:
    """A reporter of a loop without a thread, and the lines and snapshots that it makes."""

    def __init__(self):
        self.names = [('ros_ik', '/left')]
        self.now, self.lines, self.snapshots, self.published = 100.0, [], [], []
        logger = SimpleNamespace(
            info=lambda text: self.lines.append(('info', text)),
            warning=lambda text: self.lines.append(('warning', text)),
        )
        self.timer = SimpleNamespace(timer_period_ns=0)
        node = SimpleNamespace(
            get_name=lambda: 'ros_ik',
            get_namespace=lambda: '/left',
            get_node_names_and_namespaces=lambda: self.names,
            get_fully_qualified_name=lambda: '/left/ros_ik',
            get_logger=lambda: logger,
            create_publisher=lambda *_: SimpleNamespace(publish=self.published.append),
            create_timer=self._create_timer,
            get_clock=lambda: SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: None)),
        )
        self.faults, self.stats = TickFaults(), MessageStats(node)
        self.box = dict.fromkeys(('controlled', 'command'))
        inbox = SimpleNamespace(
            controlled=SimpleNamespace(get=lambda: self.box['controlled']),
            command=SimpleNamespace(get=lambda: self.box['command']),
        )
        self.box['controlled'] = 'a servo'
        self.loop = SimpleNamespace(
            output=None, faults=self.faults, inbox=inbox, statistics='statistics',
            tick_gap=SimpleNamespace(wait=lambda: None), now=lambda: 7.0,
        )  # fmt: skip
        self.say(OK, '')
        self.reporter = Reporter(node, self.settings(), self.loop, self.stats)

    def _create_timer(self, period, callback, clock):
        self.timer.timer_period_ns, self.due = int(1e9 * period), callback
        return self.timer

    @staticmethod
    def settings(**values):
        return read_settings({'ee.frame': 'x', **values})

    def say(self, code, text):
        """Set the status of the last tick."""
        self.loop.output = SimpleNamespace(code=code, text=text)

    def log(self, *expected, later=0.0):
        """Log after a time; expect these lines."""
        self.now += later
        self.lines.clear()
        self.reporter.log()
        assert self.lines == [*expected]


@pytest.fixture
def rig(monkeypatch):
    rig = Rig()
    clock = SimpleNamespace(monotonic=lambda: rig.now)
    monkeypatch.setattr(reporter_module, 'time', clock)
    monkeypatch.setattr(
        reporter_module, 'diagnostics',
        lambda snapshot: rig.snapshots.append(snapshot) or SimpleNamespace(
            header=SimpleNamespace(stamp=None)
        ),
    )  # fmt: skip
    rig.reporter._counted_at = rig.now
    return rig


def test_a_status_is_logged_when_it_changes_with_its_code_if_it_is_a_fault(rig):
    rig.log()
    rig.say(OK, 'tracking')
    rig.log(('info', 'tracking'))
    rig.log(later=60.0)
    rig.say(STALE, 'the last target is old')
    rig.log(('warning', 'COMMAND_STALE: the last target is old'))
    rig.log()
    rig.say(OK, 'tracking')
    rig.log(('info', 'tracking'))


def test_texts_of_a_code_that_change_in_every_tick_are_logged_every_two_seconds(rig):
    told = 0
    for tick in range(61):
        rig.say(STALE, f'{tick} ms')
        due = [('warning', f'COMMAND_STALE: {tick} ms')] * (tick % 20 == 0)
        rig.log(*due, later=0.1 + 1e-6)
        told += len(due)
    assert told == 4
    # Another code does not wait.
    rig.say(STOPPED, 'stopped')
    rig.log(('warning', 'STOPPED: stopped'))


def test_a_status_held_back_is_logged_once_it_may_be(rig):
    for text in ('one', 'two'):
        rig.say(STALE, text)
        rig.log(*[('warning', 'COMMAND_STALE: one')] * (text == 'one'))
    rig.log(later=1.9)
    rig.log(('warning', 'COMMAND_STALE: two'), later=0.2)


def test_each_error_of_a_tick_is_logged_at_once_and_once(rig):
    rig.say(StatusCode.SOLVER_FAILED, 'the status')
    for number in range(3):
        rig.faults.note_tick('servo', 'cpu', ValueError(number))
        rig.log(('warning', f'SOLVER_FAILED: a tick failed on cpu: ValueError: {number}'))


def test_the_status_is_logged_after_an_error_of_several_ticks(rig):
    for attempt in range(2):
        for poll in range(3):
            rig.faults.note_tick('servo', 'cpu', ValueError('lost'))
            rig.say(StatusCode.SOLVER_FAILED, rig.faults.latest.text)
            line = ('warning', 'SOLVER_FAILED: a tick failed on cpu: ValueError: lost')
            rig.log(*[line] * (poll == 0), later=0.05)
        rig.say(OK, 'tracking')
        rig.log(('info', 'tracking'), later=2.0)
        rig.say(STALE, f'old after attempt {attempt}')
        rig.log(('warning', f'COMMAND_STALE: old after attempt {attempt}'), later=2.0)


def test_an_error_before_a_tick_that_succeeded_is_a_warning(rig):
    rig.say(OK, 'tracking')
    rig.log(('info', 'tracking'))
    rig.faults.note_tick('servo', 'cpu', ValueError('once'))
    rig.faults.note_success()
    rig.log(('warning', 'SOLVER_FAILED: a tick failed on cpu: ValueError: once'), later=0.05)
    rig.log(('info', 'tracking'), later=2.0)


def test_an_error_that_comes_while_one_is_logged_is_logged_next(rig):
    logger = rig.reporter._node.get_logger()
    warning = logger.warning

    def warn(text):
        warning(text)
        logger.warning = warning
        rig.faults.note_tick('servo', 'cpu', ValueError('second'))

    logger.warning = warn
    rig.say(StatusCode.SOLVER_FAILED, 'the status')
    rig.faults.note_tick('servo', 'cpu', ValueError('first'))
    rig.log(('warning', 'SOLVER_FAILED: a tick failed on cpu: ValueError: first'))
    rig.log(('warning', 'SOLVER_FAILED: a tick failed on cpu: ValueError: second'), later=0.05)


def test_without_a_servo_only_errors_are_logged(rig):
    rig.box['controlled'] = None
    rig.say(StatusCode.WAITING_FOR_MODEL, 'waiting')
    rig.log()
    for code in (StatusCode.WAITING_FOR_MODEL, StatusCode.INVALID):
        rig.say(code, 'waiting')
        rig.faults.note_reading(KeyError(code.value))
        rig.log(('warning', f'{code.name}: reading a topic failed: KeyError: {code.value}'))


def test_the_period_of_diagnostics_is_applied(rig):
    assert rig.timer.timer_period_ns == 1_000_000_000
    rig.reporter.apply(rig.settings(diagnostics_period=0.25))
    assert rig.timer.timer_period_ns == 250_000_000


def test_rates_are_those_since_the_last_message(rig):
    for count, seconds in ((10, 1.0), (30, 2.0), (0, 1.0)):
        for _ in range(count):
            rig.stats.accepted('joint_states')
        rig.now += seconds
        rig.due()
        assert rig.snapshots[-1].rates == {'joint_states': pytest.approx(count / seconds)}
    assert len(rig.published) == 3


def test_diagnostics_tell_of_drops_and_faults(rig):
    rig.say(OK, 'tracking')
    rig.reporter.problem = 'there is no such joint'
    # The clock of the counters is not the one that this test moves.
    rig.stats.add('target_pose', Drop.TF_UNAVAILABLE, lambda: "no frame 'moon'", frame='moon')
    rig.due()
    (snapshot,) = rig.snapshots
    assert snapshot.code is StatusCode.TF_UNAVAILABLE and "'moon'" in snapshot.text
    assert snapshot.dropped == {'tf_unavailable': 1}
    assert snapshot.notice == 'there is no such joint'
    assert (snapshot.node_name, snapshot.hardware_id) == ('ros_ik', '/left/ros_ik')
    assert (snapshot.controlled, snapshot.statistics, snapshot.now) == (
        'a servo', 'statistics', 7.0,
    )  # fmt: skip


def test_drops_that_come_while_a_message_is_made_do_not_change_it(rig):
    """Other threads count them, and a dictionary that grows while it is read raises an error."""
    rig.stats.add('target_pose', Drop.TOO_OLD, lambda: 'old')
    rig.due()
    rig.stats.add('target_pose', Drop.TOO_LARGE, lambda: 'large')
    (snapshot,) = rig.snapshots
    assert snapshot.dropped == {'too_old': 1}


def test_diagnostics_tell_of_other_nodes_of_the_name(rig):
    rig.names.append(('ros_ik', '/left'))
    for _ in range(2):
        rig.due()
        rig.now += 31.0
    first, second = (snapshot.same_name for snapshot in rig.snapshots)
    assert first == '' and second.startswith('2 nodes are called /left/ros_ik')
    assert rig.lines == [('warning', second)]

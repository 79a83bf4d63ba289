# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The thread that builds servos: for what the robot has to rest, and for how long."""

import itertools
import re
import threading
import time

import pytest
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf

from ros_ik.errors import ModelError
from ros_ik.node.model_loading import model_builder
from ros_ik.node.model_loading.model_builder import Job
from ros_ik.node.model_loading.model_builder import ModelBuilder
from ros_ik.settings import read_settings

# A robot may brake for as long as 20 s with low accelerations, and a paused simulation any time.
HOUR = 3600.0


@pytest.fixture
def builder(monkeypatch):
    """Return a builder on a clock of its own, on which it waits for an hour between two looks."""

    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

        def sleep(self, _):
            self.now += HOUR

    monkeypatch.setattr(model_builder, 'time', Clock())
    builder = ModelBuilder(None)
    yield builder
    assert builder.end(LONG)


def job(is_resting, request_rest=lambda: None, urdf=None, **given):
    """Return a job for the Panda."""
    settings = read_settings({'ee.frame': 'panda_hand_tcp', **given})
    return Job(urdf or panda_urdf(), '', settings, request_rest, is_resting)


def test_it_waits_for_rest_as_long_as_that_takes(builder):
    looks = itertools.count()
    builder.start(job(lambda: next(looks) == 20))
    built = builder.collect(LONG)
    assert built.servo is not None, built.error


def test_it_waits_no_longer_once_there_is_a_newer_description(builder):
    waiting = job(lambda: False, lambda: builder.start(job(lambda: True)))
    builder.start(waiting)
    first, second = builder.collect(LONG), builder.collect(LONG)
    assert first.job is waiting and 'superseded' in first.error
    assert second.servo is not None and not builder.busy


class Parser:
    """Reads robot descriptions once it may, and records them."""

    def __init__(self, monkeypatch):
        self.read, self._may = [], threading.Event()
        self._began = threading.Event()
        monkeypatch.setattr(model_builder.Model, 'from_urdf', self._from_urdf)

    def _from_urdf(self, text, *_, **__):
        self.read.append(text)
        self._began.set()
        assert self._may.wait(LONG)
        raise ModelError('text', 'is not read here')

    def wait(self):
        """Wait for the first description."""
        assert self._began.wait(LONG)

    def go_on(self):
        """Let the parser end."""
        self._may.set()


def test_of_the_descriptions_that_come_during_a_build_only_the_newest_is_read(
    builder, monkeypatch
):
    parser = Parser(monkeypatch)
    builder.start(job(lambda: True, urdf='first'))
    parser.wait()
    # As from two publishers in turn.
    for count in range(1000):
        builder.start(job(lambda: True, urdf=f'{count % 2} of {count}'))
    parser.go_on()
    while builder.busy:
        built = builder.collect(LONG)
    assert built.job.urdf == '1 of 999'
    assert parser.read == ['first', '1 of 999']


def test_of_the_results_of_a_burst_only_the_newest_is_collected(builder, monkeypatch):
    parser = Parser(monkeypatch)
    parser.go_on()
    for count in range(50):
        builder.start(job(lambda: True, urdf=str(count)))
        while len(parser.read) <= count:
            time.sleep(1e-3)
    # All but the last one have their results.
    assert int(builder.collect(LONG).job.urdf) >= 48
    while builder.busy:
        builder.collect(LONG)
    assert builder.collect() is None


def test_no_servo_is_built_of_a_description_that_is_no_longer_the_newest(builder, monkeypatch):
    servos = []
    monkeypatch.setattr(model_builder, 'Servo', lambda *_: servos.append(None))
    read, reads = model_builder.Model.from_urdf, []

    def read_slowly(*args, **options):
        if not reads:
            builder.start(job(lambda: True, urdf='no robot'))
        reads.append(args)
        return read(*args, **options)

    monkeypatch.setattr(model_builder.Model, 'from_urdf', read_slowly)
    builder.start(job(lambda: True))
    while builder.busy:
        built = builder.collect(LONG)
    assert built.job.urdf == 'no robot' and len(reads) == 2 and not servos


def test_its_end_reads_no_description_that_waits(builder, monkeypatch):
    parser = Parser(monkeypatch)
    builder.start(job(lambda: True, urdf='first'))
    parser.wait()
    builder.start(job(lambda: True, urdf='second'))
    assert not builder.end(0.0)
    parser.go_on()
    assert builder.end(LONG) and parser.read == ['first']


def test_its_end_does_not_wait_for_rest(builder):
    builder.start(job(lambda: False))
    assert builder.end(LONG)


@pytest.mark.parametrize(
    ('given', 'masses', 'text'),
    [
        ({'ee.frame': 'elbow'}, True, "'ee.frame'.*'elbow'"),
        ({'barriers.position.a.frame': 'elbow'}, True, "'barriers.position.a.frame'.*'elbow'"),
        ({'collision.ignore_pairs': ['panda_hand:elbow']}, True, "ignore_pairs.*'elbow'"),
        ({'posture.positions': [0.0]}, True, "'posture.positions'.*7"),
        ({'com.weight': 1.0}, False, "'com.weight'.*mass"),
    ],
)
def test_a_description_that_does_not_fit_stops_no_robot(builder, given, masses, text):
    stops = []
    urdf = panda_urdf()
    if not masses:
        urdf = re.sub(r'<inertial>.*?</inertial>', '', urdf, flags=re.DOTALL)
    face = {'barriers.position.a.min': [0.0] * 3} if 'barriers.position.a.frame' in given else {}
    builder.start(job(lambda: False, lambda: stops.append(True), urdf, **given, **face))
    built = builder.collect(LONG)
    assert built is not None and built.servo is None and re.search(text, built.error), built
    assert not stops

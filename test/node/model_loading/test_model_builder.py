# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The thread that builds servos: for what the robot has to rest, and for how long."""

import itertools
import re

import pytest
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf

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

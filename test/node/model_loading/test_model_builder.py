# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The thread that builds servos: its wait for the robot to rest."""

import itertools

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


def job(is_resting, request_rest=lambda: None):
    """Return a job for the Panda."""
    settings = read_settings({'ee.frame': 'panda_hand_tcp'})
    return Job(panda_urdf(), '', settings, request_rest, is_resting)


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

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Descriptions as the node receives them: real latched messages over DDS."""

import contextlib
import time
from types import SimpleNamespace

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from std_msgs.msg import String
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import PATIENCE

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.model_loading.model_source import ModelSource
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_events import PolledEventsMixin
from ros_ik.settings import read_settings

pytestmark = pytest.mark.dds


class _ListenerNode(PolledEventsMixin, Node):
    pass


GOOD = (
    '<robot name="r"><link name="base"/><link name="tool"/><joint name="j" type="revolute">'
    '<parent link="base"/><child link="tool"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
)
BAD = 'no robot'


@contextlib.contextmanager
def listening():
    """Yield a source of models, whose node publishes descriptions to itself."""
    with reserved_domain() as domain:
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        node = _ListenerNode('listener', context=context)
        settings = read_settings({'ee.frame': 'tool'})
        rig = SimpleNamespace(rests=True, node=node, executor=make_executor(context))
        rig.publisher = node.create_publisher(String, 'robot_description', LATCHED)
        rig.source = ModelSource(
            node, lambda: settings, lambda: True, lambda servo: '', lambda: rig.rests,
            lambda text: None, MessageStats(node),
        )  # fmt: skip
        try:
            yield rig
        finally:
            rig.source.end(PATIENCE)
            rig.executor.shutdown()
            node.destroy_node()
            rclpy.try_shutdown(context=context)


def spin_until(rig, condition):
    """Spin until a condition holds."""
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up
        rig.executor.spin_once(timeout_sec=0.01)


def results(rig, texts):
    """Publish descriptions, each once the last one has arrived; return what they come to.

    The robot rests after that. As in the node, models are accepted, and a former description
    follows one without a model.
    """
    source = rig.source
    for text in texts:
        rig.publisher.publish(String(data=text))
        spin_until(rig, lambda text=text: source._history.newest.urdf == text)
    rig.rests = True
    found = []
    while source.builder.busy:
        built = source.wait(PATIENCE)
        assert built is not None
        found.append(built)
        if built.servo is None:
            source.begin_former()
        else:
            source.accept(built)
    return [(built.job.urdf, built.servo is not None) for built in found]


def test_a_latched_description_that_was_lost_comes_with_another_subscription():
    with listening() as rig:
        rig.publisher.publish(String(data='<robot'))
        give_up = time.monotonic() + PATIENCE
        lost = None
        while lost is None and time.monotonic() < give_up:
            for subscription in rig.node.subscriptions:
                if subscription.topic_name == '/robot_description':
                    with subscription.handle:
                        lost = subscription.handle.take_message(String, True)
        assert lost is not None
        rig.executor.add_node(rig.node)
        for _ in range(50):
            rig.executor.spin_once(timeout_sec=0.01)
        assert not rig.source.has_description
        rig.source.listen_again()
        spin_until(rig, lambda: rig.source.has_description)


def test_a_description_that_was_not_tried_follows_one_without_a_model():
    with listening() as rig:
        rig.executor.add_node(rig.node)
        rig.rests = False
        assert results(rig, [GOOD, BAD]) == [(BAD, False), (GOOD, True)]


def test_a_model_that_waits_is_built_again_after_a_description_without_one():
    with listening() as rig:
        rig.executor.add_node(rig.node)
        assert results(rig, [GOOD]) == [(GOOD, True)]
        # As after a cleanup.
        rig.source.begin()
        rig.source.accept(rig.source.wait(PATIENCE), waits=True)
        assert results(rig, [BAD]) == [(BAD, False), (GOOD, True)]
        # The newest one is tried first: parameters may have changed.
        rig.source.begin()
        assert results(rig, []) == [(BAD, False), (GOOD, True)]


def test_a_robot_that_moves_is_not_stopped_to_build_the_model_that_it_has():
    with listening() as rig:
        rig.executor.add_node(rig.node)
        assert results(rig, [GOOD]) == [(GOOD, True)]
        assert results(rig, [BAD]) == [(BAD, False)]


def test_a_malformed_srdf_refuses_later_descriptions_until_a_good_or_an_empty_one_comes():
    """A description is the newest URDF with the newest SRDF, and the reason names the SRDF."""
    with listening() as rig:
        rig.executor.add_node(rig.node)
        semantic = rig.node.create_publisher(String, 'robot_description_semantic', LATCHED)
        source = rig.source
        assert results(rig, [GOOD]) == [(GOOD, True)]
        source.release()  # the node runs it
        for srdf in ('<robot', '<robot name="r"><enable_collisions link1="base"/></robot>'):
            semantic.publish(String(data=srdf))
            spin_until(rig, lambda srdf=srdf: source._history.newest.srdf == srdf)
            assert results(rig, []) == [(GOOD, False)]
            assert 'SRDF' in source.error or 'enable_collisions' in source.error
            changed = f'{GOOD}<!-- {len(srdf)} -->'
            assert results(rig, [changed]) == [(changed, False)]
            assert results(rig, [GOOD]) == [(GOOD, False)]
        semantic.publish(String(data=''))
        spin_until(rig, lambda: not source._history.newest.srdf)
        assert results(rig, []) == [(GOOD, True)]
        assert results(rig, [GOOD + '\n']) == [(GOOD + '\n', True)]


class _AskedMeanwhile(ModelSource):
    """A source whose builder requests rest just after the executor has looked."""

    def __init__(self):
        self._requested, self._to_request = False, [self._request_rest]

    @property
    def _rest_requested(self):
        before = self._requested
        while self._to_request:
            self._to_request.pop()()
        return before

    @_rest_requested.setter
    def _rest_requested(self, value):
        self._requested = value


def test_a_request_for_rest_just_after_a_look_is_not_lost():
    source = _AskedMeanwhile()
    assert [source.rest_requested() for _ in range(3)] == [False, True, False]

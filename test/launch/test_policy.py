# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The SROS 2 policy as sros2 itself reads it, where that is installed."""

import pytest

from tools.interface_documents import POLICY_FILE

pytest.importorskip('lxml', reason='sros2 reads policies with lxml')
policy = pytest.importorskip('sros2.policy', reason='sros2 comes with a ROS install')


@pytest.fixture(scope='module')
def permissions():
    """Return {(publish or subscribe): topics of DDS} that sros2 makes of the policy."""
    from lxml import etree

    # Validates it against the schema too.
    tree = policy.load_policy(POLICY_FILE)
    template = etree.parse(str(policy.get_transport_template('dds', 'permissions.xsl')))
    granted = etree.XSLT(template)(tree)
    schema = etree.parse(str(policy.get_transport_schema('dds', 'permissions.xsd')))
    etree.XMLSchema(schema).assertValid(granted)
    return {
        kind: {topic.text for topic in granted.iterfind(f'.//allow_rule/{kind}/topics/topic')}
        for kind in ('publish', 'subscribe')
    }


def test_topics_are_those_of_the_node(permissions):
    assert 'rt/ros_ik/joint_trajectory' in permissions['publish']
    assert 'rt/joint_states' in permissions['subscribe']
    assert 'rt/ros_ik/*/target_pose' in permissions['subscribe']


def test_the_other_process_answers_below_the_name_of_the_node(permissions):
    assert 'rr/ros_ik/solve_ikReply' in permissions['publish']
    assert 'rq/ros_ik/solve_ikRequest' in permissions['subscribe']


def test_no_service_or_action_may_be_called(permissions):
    """The policy grants no right to call services or actions: no requests, no replies."""
    assert not [topic for topic in permissions['publish'] if topic.startswith('rq/')]
    assert not [topic for topic in permissions['subscribe'] if topic.startswith('rr/')]

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions while the node runs: bad ones change nothing, good ones are loaded."""

import itertools
import re

from lifecycle_msgs.msg import Transition
import pytest
from std_msgs.msg import String
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

BAD = {
    'no XML': 'this is not a robot',
    'empty': '<robot name="x"></robot>',
    'entity expansion': '<!DOCTYPE r [<!ENTITY a "aaaa">]><robot name="&a;"><link '
    'name="a"/></robot>',
    'missing link': '<robot name="x"><link name="a"/><joint name="j" type="fixed"><parent '
    'link="a"/>'
    '<child link="b"/></joint></robot>',
    'without the frame': '<robot name="x"><link name="a"/><link name="b"/><joint name="j" '
    'type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>',
    'zero axis': None,
}


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('description')) as client:
        start_node(client, **NEVER_STALE)
        start_robot(client)
        client.wait_for_code(IkStatus.WAITING_FOR_MODEL)
        yield client


def test_a_bad_first_description_is_refused_with_its_reason(client):
    client.describe(BAD['missing link'])
    status = client.wait_for_code(IkStatus.INVALID, text="'b'")
    assert status.model_generation == 0
    client.describe(panda_urdf())
    client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
    assert client.status.model_generation == 1


def count_of(client, words):
    """Return the number of lines with some words in the node's log."""
    return client.processes.text('node').count(words)


REFUSED = 'robot description refused'


@pytest.mark.parametrize('kind', BAD)
def test_a_bad_description_keeps_the_model_and_says_why(client, kind):
    text = BAD[kind] or re.sub(r'<axis xyz="[^"]*"', '<axis xyz="0 0 0"', panda_urdf(), count=1)
    before = count_of(client, REFUSED)
    client.describe(text)
    # The status may still be about the previous one.
    client.wait_for(lambda: count_of(client, REFUSED) == before + 1, 'a refusal in the log')
    status = client.wait_for_code(IkStatus.OK, text=REFUSED)
    assert status.model_generation == 1
    target = client.moved_pose((0.0, 0.02, 0.0))
    client.stream('pose', target)
    client.wait_for_arrival()
    client.stream('pose', None)


@pytest.mark.parametrize('topic', ['robot_description', 'robot_description_semantic'])
def test_a_description_too_large_to_be_one_is_dropped_unread(client, topic):
    publisher = client.node.create_publisher(String, topic, LATCHED)
    client.wait_for(lambda: publisher.get_subscription_count() > 0, 'the node')
    before, generation = client.dropped().get('too_large', 0), client.status.model_generation
    line = f'dropped a message on {topic}: too_large'
    client.statuses.clear()
    publisher.publish(String(data=panda_urdf() + ' ' * 2**24))
    client.wait_for(lambda: client.dropped().get('too_large', 0) == before + 1, 'a counted drop')
    # The text stays for a second, which may be over when the count is seen.
    client.wait_for(lambda: any(line in status.text for status in client.statuses), 'its reason')
    # The status may be quicker than the log.
    client.wait_for(lambda: line in client.processes.text('node'), 'a line in the log')
    client.stream('pose', client.moved_pose((0.0, -0.02, 0.0)))
    client.wait_for_arrival()
    client.stream('pose', None)
    assert client.status.model_generation == generation
    client.node.destroy_publisher(publisher)


def test_the_same_description_again_changes_nothing(client):
    client.describe(panda_urdf() + '\n')
    client.wait_for(lambda: client.status.model_generation == 2, 'a second model', timeout=LONG)
    client.describe(panda_urdf() + '\n')
    client.wait_for_ticks(50)
    assert client.status.model_generation == 2
    assert 'refused' not in client.status.text


def test_empty_and_bad_descriptions_keep_the_model_after_a_cleanup_too(client):
    before, generation = client.dropped().get('unreadable', 0), client.status.model_generation
    client.describe('')
    client.wait_for(lambda: client.dropped().get('unreadable', 0) == before + 1, 'a counted drop')
    line = 'dropped a message on robot_description: unreadable: it is empty'
    # The status may be quicker than the log.
    client.wait_for(lambda: line in client.processes.text('node'), 'a line in the log')
    assert client.status.model_generation == generation
    refused = count_of(client, REFUSED)
    client.describe(BAD['missing link'])
    client.wait_for(lambda: count_of(client, REFUSED) == refused + 1, 'a refusal in the log')
    assert client.transition(Transition.TRANSITION_DEACTIVATE)
    assert client.transition(Transition.TRANSITION_CLEANUP)
    # The newest description is tried again, then the last one that gave a model.
    client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
    assert client.transition(Transition.TRANSITION_CONFIGURE)
    assert client.transition(Transition.TRANSITION_ACTIVATE)
    client.wait_for_text('waiting for a target')


def test_a_good_description_is_loaded_in_motion(client):
    client.stream('pose', client.moved_pose((0.0, 0.2, 0.0)))
    client.wait_for_code(IkStatus.OK, text='tracking')
    generation = client.status.model_generation
    client.sent.clear()
    client.describe(panda_urdf() + '\n\n')
    client.wait_for(lambda: client.status.model_generation == generation + 1, 'a new model', LONG)
    client.wait_for_code(IkStatus.OK, text='tracking')
    client.wait_for_arrival()
    points = [(message.points[0].positions, number) for _, message, number in client.sent]
    # The mean across lost ones.
    jumps = [
        max(abs(b - a) for a, b in zip(p, q, strict=True)) / (number - before)
        for (p, before), (q, number) in itertools.pairwise(points)
    ]
    assert max(jumps) < 0.03
    client.stream('pose', None)
    client.assert_trajectories_are_accepted()


def test_ignore_and_deactivate_are_honoured(client):
    generation = client.status.model_generation
    assert client.set(on_description_change='ignore')['on_description_change'].successful
    ignored = 'ignored a new robot description'
    before = count_of(client, ignored)
    client.describe(panda_urdf() + '\n\n\n')
    client.wait_for(lambda: count_of(client, ignored) == before + 1, 'a line in the log')
    client.wait_for_ticks(20)
    assert client.status.model_generation == generation
    assert client.set(on_description_change='deactivate')['on_description_change'].successful
    client.describe(panda_urdf() + '\n\n\n\n')
    client.wait_for(lambda: client.status.model_generation == generation + 1, 'a new model', LONG)
    client.wait_for(lambda: client.state() == 'inactive', 'the inactive state')
    assert client.transition(3)
    client.wait_for_code(IkStatus.OK, text='waiting for a target')


@pytest.mark.parametrize('kind', ['no XML', 'without the frame'])
def test_deactivate_leaves_it_active_with_the_old_model_after_a_bad_description(client, kind):
    assert client.set(on_description_change='deactivate')['on_description_change'].successful
    generation, before = client.status.model_generation, count_of(client, REFUSED)
    client.describe(BAD[kind])
    client.wait_for(lambda: count_of(client, REFUSED) == before + 1, 'a refusal in the log')
    client.wait_for_ticks(20)
    assert client.state() == 'active'
    assert client.status.model_generation == generation


def test_other_joints_lead_to_inactive(client):
    assert client.set(on_description_change='hold_and_swap')['on_description_change'].successful
    generation = client.status.model_generation
    client.describe(panda_urdf().replace('panda_joint3', 'panda_elbow'))
    client.wait_for(lambda: client.status.model_generation == generation + 1, 'a new model', LONG)
    client.wait_for(lambda: client.state() == 'inactive', 'the inactive state')
    assert client.processes.is_alive('node')

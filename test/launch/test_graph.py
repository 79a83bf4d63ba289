# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""docs/interface.yaml and the SROS 2 policy against the graph of a running node."""

import fnmatch
import importlib.util
from xml.etree import ElementTree

import pytest
from rclpy.action import get_action_server_names_and_types_by_node
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot

from ros_ik_interfaces.msg import IkStatus
from tools.interface_documents import load_table
from tools.interface_documents import POLICY_FILE

pytestmark = pytest.mark.dds
TABLE = load_table()
NODES = {'node': '/ros_ik', 'planning': '/ros_ik_planning'}
ACTION = '/_action/'


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    """Yield a node at work, with its process for planners, seen by a client."""
    with ros_rig(tmp_path_factory.mktemp('rig'), planners=True) as client:
        # Topics that need a package and a parameter exist too.
        bond = {'bond_heartbeat_period': 0.1} if importlib.util.find_spec('bond') else {}
        start_node(client, **bond)
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, timeout=LONG)
        names = {(name[1:], '/') for name in NODES.values()}
        client.wait_for(
            lambda: names <= {*client.node.get_node_names_and_namespaces()}, 'both by name', 80.0
        )
        yield client


def expected(section, process, always=False):
    """Return {name: type} of the entries of the table for one process on this machine.

    With ``always`` they are those that exist before the node is configured.
    """
    entries = [
        entry
        for entry in TABLE[section]
        if entry.get('process', 'node') == process
        and (not always or entry.get('while') == 'always')
        and ('needs' not in entry or importlib.util.find_spec(entry['needs']))
    ]
    return {resolved(entry['name']): entry['type'] for entry in entries}


def resolved(name, node='/ros_ik'):
    """Return the full name of a name in the table, for a node with one task, ee."""
    name = name.replace('<task>', 'ee')
    return name if name.startswith('/') else f'{node}{name[1:]}' if name[0] == '~' else f'/{name}'


def standard(section, process):
    """Return the names that rclpy makes; /clock is there under use_sim_time only."""
    names = TABLE['standard'][process].get(section, ())
    return {resolved(name, NODES[process]) for name in names} - {'/clock'}


def found(client, section, process):
    """Return {name: type} of the endpoints of one process on the graph."""
    node, name = client.node, NODES[process][1:]
    listed = {
        'subscriptions': node.get_subscriber_names_and_types_by_node,
        'publishers': node.get_publisher_names_and_types_by_node,
        'services': node.get_service_names_and_types_by_node,
        'actions': lambda *of: get_action_server_names_and_types_by_node(node, *of),
    }[section](name, '/')
    return {name: types[0] for name, types in listed if ACTION not in name}


@pytest.mark.parametrize('section', ('subscriptions', 'publishers', 'services', 'actions'))
@pytest.mark.parametrize('process', NODES)
def test_the_graph_is_that_of_the_table(rig, section, process):
    wanted, others = expected(section, process), standard(section, process)

    def seen():
        names = found(rig, section, process)
        return {name: kind for name, kind in names.items() if name not in others}, set(names)

    try:
        rig.wait_for(lambda: seen() == (wanted, {*wanted, *others}), 'such a graph')
    except AssertionError:
        pass
    named, everything = seen()
    assert named == wanted
    assert everything == {*wanted, *others}


@pytest.mark.parametrize('section', ('subscriptions', 'publishers'))
def test_the_qos_is_that_of_the_table(rig, section):
    info = {
        'subscriptions': rig.node.get_subscriptions_info_by_topic,
        'publishers': rig.node.get_publishers_info_by_topic,
    }[section]
    entries = {resolved(entry['name']): TABLE['qos'][entry['qos']] for entry in TABLE[section]}
    for name in expected(section, 'node'):
        durabilities = entries[name]['durability'].split(' or ')

        def ends(name=name):
            return [end for end in info(name) if end.node_name == 'ros_ik']

        # The node of an endpoint may be discovered later than the endpoint.
        for count in range(len(durabilities)):
            rig.wait_for(lambda ends=ends, count=count: len(ends()) > count, f'the end of {name}')
        profiles = [end.qos_profile for end in ends()]
        # The depth does not travel.
        assert {words(p.reliability) for p in profiles} == {entries[name]['reliability']}, name
        assert sorted(words(p.durability) for p in profiles) == durabilities, name


def words(policy):
    return policy.name.lower().replace('_', ' ')


def permitted(process):
    """Return {(element, attribute): [full name or pattern]} of the policy for one process."""
    profiles = ElementTree.parse(POLICY_FILE).iterfind('enclaves/enclave/profiles/profile')
    (profile,) = (p for p in profiles if p.get('node') == NODES[process][1:])
    rules = {}
    for group in profile:
        (attribute,) = group.attrib
        assert group.get(attribute) == 'ALLOW'
        rules[attribute] = [resolved(entry.text, NODES[process]) for entry in group]
    return rules


@pytest.mark.parametrize('process', NODES)
def test_the_policy_permits_what_is_there_and_nothing_else(rig, process):
    rules = permitted(process)
    for attribute, section in (
        ('subscribe', 'subscriptions'),
        ('publish', 'publishers'),
        ('reply', 'services'),
        ('execute', 'actions'),
    ):
        patterns = rules.pop(attribute, [])
        wanted = expected(section, process).keys() | standard(section, process)
        rig.wait_for(
            lambda s=section, wanted=wanted: wanted <= found(rig, s, process).keys(), 'the graph'
        )
        names = found(rig, section, process)
        for name in names:
            assert any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns), name
        missing = {
            resolved(entry['name'])
            for entry in TABLE[section]
            if 'needs' in entry and not importlib.util.find_spec(entry['needs'])
        } | {'/clock'}
        for pattern in patterns:
            assert fnmatch.filter(names, pattern) or pattern in missing, pattern
    assert rules == {}


def test_a_node_that_is_not_configured_has_what_the_table_says(tmp_path):
    sections = 'subscriptions', 'publishers', 'services', 'actions'
    wanted = {
        section: {*expected(section, 'node', always=True), *standard(section, 'node')}
        for section in sections
    }
    with ros_rig(tmp_path) as client:
        start_node(client, autostart=False)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)

        def seen():
            return {section: {*found(client, section, 'node')} for section in sections}

        try:
            client.wait_for(lambda: seen() == wanted, 'such a graph')
        except AssertionError:
            pass
        assert seen() == wanted
        assert resolved('~/move_to_pose') in wanted['actions']

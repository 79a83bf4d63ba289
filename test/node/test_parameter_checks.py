# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Declaration and changes of the parameters of a node."""

import math
import sys

import pytest

rclpy = pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from rclpy.parameter import Parameter as RosParameter  # noqa: E402
from support.processes.ros_processes import reserved_domain  # noqa: E402

from ros_ik.node.parameters import descriptor  # noqa: E402
from ros_ik.node.parameters import NodeParameters  # noqa: E402
from ros_ik.settings import SCHEMA  # noqa: E402

FRAME = {'ee.frame': 'hand'}


class StartedNode:
    """A node with the parameters of the IK node, and the reason why the robot refuses them."""

    def __init__(self, context, **overrides):
        given = {**FRAME, **overrides}
        self.refusal = ''
        self._node = rclpy.create_node(
            'parameters',
            context=context,
            parameter_overrides=[RosParameter(name, value=given[name]) for name in given],
            start_parameter_services=False,
            enable_rosout=False,
        )
        self.parameters = NodeParameters(self._node, lambda settings: self.refusal)

    def declared(self):
        """Return the declared values by name."""
        parameters = self._node.get_parameters_by_prefix('')
        return {name: parameter.value for name, parameter in parameters.items()}

    def set(self, *values):
        """Set parameters at once, (name, value); return the reason of a refusal, or ''."""
        result = self._node.set_parameters_atomically(
            [RosParameter(name, value=value) for name, value in values]
        )
        assert result.successful == (result.reason == '')
        return result.reason


@pytest.fixture(scope='module')
def start():
    """Return a function that starts a node with some parameters."""
    context = rclpy.Context()
    with reserved_domain() as domain:
        rclpy.init(context=context, domain_id=domain)
        started = []

        def start_one(**overrides):
            started.append(StartedNode(context, **overrides))
            return started[-1]

        yield start_one
        for node in started:
            node._node.destroy_node()
        rclpy.shutdown(context=context)


@pytest.mark.parametrize('entry', SCHEMA, ids=lambda entry: entry.name)
def test_a_description_has_the_type_and_the_range_of_the_schema(entry):
    message = descriptor(entry)
    assert message.read_only == entry.read_only
    assert message.dynamic_typing == ('|' in entry.type) == (message.type == 0)
    ranges = [*message.integer_range, *message.floating_point_range]
    bounds = entry.minimum, entry.maximum
    assert len(ranges) == (entry.type in ('int', 'double') and bounds != (None, None))
    for found in ranges:
        assert entry.minimum in (None, found.from_value)
        assert entry.maximum in (None, found.to_value)


def test_ranges_without_an_end_go_as_far_as_the_values():
    schema = {entry.name: descriptor(entry) for entry in SCHEMA}
    (weight,) = schema['solver.damping'].floating_point_range
    assert (weight.from_value, weight.to_value) == (0.0, sys.float_info.max)
    (step,) = schema['max_target_step_linear'].floating_point_range
    assert (step.from_value, step.to_value) == (0.0, math.inf)
    offset = schema['<task>.offset_xyz'].additional_constraints
    assert offset == 'unit: m; values: [-100, 100]; entries: 3'


def test_changes_add_up_and_those_that_are_refused_leave_nothing(start):
    node = start()
    assert node.set(('ee.gain', 0.5)) == ''
    node.refusal = 'the robot lacks it'
    assert node.set(('posture.weight', 0.3)) == node.refusal
    node.refusal = ''
    # rclpy knows ranges of numbers itself.
    refused = node.set(('status_rate', 7.0), ('ee.target_prediction', 'wild'))
    assert "'ee.target_prediction'" in refused
    assert node.set(('com.weight', 2.0)) == ''
    settings = node.parameters.settings
    assert (settings.tasks[0].gain, settings.com_weight) == (0.5, 2.0)
    before = start().parameters.settings
    assert settings.posture_weight == before.posture_weight
    assert settings.status_rate == before.status_rate


def test_the_clock_cannot_change(start):
    node = start()
    assert node.set(('use_sim_time', False)) == ''
    reason = node.set(('use_sim_time', False), ('use_sim_time', True))
    assert "'use_sim_time': cannot change" in reason


@pytest.mark.parametrize(
    ('wrong', 'names'),
    [
        ({'ee.gain': 'high', 'control_rate': 5000.0}, ['ee.gain', 'control_rate']),
        ({'output_names': ['a', 'a']}, ['output_names']),
        ({'frame_tasks': ['a', 'a']}, ['frame_tasks']),
        ({'ee.gain': 2.0, 'output_names': ['a', 'a']}, ['ee.gain', 'output_names']),
        ({'rt.cpu': 4095}, ['rt.cpu']),
    ],
    ids=str,
)
def test_wrong_values_of_a_start_are_named_and_have_their_defaults(start, wrong, names):
    node = start(**wrong)
    errors = node.parameters.errors
    assert node.parameters.settings is None
    assert len(errors) == len(names)
    assert all(any(f"'{name}'" in error for error in errors) for name in names)
    # Lists of names and processors are checked together with other things.
    declared = node.declared()
    for name, value in start().declared().items():
        if name not in ('frame_tasks', 'output_names', 'rt.cpu'):
            assert declared[name] == value


def test_unknown_names_of_a_start_are_told_and_no_reason_to_fail(start):
    node = start(**{'ee.gian': 0.5})
    (text,) = node.parameters.unknown
    assert "'ee.gian'" in text and not node.parameters.errors
    assert node.set(('ee.gain', 0.5)) == '' and 'ee.gian' not in node.declared()

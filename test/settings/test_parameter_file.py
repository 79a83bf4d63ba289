# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameter files, compared with what rclpy makes of them."""

import contextlib
import math

import pytest
import rclpy
from rclpy.node import Node
from support.processes.ros_processes import reserved_domain
import yaml

from ros_ik.errors import ArgumentError
from ros_ik.settings.parameter_file import list_text
from ros_ik.settings.parameter_file import parameter_text
from ros_ik.settings.parameter_file import read_parameter_file
from ros_ik.settings.parameter_file import read_parameters

# Values with the spellings of booleans, integers, other numbers, and words that resemble them.
VALUES = (
    'y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF '
    '0 7 -7 +7 010 08 0x1F -0x1f 0o10 1_000 9223372036854775807 9223372036854775808 '
    '1.0 .5 5. +.5 -.5 1e2 1e-3 1E3 1.0e2 -1.5e-3 1e400 1_0.5 '
    '.inf .Inf .INF +.inf -.inf inf -inf Infinity .nan .NAN nan '
    'tRUE yEs none null ~ tool0 2001-01-01 1:30 1.2.3 0x 1e + . '
    "'y' '1' '1.0' '' "
    '"null" "" !!str 1 !!float 1 [] [1, 2] [1.0, 2e-3] [y, no] [a, b] [null, a] ["1", b]'
)


def spellings():
    """Return each value of VALUES."""
    words, found = VALUES.split(' '), []
    while words:
        word = words.pop(0)
        ends = ']' if word.startswith('[') else None
        while (ends and not word.endswith(ends)) or word in ('!!str', '!!float'):
            word = f'{word} {words.pop(0)}'
        found.append(word)
    return found


def file_of(*sections):
    """Return a parameter file of sections, each a name and lines."""
    return ''.join(
        f'{name}:\n  ros__parameters:\n' + ''.join(f'    {line}\n' for line in lines)
        for name, *lines in sections
    )


@contextlib.contextmanager
def context_of(text, path):
    """Yield a context of rclpy that was given a parameter file."""
    file, context = path / 'parameters.yaml', rclpy.Context()
    file.write_text(text)
    with reserved_domain() as domain:
        rclpy.init(
            args=['--ros-args', '--params-file', str(file)], context=context, domain_id=domain
        )
        yield context
        rclpy.shutdown(context=context)


def parameters_of_ros(text, path):
    """Return the parameters that a node of rclpy gets from a file."""
    with context_of(text, path) as context:
        node = Node('ros_ik', context=context, start_parameter_services=False)
        overrides = dict(node._parameter_overrides)
        node.destroy_node()
    return {name: given.value for name, given in overrides.items()}


def comparable(value):
    """Return a value with its type, equal to itself if it is NaN."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return type(value), 'nan' if math.isnan(value) else value
    return [comparable(entry) for entry in value or ()]


@pytest.mark.dds
def test_values_are_those_of_ros(tmp_path):
    given = spellings()
    text = file_of(('/**', *(f'p{k}: {value}' for k, value in enumerate(given))))
    of_ros, found = parameters_of_ros(text, tmp_path), read_parameters(text)
    assert len(given) > 80 and list(found) == [f'p{k}' for k in range(len(given))]
    different = {
        value: (found[f'p{k}'], of_ros[f'p{k}'])
        for k, value in enumerate(given)
        if comparable(found[f'p{k}']) != comparable(of_ros[f'p{k}'])
    }
    assert not different


def strings():
    """Return the values of VALUES as strings without quotes, and some that need quotes in YAML."""
    return [value.strip('\'"') for value in spellings() if not value.startswith(('[', '!'))] + [
        'a: b', '- a', '# a', 'a # b', '&a', '*a', '{', "a'b", 'a"b', 'two words', ' a ', '@', '%',
    ]  # fmt: skip


@pytest.mark.dds
def test_what_is_written_is_read_by_ros(tmp_path):
    """Strings alone, in lists, and as names; a list that two parameters share."""
    words = [word for word in strings() if word]
    values = {f'p{k}': word for k, word in enumerate(['', *words])}
    values |= {'all': words, 'again': words, 'numbers': [1.0, 1e-5, 1e16, math.inf], 'none': []}
    values |= {word: 1 for word in ('y', 'n', '1e3', 'null', '010')}
    text = parameter_text({'/**': values})
    assert read_parameters(text) == values
    read = parameters_of_ros(text, tmp_path)
    assert {name: comparable(read[name]) for name in values if name != 'none'} == {
        name: comparable(value) for name, value in values.items() if name != 'none'
    }


ONE, TWO = ('ros_ik', 'a: 1', 'b: 2'), ('/**', 'a: 3', 'c: {d: 4, "e.f": 5}')


@pytest.mark.dds
@pytest.mark.parametrize(
    'text',
    [
        file_of(ONE, TWO), file_of(TWO, ONE), file_of(('/*', 'a: 1'), ('other', 'a: 2')),
        # The last value counts, also of sections with one name, and names may be nested.
        file_of(('/**', 'a: {b: 1, c: 1}', 'a: {b: 2}', 'y: 3', 'y: 4')),
        '/**:\n  ros_ik:\n    ros__parameters: {on: {off: 1}}\n',
    ],
)  # fmt: skip
def test_names_are_those_of_ros(tmp_path, text):
    assert read_parameters(text) == parameters_of_ros(text, tmp_path)


@pytest.mark.dds
@pytest.mark.parametrize(
    'line',
    [
        'p: [0, 0.1]', 'p: [a, 1]', 'p: [a, on]', "p: [y, 'y']", 'p:', 'p: {q: }',
        'p: &a 1\n    q: *a',
        '? [1, 2]\n    : 3', "'': 3", 'p: {}\n    q: 1', 'p: |-\n\n    q: 1',
        'p: !!str', 'p: {? [1] : 2}',
    ],
)  # fmt: skip
def test_what_ros_cannot_read_is_refused(tmp_path, line):
    text = file_of(('/**', 'before: 1.0', line))
    with pytest.raises(RuntimeError, match='params file'), context_of(text, tmp_path):
        pass
    with pytest.raises(ArgumentError, match='ROS reads'):
        read_parameters(text)


@pytest.mark.dds
@pytest.mark.parametrize('line', ['p: [0, 0.1]', 'p:', 'p: {}\n    q: 1', '? [1]\n    : 2'])
def test_what_ros_cannot_read_is_refused_in_the_section_of_another_node_too(tmp_path, line):
    text = file_of(('other', line), ('/**', 'a: 1'))
    with pytest.raises(RuntimeError, match='params file'), context_of(text, tmp_path):
        pass
    with pytest.raises(ArgumentError, match='ROS reads'):
        read_parameters(text)


# ROS puts what follows an empty section into it, makes one list of nested ones, and takes the
# value of one type wherever it stands.
@pytest.mark.parametrize(
    ('line', 'name'),
    [
        ('limits: {}', 'limits'), ('t: {s: {}, b: 2}', 't.s'), ('p: [[1, 2], [3]]', 'p'),
        ('p: [[]]', 'p'), ('p: [{q: 1}]', 'p'), ('p: 1\n    p: 2.5', 'p'),
        ('s: {p: [1]}\n    s: {p: [a]}', 's.p'),
    ],
)  # fmt: skip
def test_what_ros_reads_as_something_else_is_refused_by_name(line, name):
    with pytest.raises(ArgumentError, match=f"'{name}': ROS reads"):
        read_parameters(file_of(('/**', line)))


def test_sections_of_nodes_may_be_empty():
    text = 'a: {}\nb: {ros__parameters: {}}\n' + file_of(('/**', 'c: 1'))
    assert read_parameters(text) == {'c': 1}
    assert read_parameters('/**: {ros__parameters: {}}') == {}


def test_a_section_that_is_null_is_named():
    with pytest.raises(ArgumentError, match=r"'/\*\*/ros__parameters' .* is no section"):
        read_parameters('/**:\n  ros__parameters:\n')


def test_names_that_are_given_twice_in_a_section_are_known():
    text = file_of(('/**', 'a: 1', 'b: {c: 1}', 'b.c: 2', 'd: 1'), ('ros_ik', 'd: 2'))
    assert read_parameter_file(text).repeated == ('b.c',)
    assert read_parameters(text) == {'a': 1, 'b.c': 2, 'd': 2}


def test_every_list_of_several_types_is_named():
    text = file_of(('/**', 'p: [0, 0.1]', 'q: {r: [0.1, 0]}', 's: [a, 0]'))
    with pytest.raises(ArgumentError) as refused:
        read_parameters(text)
    for part in ("'p'", "'q.r'", "'s'", '[0, 0.1]; write 1.0 for 1', "['a', 0]"):
        assert part in str(refused.value)


def test_a_section_with_a_dot_in_its_name_is_refused():
    """ROS would put what follows into a section of another name."""
    text = '/**: {ros__parameters: {joint_limits: {joint_8.0: {max_velocity: 1.0}}}}'
    with pytest.raises(ArgumentError, match="'joint_8.0.max_velocity: ...' in one line"):
        read_parameters(text)


def test_the_node_may_be_in_a_namespace():
    text = '/**: {ros__parameters: {a: 1, b: {c: 3}}}\n/ns/ros_ik: {ros__parameters: {a: 2}}'
    assert read_parameters(text) == {'a': 2, 'b.c': 3}


@pytest.mark.parametrize('text', ['', '- 1', 'a: 1', '/**: {x: 1}', '/**: {}', 'a: ['])
def test_what_is_no_parameter_file_is_refused(text):
    with pytest.raises(ArgumentError):
        read_parameters(text)


@pytest.mark.parametrize(
    'values',
    [['y', '1e3', 'tool0', 'no'], [0.5, 1e-7, 2.0], [True], [], [f'joint_{k}' for k in range(99)]],
)
def test_a_list_on_one_line_is_read_as_ros_reads_it(values):
    text = list_text(values)
    assert '\n' not in text
    assert read_parameters(f'/**: {{ros__parameters: {{names: {text}}}}}') == {'names': values}
    # The viewer reads what a user may have changed in it.
    assert yaml.safe_load(text) == values

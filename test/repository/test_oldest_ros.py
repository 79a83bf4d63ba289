# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Modules of rclpy that ROS 2 Humble, the oldest one, does not have are optional."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Modules and packages of rclpy 3.3, that of Humble.
HUMBLE = frozenset(
    """
    action callback_groups client clock constants context duration exceptions executors
    expand_topic_name guard_condition impl lifecycle logging node parameter parameter_service
    publisher qos qos_event qos_overriding_options serialization service signals subscription task
    time time_source timer topic_endpoint_info topic_or_service_is_hidden type_support utilities
    validate_full_topic_name validate_namespace validate_node_name validate_parameter_name
    validate_topic_name wait_for_message waitable
    """.split()
)


def required(tree):
    """Yield the modules that code imports, except in the body of a try with an ImportError."""
    optional = {
        id(below)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        and any('ImportError' in ast.unparse(each.type or node) for each in node.handlers)
        for statement in node.body
        for below in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in optional:
            continue
        if isinstance(node, ast.ImportFrom):
            yield node.module or ''
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def later_than_humble(tree):
    """Return the modules of rclpy that code needs and Humble does not have."""
    parts = [name.split('.') for name in required(tree)]
    return [words[1] for words in parts if words[0] == 'rclpy' and {*words[1:2]} - HUMBLE]


@pytest.mark.parametrize('folder', ['ros_ik', 'examples'])
def test_no_module_of_rclpy_is_needed_that_humble_lacks(folder):
    paths = [path for path in (ROOT / folder).rglob('*.py') if 'rclpy' in path.read_text()]
    assert paths
    found = {path: later_than_humble(ast.parse(path.read_text())) for path in paths}
    assert {path: modules for path, modules in found.items() if modules} == {}


def test_optional_modules_are_told_from_those_that_are_needed():
    optional = 'try:\n    import rclpy.event_handler\nexcept ImportError:\n    import rclpy.qos\n'
    assert later_than_humble(ast.parse(optional)) == []
    needed = 'import rclpy\ntry:\n    pass\nexcept ImportError:\n    import rclpy.event_handler\n'
    assert later_than_humble(ast.parse(needed)) == ['event_handler']
    assert later_than_humble(ast.parse('from rclpy.experimental.x import y')) == ['experimental']

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Bodies of kernels hold nothing for which Warp writes their code at each start."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / 'ros_ik'
KERNEL_DECORATORS = ('compiled_kernel', 'wp.kernel')


def _kernels(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(each).partition('(')[0] for each in node.decorator_list]
            if any(name in KERNEL_DECORATORS for name in decorators):
                yield node


def _static_values_of_loops(node, loops=frozenset()):
    """Yield the calls of wp.static below a node that name the variable of a loop around them."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        loops |= {node.target.id}
    if isinstance(node, ast.Call) and ast.unparse(node.func) == 'wp.static':
        if loops & {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}:
            yield node
    for child in ast.iter_child_nodes(node):
        yield from _static_values_of_loops(child, loops)


def test_no_static_value_depends_on_a_loop():
    kernels = [(path, node) for path in PACKAGE.rglob('*.py') for node in _kernels(path)]
    assert len(kernels) > 100
    found = [
        f'{path.relative_to(PACKAGE)}:{value.lineno}: {ast.unparse(value)}'
        for path, node in kernels
        for value in _static_values_of_loops(node)
    ]
    assert found == []

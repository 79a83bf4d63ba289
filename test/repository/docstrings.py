# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Docstrings of a file."""

import ast


def docstrings(tree):
    """Yield the docstrings of a module, its classes and its functions."""
    if isinstance(tree, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield ast.get_docstring(tree) or ''
    for child in ast.iter_child_nodes(tree):
        # Expressions, which are most of a tree, hold none.
        if not isinstance(child, ast.expr):
            yield from docstrings(child)

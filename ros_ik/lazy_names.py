# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Names that a package imports from its modules on first access (PEP 562).

A package lists them as imports under ``if TYPE_CHECKING``, which type checkers read too. A program
that needs one part therefore does not import the others.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
import importlib
from pathlib import Path
import sys
from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: Its name.
        file: Path of its source, with the imports under ``if TYPE_CHECKING``.
    """
    homes = _imports(file)
    prefix = f'{package}.'
    parts = {
        home.removeprefix(prefix).partition('.')[0]
        for home in homes.values()
        if home.startswith(prefix)
    }

    def __getattr__(name: str) -> Any:
        if name in homes:
            value = getattr(importlib.import_module(homes[name]), name)
        elif name in parts:
            value = importlib.import_module(prefix + name)
        else:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        # Later accesses find the name in the package.
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return __getattr__, __dir__


def _imports(file: str) -> dict[str, str]:
    """Return the module of each name that a source imports under ``if TYPE_CHECKING``."""
    tree = ast.parse(Path(file).read_text(encoding='utf-8'))
    blocks = [
        node.body
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == 'TYPE_CHECKING'
    ]
    return {
        alias.asname or alias.name: str(node.module)
        for block in blocks
        for node in block
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

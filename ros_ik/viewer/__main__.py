# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The executable ``ros_ik_viewer``: SIGINT and SIGTERM give exit code 0, a wrong argument 2."""

from __future__ import annotations

from collections.abc import Sequence
import sys

from ros_ik.demo.process import run_node

# What requirements/demo.txt has beside that which the node needs.
_OPTIONAL = ('viser', 'trimesh')


def main(args: Sequence[str] | None = None) -> int:
    """Run until interrupted; return the exit code."""
    try:
        from ros_ik.viewer.viewer_node import ViewerNode  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in _OPTIONAL:
            raise
        print(
            f'ros_ik_viewer needs {error.name}: pip install viser trimesh',
            file=sys.stderr,
        )
        return 2
    return run_node(ViewerNode, args)


if __name__ == '__main__':
    sys.exit(main())

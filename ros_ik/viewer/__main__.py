# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The executable ``ros_ik_viewer``: SIGINT and SIGTERM give exit code 0, a wrong argument 2."""

from __future__ import annotations

from collections.abc import Sequence
import os
import sys

from ros_ik.node.execution.program import run_node
from ros_ik.node.execution.warp_programs import prepare_warp
from ros_ik.viewer.viewer_node import ViewerNode

# Lower priority than the node and the robot.
_NICE = 10


def main(args: Sequence[str] | None = None) -> int:
    """Run until interrupted; return the exit code."""
    os.nice(_NICE)
    prepare_warp()
    return run_node(lambda refuse: ViewerNode(), args)


if __name__ == '__main__':
    sys.exit(main())

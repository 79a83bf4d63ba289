# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The process that draws markers: scenes in, serialized messages out.

Drawing compiles kernels and creates thousands of Python objects per second, which would block the
control thread in the same interpreter. This process has its own interpreter and a low priority.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from rclpy.serialization import serialize_message

from ros_ik.errors import RosIkError
from ros_ik.node.execution.warp_programs import prepare_warp
from ros_ik.node.markers.process_link import DrawnRobot
from ros_ik.node.markers.process_link import MarkerState
from ros_ik.node.markers.scene import MarkerScene
from ros_ik.node.transport.pipe_objects import read_object
from ros_ik.node.transport.pipe_objects import write_object
from ros_ik.settings import Settings

# Low priority, because late markers are harmless.
_NICE = 10


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer each scene with a serialized message, or with an error text.

    Args:
        source: Stream of objects of the node; its end ends the process.
        sink: Stream for the answers: bytes, or text.
    """
    scene: MarkerScene | None = None
    problem = 'there is nothing to draw'
    while (news := read_object(source)) is not None:
        try:
            if isinstance(news, DrawnRobot):
                scene = None
                scene = MarkerScene(news)
            elif isinstance(news, Settings) and scene is not None:
                scene.apply(news)
            elif isinstance(news, MarkerState):
                answer = problem if scene is None else serialize_message(scene.draw(news))
                write_object(sink, answer)
        except RosIkError as error:
            problem = str(error)
            if isinstance(news, MarkerState):
                # The node waits for one.
                write_object(sink, problem)


def main() -> int:
    """Draw until standard input is closed; return the exit code."""
    os.nice(_NICE)
    prepare_warp()
    # Output of libraries must not mix with the answers.
    sink = os.fdopen(os.dup(sys.stdout.fileno()), 'wb')
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        serve(sys.stdin.buffer, sink)
    except BrokenPipeError:
        pass  # no subscriber is left
    return 0


if __name__ == '__main__':
    code = main()
    sys.stderr.flush()
    os._exit(code)

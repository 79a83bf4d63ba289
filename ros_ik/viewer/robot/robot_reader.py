# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reader of robot descriptions in a thread of its own, because meshes take seconds."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import threading

from ros_ik.errors import RosIkError
from ros_ik.viewer.robot.robot_state import RobotState


class RobotReader:
    """Reader of one description at a time, for one calling thread."""

    def __init__(self, package_paths: Callable[[], Sequence[str]], triangles: int) -> None:
        """Start idle.

        Args:
            package_paths: Function that returns the folders in which meshes are looked up.
            triangles: Maximum number of triangles of a robot, 0 for no limit.
        """
        self._package_paths, self._triangles = package_paths, triangles
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._text = ''
        self._read: RobotState | str | None = None

    def take(self, wanted: str) -> RobotState | str | None:
        """Return a robot that has been read, or an error text, or None if there is nothing new.

        Args:
            wanted: Newest description, which is read next if it has changed.
        """
        taken = None
        if self._thread is not None and not self._thread.is_alive():
            taken, self._read, self._thread = self._read, None, None
        if self._thread is None and wanted != self._text:
            self._text = wanted
            self._thread = threading.Thread(target=self._run, args=(wanted,), daemon=True)
            self._thread.start()
        return taken

    def end(self) -> None:
        """Stop reading, and wait briefly for the current mesh."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(1.0)

    def _run(self, text: str) -> None:
        try:
            self._read = RobotState(text, self._package_paths(), self._triangles, self._ended)
        except RosIkError as error:
            self._read = f'robot_description cannot be drawn: {error}'
        # Libraries of meshes raise arbitrary errors.
        except Exception as error:  # noqa: BLE001
            self._read = f'robot_description cannot be drawn: {error!r}'

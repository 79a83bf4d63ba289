# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order in which received robot descriptions are built, and which one follows a bad one."""

from __future__ import annotations

import dataclasses

# Number of former descriptions that are kept: the one in use, and one that was replaced before it
# was tried.
_FORMER = 2


@dataclasses.dataclass(frozen=True)
class RobotDescription:
    """Description of a robot.

    Attributes:
        urdf: Text of the URDF, '' before the first one.
        srdf: Text of the SRDF, or ''.
    """

    urdf: str = ''
    srdf: str = ''


class DescriptionHistory:
    """Descriptions that a node may have to build, and the one whose turn it is.

    Attributes:
        newest: The newest description.
    """

    def __init__(self) -> None:
        """Start without descriptions."""
        self.newest = self._building = self._accepted = RobotDescription()
        # To be built if the newest gives no model, the first choice last.
        self._former: list[RobotDescription] = []

    def accept(self, description: RobotDescription) -> None:
        """Note that the node can use the model of a description."""
        self._accepted = description

    def again(self) -> RobotDescription:
        """Return the newest description to build; without a model, the accepted one follows."""
        self._former = [] if self._accepted == self.newest else [self._accepted]
        return self._begin(self.newest)

    def replace(
        self, newest: RobotDescription, *, is_building: bool, is_used: bool
    ) -> RobotDescription:
        """Return a new description to build, and remember those that may follow it.

        Args:
            newest: The description.
            is_building: True if the build of the last one is not over.
            is_used: True if the node runs the model of the accepted description. It keeps that
                while the new one is built, and needs no other.
        """
        if is_building:
            self._former = [*self._former, self._building][-_FORMER:]
        else:
            self._former = [] if is_used else [self._accepted]
        self.newest = newest
        return self._begin(newest)

    def former(self) -> RobotDescription:
        """Return the former description to build after one without a model; empty for none."""
        return self._begin(self._former.pop()) if self._former else RobotDescription()

    def _begin(self, description: RobotDescription) -> RobotDescription:
        self._building = description
        return description

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The service ~/srdf_lines: SRDF lines for links that always touch."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_srvs.srv import Trigger

from ros_ik.model.conventions.labels import listed
from ros_ik.node.transport.qos_profiles import SERVICE
from ros_ik.servo import Servo


class SrdfLines:
    """Service for the robot of the newest model; used in the executor's thread."""

    def __init__(self, node: Node, servo: Callable[[], Servo | None]) -> None:
        """Create the service.

        Args:
            node: The node.
            servo: Function that returns the servo of the newest model, or None.
        """
        self._servo = servo
        node.create_service(Trigger, '~/srdf_lines', self._answer, qos_profile=SERVICE)

    def _answer(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        servo = self._servo()
        if servo is None:
            response.message = 'there is no model to write lines for'
        else:
            response.success, response.message = True, '\n'.join(servo.robot.srdf_lines)
        return response


def touching_sentences(servo: Servo) -> list[str]:
    """Return the log lines about pairs of links that touch."""
    shapes, found = servo.robot.shapes, []
    for pairs, what in (
        (
            shapes.near,
            'have shapes that touch at nearly all configurations; ~/srdf_lines writes them for '
            'an SRDF',
        ),
        (
            shapes.thick,
            'have shapes that touch only because their fits are thicker',
        ),
        (
            shapes.tight,
            'have fits that are always too near: the hulls of their shapes are watched instead, '
            'without a margin',
        ),
        (
            shapes.hidden,
            'have shapes that are not watched although they may meet, because their hulls touch '
            'at the neutral configuration or at most others',
        ),
    ):
        if pairs:
            names = listed(' - '.join(pair) for pair in pairs)
            found.append(f'{len(pairs)} pairs of links {what}: {names}')
    if shapes.often:
        margin = servo.robot.settings.barriers_self_collision_margin
        names = listed(' - '.join(pair) for pair in shapes.often)
        found.append(
            f'{len(shapes.often)} pairs of links are nearer than {margin:g} m at half of all '
            f'configurations or more, and may only move apart there: {names}. If they cannot '
            'meet, name them in the SRDF or in collision.ignore_pairs; otherwise lower '
            'barriers.self_collision.margin'
        )
    return found

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inputs of the control thread, in mailboxes."""

from __future__ import annotations

import dataclasses

from ros_ik.node.control.jump_counter import JumpCounter
from ros_ik.node.control.publishing import CommandPublishers
from ros_ik.node.control.publishing import CommandTemplates
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.node.transport.polled_subscription import StreamPoller
from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik.servo import Servo
from ros_ik.servo import StatusCode
from ros_ik.settings import Settings


@dataclasses.dataclass(frozen=True, eq=False)
class ControlledServo:
    """A servo with its messages and its measured state.

    Attributes:
        servo: The servo.
        templates: Messages to fill.
        generation: Number of models loaded, including this one.
        measurement: Measured state of its robot.
        jumps: Counter of targets rejected as jumps.
    """

    servo: Servo
    templates: CommandTemplates
    generation: int
    measurement: Mailbox[Measurement]
    jumps: JumpCounter


@dataclasses.dataclass(frozen=True)
class WaitingStatus:
    """Status while there is no servo."""

    code: StatusCode
    text: str
    waiting_for: tuple[str, ...] = ()


@dataclasses.dataclass(eq=False)
class Inbox:
    """Inputs of the control thread, written by the executor's thread.

    The control thread itself adds the targets that it reads from ``streams`` to ``command``.

    Attributes:
        streams: Topics to read at the start of each tick; they change the command.
        command: Command.
        settings: Current settings, or None.
        controlled: Servo to run, or None. Written before a command that needs it.
        publishers: Publishers of the commands, or None without topics.
        waiting: Status without a servo.
        notice: Sentence to add to the status, or ''.
        unknown_joints: Another one, about joints on which distances depend, or ''.
        not_following: Sentence to add to the status of a robot that does not follow, or ''.
    """

    streams: Mailbox[StreamPoller]
    command: Mailbox[Command]
    settings: Mailbox[Settings | None]
    controlled: Mailbox[ControlledServo | None]
    publishers: Mailbox[CommandPublishers | None]
    waiting: Mailbox[WaitingStatus]
    notice: Mailbox[str]
    unknown_joints: Mailbox[str]
    not_following: Mailbox[str]

    @classmethod
    def empty(cls) -> Inbox:
        """Return an inbox without a servo and without publishers."""
        return cls(
            streams=Mailbox(StreamPoller((), 0.0)),
            command=Mailbox(Command(active=False)),
            settings=Mailbox(None),
            controlled=Mailbox(None),
            publishers=Mailbox(None),
            waiting=Mailbox(WaitingStatus(StatusCode.WAITING_FOR_MODEL, 'starting')),
            notice=Mailbox(''),
            unknown_joints=Mailbox(''),
            not_following=Mailbox(''),
        )

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Phases of a run of the demo, with the targets and the requirement of each."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np

from ros_ik.demo.scenario.clearance import Clearance

# Duration of the circle [s].
CIRCLE_TIME = 3.0
# Longest time to reach a target or rest [s]; 2 s suffice unless the machine is busy.
PATIENCE = 20.0


class Requirement(enum.Enum):
    """Demands of a phase, in addition to box and limits."""

    REACH = 'reach'  # reach the last target; the phase ends then
    PRESS_BOX = 'press the box'
    PRESS_LIMIT = 'press a joint limit'
    EVADE = 'move out of the way of the ball'
    REFUSE = 'refuse to collide with itself'
    WAIT = 'wait for a robot that stands still, then reach the last target'
    STAY_INSIDE = 'stay inside'


@dataclasses.dataclass(frozen=True, eq=False)
class Phase:
    """One part of the run.

    Attributes:
        name: Short name.
        expectation: Expected behaviour, for the table.
        duration: Longest duration [s]; a press lasts until the robot is at rest.
        poses: Pose targets [n, 7], sent one after the other over the duration; one is repeated.
        joints: Joint targets [rad or m] by name instead of poses.
        requirement: Requirement on the robot.
        nan_messages: True to mix in poses full of NaN.
        ball: Position of the ball in the root link [m], [n, 3], over the duration, or None.
        frozen: Start and end of a freeze of the robot, as in a protective stop [s].
    """

    name: str
    expectation: str
    duration: float
    poses: np.ndarray | None = None
    joints: dict[str, float] | None = None
    requirement: Requirement = Requirement.STAY_INSIDE
    nan_messages: bool = False
    ball: np.ndarray | None = None
    frozen: tuple[float, float] | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Scenario:
    """A whole run.

    Attributes:
        phases: The parts, in order.
        box_min: Lower corner of the box barrier [m], shape [3].
        box_max: Upper corner [m], shape [3].
        uses_orientation: True if the chain has enough joints to control the orientation too.
        size: Length of the stretched chain [m].
        ball_radius: Radius of the ball [m].
        clearance: Distance measurement; None without an SRDF, and the run then has neither ball
            nor self-collision.
    """

    phases: tuple[Phase, ...]
    box_min: np.ndarray
    box_max: np.ndarray
    uses_orientation: bool
    size: float
    ball_radius: float
    clearance: Clearance | None

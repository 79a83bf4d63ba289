# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages between the node and the process that answers planners."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.planning import Reconfiguration
from ros_ik.servo import Obstacle
from ros_ik.settings import Settings


@dataclasses.dataclass(frozen=True)
class Greeting:
    """The first frame: who the process is on the ROS graph.

    Attributes:
        node_name: Name of its node.
        namespace: Namespace of its node.
        services: Resolved name of each service, by its name below the node.
        arguments: Command line of the node; it names the log level and the security enclave.
        domain_id: ROS domain.
        settings: Settings in force.
    """

    node_name: str
    namespace: str
    services: dict[str, str]
    arguments: tuple[str, ...]
    domain_id: int
    settings: Settings


@dataclasses.dataclass(frozen=True)
class Description:
    """A robot to answer for from now on.

    Attributes:
        urdf: Text of the robot description.
        srdf: Text of the semantic description, or ''.
        settings: Settings in force.
        generation: Number of the model; measured states carry it too.
    """

    urdf: str
    srdf: str
    settings: Settings
    generation: int


@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """A measured state.

    Attributes:
        generation: Number of the model that it belongs to.
        joint_q: Coordinates [joint_coord_count].
        known: Which of them were ever measured, bool [joint_coord_count].
    """

    generation: int
    joint_q: np.ndarray
    known: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class World:
    """The obstacles.

    Attributes:
        generation: Number of the model whose links they are given in.
        obstacles: All of them.
        joint_q: Coordinates at which those in moving links were received [joint_coord_count].
    """

    generation: int
    obstacles: tuple[Obstacle, ...]
    joint_q: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Detour:
    """A question: another configuration for a pose; answered with a :class:`DetourAnswer`.

    Attributes:
        number: Of the question, which the answer carries.
        task: Index of the frame task.
        pose: Pose of its frame in its reference link [7].
        start: Positions of the controlled joints [n_variables].
        tolerances: Distance [m] and angle [rad] that count as reached.
        seconds: Time that there is [s].
    """

    number: int
    task: int
    pose: np.ndarray
    start: np.ndarray
    tolerances: tuple[float, float]
    seconds: float


@dataclasses.dataclass(frozen=True, eq=False)
class DetourAnswer:
    """An answer, on its way back.

    Attributes:
        number: Of the question.
        found: The configuration, or why there is none.
    """

    number: int
    found: Reconfiguration


@dataclasses.dataclass(frozen=True)
class Leave:
    """The last frame of a node that continues: the last answers have time to leave."""


Frame = Greeting | Description | Settings | State | World | Detour | Leave

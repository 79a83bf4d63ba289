# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages between the node and the planners' process."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.planning import Reconfiguration
from ros_ik.servo import Obstacle
from ros_ik.settings import Settings

# Time within which the process ends after the node's end of the pipe has closed; the second one if
# the node continues, because the last answers may take seconds on a busy machine [s].
END_TIME, END_TIME_IN_ORDER = 0.8, 15.0


@dataclasses.dataclass(frozen=True)
class NodeIdentity:
    """First object: identity of the process on the ROS graph.

    Attributes:
        node_name: Name of its node.
        namespace: Namespace of its node.
        services: Resolved name of each service, by its name relative to the node.
        arguments: Command line of the node, for the log level and the security enclave.
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
    """Robot of the following requests.

    Attributes:
        urdf: Text of the robot description.
        srdf: Text of the semantic description, or ''.
        settings: Settings in force.
        generation: Number of the model; measured states have it too.
    """

    urdf: str
    srdf: str
    settings: Settings
    generation: int


@dataclasses.dataclass(frozen=True, eq=False)
class PlannerRobotState:
    """A measured state.

    Attributes:
        generation: Number of the model.
        joint_q: Coordinates [joint_coord_count].
        known: Mask of the coordinates that were ever measured, bool [joint_coord_count].
        current: Mask of those whose states have not ended; None for the known ones.
    """

    generation: int
    joint_q: np.ndarray
    known: np.ndarray
    current: np.ndarray | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class ObstacleState:
    """Obstacles of the node.

    Attributes:
        generation: Number of the model with the links of their poses.
        obstacles: All obstacles.
        joint_q: Coordinates when the obstacles in moving links arrived [joint_coord_count].
    """

    generation: int
    obstacles: tuple[Obstacle, ...]
    joint_q: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class ReconfigurationRequest:
    """Request for another configuration of a pose, answered by a :class:`ReconfigurationAnswer`.

    Attributes:
        number: Number of the request, repeated in the answer.
        task: Index of the frame task.
        pose: Target pose of its frame in its reference link [7].
        start: Positions of the controlled joints [n_variables].
        tolerances: Tolerances of distance [m] and angle [rad].
        seconds: Time limit [s].
    """

    number: int
    task: int
    pose: np.ndarray
    start: np.ndarray
    tolerances: tuple[float, float]
    seconds: float


@dataclasses.dataclass(frozen=True, eq=False)
class ReconfigurationAnswer:
    """Answer to a :class:`ReconfigurationRequest`.

    Attributes:
        number: Number of the request.
        task: Index of its frame task.
        found: The configuration, or the reason why there is none.
    """

    number: int
    task: int
    found: Reconfiguration


@dataclasses.dataclass(frozen=True)
class SyncRequest:
    """Request for the measured state and for all that was sent before; see :class:`SyncReply`.

    Attributes:
        number: Number of the request, repeated in the reply.
    """

    number: int


@dataclasses.dataclass(frozen=True)
class SyncReply:
    """Reply to a :class:`SyncRequest`; it follows the measured state and all that was sent before.

    Attributes:
        number: Number of the request.
    """

    number: int


@dataclasses.dataclass(frozen=True)
class ShutdownRequest:
    """Last object of a node that continues, which allows time for the last answers."""


Frame = (
    NodeIdentity
    | Description
    | Settings
    | PlannerRobotState
    | ObstacleState
    | ReconfigurationRequest
    | SyncReply
    | ShutdownRequest
)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Serial chain of single-axis joints with constant transforms between them.

Each joint moves about or along its own z axis:

    X_tool = C_0 Z(q_0) C_1 Z(q_1) ... Z(q_n-1) C_n

The constants C include fixed and locked joints. A D6 joint becomes one joint per axis. A mimic
joint uses the variable v of its driver, q = coef0 + coef1 v.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.tree import incoming_joints
from ros_ik.kinematics.tree import root_pose
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik.model.conventions.checks import link_index
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.poses import cross
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.model.conventions.poses import perpendicular
from ros_ik.model.conventions.rotations import matrix_from_quaternion
from ros_ik.model.conventions.sampling_range import sampling_range
from ros_ik.model.joint_group import checked_joint_group
from ros_ik.numbers import real_array
from ros_ik.numbers import real_value

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# A joint without limits is sampled half a turn, or one metre, to either side.
_REACH = {True: 1.0, False: np.pi}
# Length [m] up to which axes meet in a single point.
LEAST_REACH = 1e-9


@dataclasses.dataclass(frozen=True)
class SerialChain:
    """Chain of n joints driven by m variables, in float64.

    Attributes:
        slides: True for prismatic joints, False for revolute ones, [n].
        variables: Variable that drives each joint, [n].
        coef0: Offset of each joint from its variable [rad or m], [n].
        coef1: Factor of each joint on its variable, [n].
        constants: Transforms C_0 .. C_n, homogeneous matrices, shape [n + 1, 4, 4].
        coordinates: Coordinate in the model of each variable, [m].
        lower: Lower limits of the variables [rad or m], narrowed by those of all their mimic
            joints, which may lie outside the chain; -inf for none, [m].
        upper: Upper limits, [m].
    """

    slides: tuple[bool, ...]
    variables: tuple[int, ...]
    coef0: np.ndarray
    coef1: np.ndarray
    constants: np.ndarray
    coordinates: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def n_variables(self) -> int:
        """Number of variables m."""
        return len(self.coordinates)

    @property
    def is_direct(self) -> bool:
        """True if joint i is variable i, so that there are no mimic joints."""
        own = self.variables == tuple(range(len(self.slides)))
        return own and not np.any(self.coef0) and bool(np.all(self.coef1 == 1.0))

    def turn_lengths(self) -> np.ndarray:
        """Return the change of each variable in a whole turn of its joint, [m].

        It is infinite for a prismatic joint, and if the variable drives several joints or none.
        """
        lengths = np.full(self.n_variables, np.inf)
        for k in range(self.n_variables):
            if self.variables.count(k) == 1:
                joint = self.variables.index(k)
                if not self.slides[joint] and self.coef1[joint] != 0.0:
                    lengths[k] = 2.0 * np.pi / abs(self.coef1[joint])
        return lengths

    @property
    def reach(self) -> float:
        """Length of the stretched chain [m], 1 for revolute joints through a single point."""
        reach = float(np.sum(np.linalg.norm(self.constants[:, :3, 3], axis=1)))
        return reach if reach > LEAST_REACH else 1.0

    def sampling_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the range for sampling each variable, its limits if it has them, [m]."""
        reach = np.array(
            [_REACH[self.slides[self.variables.index(k)]] for k in range(self.n_variables)]
        )
        return sampling_range(self.lower, self.upper, reach)


class _Builder:
    """Builder of a chain, joint by joint from the base to the tool."""

    def __init__(self, model: Model, group: JointGroup, joint_q: np.ndarray) -> None:
        self._model = model
        self._joint_q = joint_q
        self._drivers = set(group.joint_indices)
        self._lower, self._upper = driver_limits(model)
        self._q_start, self._qd_start = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
        self._dims = model.joint_dof_dim.numpy()
        self._types = model.joint_type.numpy()
        self.constants = [np.eye(4)]
        self.joints: list[tuple[bool, int, float, float]] = []  # slides, coordinate, coef0, coef1
        self.bounds: dict[int, tuple[float, float]] = {}

    def add_joint(self, joint: int) -> None:
        """Append X_p, the joint and X_c^-1."""
        model = self._model
        self._append(_matrix(model.joint_X_p64[joint]))
        driver, coef0, coef1 = model.mimic_driver.get(joint, (joint, 0.0, 1.0))
        linear = int(self._dims[joint, 0])
        first = int(self._qd_start[joint])
        count = int(self._qd_start[joint + 1]) - first
        coords = int(self._q_start[joint + 1]) - int(self._q_start[joint])
        if coords > count:
            self._add_quaternion_joint(joint, coords)
        for k in range(count if coords == count else 0):
            axis = model.joint_axis64[first + k]
            coordinate = int(self._q_start[driver]) + k
            if driver in self._drivers:
                self._add_axis(axis, k < linear, coordinate, coef0, coef1)
                dof = int(self._qd_start[driver]) + k
                self.bounds[coordinate] = float(self._lower[dof]), float(self._upper[dof])
            else:
                value = coef0 + coef1 * self._joint_q[coordinate]
                self._append(_axis_motion(axis, k < linear, value))
        self._append(np.linalg.inv(_matrix(model.joint_X_c64[joint])))

    def _add_quaternion_joint(self, joint: int, coords: int) -> None:
        if joint in self._drivers:
            kind = JointType(int(self._types[joint])).name.lower()
            raise ArgumentError(
                f'joint {self._model.joint_label[joint]!r} is a {kind} joint: a chain of joints '
                'of one degree of freedom is needed; leave it out of the joint group to lock it'
            )
        first = int(self._q_start[joint])
        pose = np.array(IDENTITY_POSE)
        pose[7 - coords :] = self._joint_q[first : first + coords]
        self._append(_matrix(pose))

    def _add_axis(
        self, axis: np.ndarray, slides: bool, coordinate: int, coef0: float, coef1: float
    ) -> None:
        turn = np.eye(4)
        turn[:3, :3] = _frame_along(axis)
        self._append(turn)
        self.joints.append((slides, coordinate, coef0, coef1))
        self.constants.append(turn.T.copy())

    def _append(self, transform: np.ndarray) -> None:
        self.constants[-1] = self.constants[-1] @ transform


def serial_chain(
    model: Model,
    link: str | int,
    *,
    group: JointGroup | str | Sequence[str] | None = None,
    joint_q: np.ndarray | None = None,
    offset: np.ndarray | None = None,
) -> SerialChain:
    """Build the chain from the world to a frame on a link.

    Args:
        model: The model.
        link: Name or index of the link.
        group: Joints that may move, a group or an argument of :meth:`Model.joint_group`; None for
            all joints of the chain.
        joint_q: Configuration at which the other joints are locked, shape [joint_coord_count];
            None for the neutral one.
        offset: Pose of the frame in the link, shape [7]; None for the link itself.

    Raises:
        ArgumentError: An unknown link, no joint that moves it, or a movable ball or free joint.
    """
    group = checked_joint_group(model, group)
    locked_joint_q = model.neutral_joint_q() if joint_q is None else real_array('joint_q', joint_q)
    builder = _Builder(model, group, locked_joint_q)
    joints = joints_to(model, link_index(model, link, least=0))
    builder.constants[0] = _matrix(root_pose(model, joints))
    for joint in joints:
        builder.add_joint(joint)
    if offset is not None:
        builder.constants[-1] = builder.constants[-1] @ _matrix(real_value('offset', offset))
    if not builder.joints:
        raise ArgumentError(f'no joint of the group moves link {link!r}')
    coordinates = list(dict.fromkeys(coordinate for _, coordinate, _, _ in builder.joints))
    return SerialChain(
        slides=tuple(slides for slides, _, _, _ in builder.joints),
        variables=tuple(coordinates.index(coordinate) for _, coordinate, _, _ in builder.joints),
        coef0=np.array([coef0 for _, _, coef0, _ in builder.joints]),
        coef1=np.array([coef1 for _, _, _, coef1 in builder.joints]),
        constants=np.array(builder.constants),
        coordinates=np.array(coordinates),
        lower=np.array([builder.bounds[coordinate][0] for coordinate in coordinates]),
        upper=np.array([builder.bounds[coordinate][1] for coordinate in coordinates]),
    )


def joints_to(model: Model, body: int) -> list[int]:
    """Return the joints from the world to a body, in this order."""
    parent, incoming = model.joint_parent.numpy(), incoming_joints(model)
    joints: list[int] = []
    while body in incoming:
        joints.append(incoming[body])
        body = int(parent[incoming[body]])
    return joints[::-1]


def _matrix(pose: np.ndarray) -> np.ndarray:
    """Return the homogeneous matrix of a pose x y z qx qy qz qw."""
    matrix = np.eye(4)
    matrix[:3, :3] = matrix_from_quaternion(pose[3:])
    matrix[:3, 3] = pose[:3]
    return matrix


def _axis_motion(axis: np.ndarray, slides: bool, value: float) -> np.ndarray:
    """Return the homogeneous matrix of a motion along or about a unit axis."""
    matrix = np.eye(4)
    if slides:
        matrix[:3, 3] = value * axis
    else:
        half = 0.5 * value
        matrix[:3, :3] = matrix_from_quaternion(np.append(np.sin(half) * axis, np.cos(half)))
    return matrix


def _frame_along(axis: np.ndarray) -> np.ndarray:
    """Return a rotation matrix whose z axis is a unit axis."""
    x = -perpendicular(axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, cross(axis, x), axis])

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Chain of links for inverse kinematics, with the interface of ``motrixsim.ik.IkChain``.

Instead of motrixsim's ``SceneData``, the methods take ``data``: coordinates of the whole model, or
a :class:`JointState` if velocities matter. No state is kept between calls.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_bias_force
from ros_ik.kinematics import eval_mass_matrix
from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.newton.named_model import named_model
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model.conventions import poses
from ros_ik.numbers import as_integer
from ros_ik.numbers import real_value
from ros_ik.solvers.chain.functions import MIN_QUATERNION_LENGTH
from ros_ik.solvers.chain.ik_chain_path import chain_path


@dataclasses.dataclass(frozen=True, eq=False)
class JointState:
    """Positions and velocities of the whole model.

    Attributes:
        joint_q: Coordinates, shape [*, joint_coord_count].
        joint_qd: Velocities [rad/s, m/s], shape [*, joint_dof_count]; None at rest.
    """

    joint_q: np.ndarray
    joint_qd: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class ChainLink:
    """A link of a chain.

    Attributes:
        name: Its name.
        index: Its body index in the model.
    """

    name: str
    index: int


ChainData = np.ndarray | JointState


class IkChain(ReadOnce):
    """Chain of revolute, prismatic and fixed joints from a start link to an end link.

    ``data`` is an array of coordinates [*, joint_coord_count] or a :class:`JointState`, with any
    leading dimensions, which are also those of the result. Results are float64. Mimic joints
    follow their drivers, whatever their values in ``data``, and contribute to the columns of their
    drivers.

    Attributes:
        model: The model; a finalized ``newton.Model`` is wrapped in a :class:`NamedModel`.
        path: The joints of the chain.
        offset: Pose of the end effector in the end link, x y z i j k w.
    """

    read_once = frozenset(('model', 'path', 'offset', 'tree'))

    def __init__(
        self,
        model: Any,
        end_link: str | int,
        start_link: str | int | None = None,
        end_effector_offset: np.ndarray | Sequence[float] | None = None,
    ) -> None:
        """Create the chain.

        Args:
            model: A :class:`Model`, a finalized ``newton.Model``, or any object with Newton's
                joint arrays.
            end_link: Name or body index of the last link. In a ``newton.Model``, the part of the
                label after the last slash is sufficient.
            start_link: The first link, likewise, or None for the root link. Its incoming joint
                belongs to the chain. Joints before it keep the positions of ``data``.
            end_effector_offset: Pose of the end effector in the end link, x y z [m], quaternion
                i j k w, shape [7]; None for the end link itself.

        Raises:
            IkChainError: An unknown link, a start link that is not an ancestor of the end link,
                or a joint in the chain that is not revolute, prismatic or fixed. This error is
                both a RuntimeError and an :class:`ArgumentError`.
            ArgumentError: An invalid ``end_effector_offset``.
        """
        self.model = model = named_model(model)
        self.path = chain_path(model, end_link, start_link)
        self.offset = read_only(_pose('end_effector_offset', end_effector_offset))
        self.tree = kinematic_tree(model, wp.float64)
        moving = np.zeros((model.joint_dof_count, 1))
        moving[link_dofs(model, self.path.bodies[-1])] = 1.0
        self._moves_end = moving

    @property
    def num_dof_pos(self) -> int:
        """Number of positions, one per joint of the chain that is neither fixed nor a mimic."""
        return len(self.path.coordinates)

    @property
    def num_dof_vel(self) -> int:
        """Number of velocities, equal to the number of positions."""
        return len(self.path.dofs)

    @property
    def num_links(self) -> int:
        """Number of links, including start link, end link and links on fixed joints."""
        return len(self.path.bodies)

    def get_link(self, index: int) -> ChainLink:
        """Return a link of the chain.

        Args:
            index: Position in the chain, 0 for the start link.

        Raises:
            ArgumentError: Not an integer.
            IndexError: There is no such position.
        """
        if as_integer(index) is None:
            raise ArgumentError(f'index must be an integer, got {index!r}')
        if not 0 <= index < self.num_links:
            raise IndexError(f'index must lie in [0, {self.num_links}), got {index}')
        body = self.path.bodies[index]
        return ChainLink(self.model.body_label[body], body)

    def get_dof_pos(self, data: ChainData) -> np.ndarray:
        """Return the positions of the chain [rad or m], shape [*, num_dof_pos]."""
        return self.joint_q(data)[..., self.path.coordinates]

    def get_dof_vel(self, data: ChainData) -> np.ndarray:
        """Return the velocities of the chain [rad/s or m/s], shape [*, num_dof_vel]."""
        return self._joint_qd(data)[..., self.path.dofs]

    def get_end_effector_pose(self, data: ChainData) -> np.ndarray:
        """Return the end effector's pose in the world, x y z i j k w, shape [*, 7]."""
        return self._point_motion(data, self.offset)[0]

    def get_end_effector_vel(self, data: ChainData) -> np.ndarray:
        """Return the end effector's velocity in world axes, shape [*, 6].

        Angular velocity first, then the velocity of its origin. Joints before the chain are
        included.
        """
        jacobian = self._point_motion(data, self.offset)[1]
        return np.einsum('...ij,...j->...i', jacobian, self._joint_qd(data))

    def get_end_effector_jac(self, data: ChainData) -> np.ndarray:
        """Return the Jacobian of the end effector, shape [*, 6, num_dof_vel].

        Rows 0-2: angular velocity, rows 3-5: velocity of its origin, both in world axes.
        """
        return self._point_motion(data, self.offset)[1] @ self.path.dof_map

    def get_end_point_jac(
        self, data: ChainData, end_point: np.ndarray | Sequence[float]
    ) -> np.ndarray:
        """Return the Jacobian of a point fixed to the end link, shape [*, 6, num_dof_vel].

        Args:
            data: The state.
            end_point: The point in the end link [m], independent of the end effector's offset,
                shape [3].

        Raises:
            ArgumentError: ``end_point`` is not three finite numbers.
        """
        point = real_value('end_point', end_point)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise ArgumentError(f'end_point must be three finite numbers, got {end_point}')
        offset = np.concatenate([point, poses.IDENTITY_POSE[3:]])
        return self._point_motion(data, offset)[1] @ self.path.dof_map

    def get_inertia_matrix(self, data: ChainData) -> np.ndarray:
        """Return the inertia matrix of the chain, shape [*, num_dof_vel, num_dof_vel].

        It is a block of the whole model's matrix and includes all bodies that the chain moves,
        also those of other branches. It is symmetric, and positive definite if every moving link
        has a mass.
        """
        joint_q = self.joint_q(data)
        n_dofs = self.model.joint_dof_count
        matrix = np.empty((*joint_q.shape[:-1], n_dofs, n_dofs))
        rows = matrix.reshape(-1, n_dofs, n_dofs)
        eval_mass_matrix(self.model, joint_q.reshape(-1, joint_q.shape[-1]), rows)
        return self.path.dof_map.T @ matrix @ self.path.dof_map

    def get_inertial_matrix(self, data: ChainData) -> np.ndarray:
        """Return :meth:`get_inertia_matrix`, by its name in older documents of motrixsim."""
        return self.get_inertia_matrix(data)

    def get_bias_force(self, data: ChainData) -> np.ndarray:
        """Return the bias force of the chain [N, Nm], shape [*, num_dof_vel].

        These are the rows of the whole model's C(q, qd) qd + g(q), which depends on positions and
        velocities of joints outside the chain too. Gravity is ``model.gravity``.
        """
        joint_q, joint_qd = self.joint_q(data), self._joint_qd(data)
        force = np.empty_like(joint_qd)
        n_dofs = self.model.joint_dof_count
        eval_bias_force(
            self.model,
            joint_q.reshape(-1, joint_q.shape[-1]),
            joint_qd.reshape(-1, n_dofs),
            force.reshape(-1, n_dofs),
        )
        return force @ self.path.dof_map

    def joint_q(self, data: ChainData) -> np.ndarray:
        """Return a copy of the coordinates with those of mimic joints, [*, joint_coord_count].

        Raises:
            ArgumentError: A wrong number of coordinates.
        """
        given = data.joint_q if isinstance(data, JointState) else data
        joint_q = _host('joint_q', given, self.model.joint_coord_count)
        return self.model.apply_mimic(joint_q)

    def _joint_qd(self, data: ChainData) -> np.ndarray:
        """Return a copy of the velocities with those of mimic joints, [*, joint_dof_count]."""
        joint_q = self.joint_q(data)
        n_dofs = self.model.joint_dof_count
        if not isinstance(data, JointState) or data.joint_qd is None:
            return np.zeros((*joint_q.shape[:-1], n_dofs))
        joint_qd = _host('joint_qd', data.joint_qd, n_dofs)
        if joint_qd.shape[:-1] != joint_q.shape[:-1]:
            raise ArgumentError(
                f'joint_qd must have shape {[*joint_q.shape[:-1], n_dofs]}, got '
                f'{list(joint_qd.shape)}'
            )
        start = self.model.joint_qd_start.numpy()
        for follower, (driver, _, coef1) in self.model.mimic_driver.items():
            joint_qd[..., start[follower]] = coef1 * joint_qd[..., start[driver]]
        return joint_qd

    def _point_motion(self, data: ChainData, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return pose [*, 7] and Jacobian [*, 6, joint_dof_count] of a frame on the end link."""
        joint_q = self.joint_q(data)
        leading, n_dofs = joint_q.shape[:-1], self.model.joint_dof_count
        types, tree = spatial_functions(wp.float64), self.tree
        rows = wp.array(
            joint_q.reshape(-1, joint_q.shape[-1]), dtype=wp.float64, device=tree.device
        )
        n = rows.shape[0]
        body_q = wp.empty((n, tree.body_count), dtype=types.transform, device=tree.device)
        joint_S_s = wp.empty((n, n_dofs), dtype=types.twist, device=tree.device)
        launch_forward_kinematics(tree, rows, body_q)
        launch_motion_subspace(tree, rows, body_q, joint_S_s)
        pose = poses.multiply(body_q.numpy()[:, self.path.bodies[-1]], offset)
        twists = joint_S_s.numpy() * self._moves_end  # [n, dofs, 6]
        velocity = twists[..., :3] + np.cross(twists[..., 3:], pose[:, None, :3])
        jacobian = np.concatenate([twists[..., 3:], velocity], axis=-1).swapaxes(1, 2)
        return pose.reshape(*leading, 7), jacobian.reshape(*leading, 6, n_dofs)


def _host(name: str, given: np.ndarray | wp.array, columns: int) -> np.ndarray:
    """Check the last dimension and return a float64 copy on the host."""
    values = checked_numbers(name, given)
    if values.ndim == 0 or values.shape[-1] != columns:
        raise ArgumentError(f'{name} must have shape [*, {columns}], got {list(values.shape)}')
    return values


def _pose(name: str, given: np.ndarray | Sequence[float] | None) -> np.ndarray:
    """Return a pose of seven numbers with a unit quaternion; None is the identity."""
    pose = real_value(name, poses.IDENTITY_POSE if given is None else given)
    length = np.linalg.norm(pose[3:]) if pose.shape == (7,) else 0.0
    if not np.isfinite(pose).all() or not length > MIN_QUATERNION_LENGTH:
        raise ArgumentError(
            f'{name} must be seven finite numbers x y z i j k w with a quaternion that is not '
            f'zero, got {given}'
        )
    pose[3:] /= length
    return pose

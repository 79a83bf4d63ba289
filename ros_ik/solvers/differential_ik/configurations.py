# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Configurations of the robots of a step solver, their link poses, and steps from them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.kinematics.runtime.array_exchange import as_warp
from ros_ik.kinematics.runtime.array_exchange import checked_namespace
from ros_ik.kinematics.runtime.array_exchange import in_namespace
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.batch_arrays import cast_into
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.model import Model
from ros_ik.solvers.differential_ik.tasks.arguments import on_host
from ros_ik.solvers.graph import Graph


class Configurations:
    """Buffer of the coordinates that the graphs of a solver read, with what follows from them.

    Attributes:
        joint_q: Coordinates [n_robots, joint_coord_count].
        body_q: Link poses [n_robots, body_count].
    """

    def __init__(self, model: Model, tree: KinematicTree, n_robots: int) -> None:
        """Allocate the buffers.

        Args:
            model: The model.
            tree: Its kinematic tree in float64.
            n_robots: Number of robots.
        """
        scalar, device = wp.float64, model.device
        self._model, self._tree, self._n_robots = model, tree, n_robots
        self._device = wp.get_device(device)
        self.joint_q = HostBuffer((n_robots, model.joint_coord_count), scalar, device)
        self.body_q = HostBuffer((n_robots, model.body_count), wp.transformd, device)
        self._step = HostBuffer((n_robots, model.joint_dof_count), scalar, device)
        self._next_q = HostBuffer((n_robots, model.joint_coord_count), scalar, device)
        self._forward_graph = Graph(self._record_forward, device)
        self._integrate_graph = Graph(self._record_integrate, device)

    def stay_on_device(self, joint_q: Any) -> bool:
        """Return True if an array is a batch of coordinates that can stay on the device."""
        return isinstance(joint_q, wp.array) and joint_q.shape == self.joint_q.array.shape

    def load_on_device(self, joint_q: Any) -> None:
        """Copy a batch of coordinates to the buffer, on the device."""
        given, _ = batch_input(
            'joint_q', joint_q, self._model.joint_coord_count, self._device, n=self._n_robots
        )
        cast_into(self.joint_q.array, given)

    def load_checked(self, joint_q: np.ndarray | wp.array) -> None:
        """Copy coordinates to the buffer, on the host.

        Args:
            joint_q: Coordinates, shape [joint_coord_count] or [n_robots, joint_coord_count].

        Raises:
            ArgumentError: A wrong shape.
        """
        single = (self._model.joint_coord_count,)
        joint_q = on_host('joint_q', joint_q)
        if joint_q.shape != single and joint_q.shape != (self._n_robots, *single):
            raise ArgumentError(
                f'joint_q must have shape {[*single]} or {[self._n_robots, *single]}, got '
                f'{list(joint_q.shape)}'
            )
        if joint_q.ndim == 1 and self._n_robots != 1:
            raise ArgumentError(f'joint_q must have {self._n_robots} rows, one per robot, got one')
        self.load(joint_q)

    def load(self, joint_q: np.ndarray) -> None:
        """Copy coordinates of the right shape to the buffer, on the host."""
        self.joint_q.wait_for_uploads()
        self.joint_q.host[:] = joint_q

    def check_steps(
        self, joint_q: np.ndarray | wp.array, steps: Iterable[tuple[str, np.ndarray]]
    ) -> None:
        """Check the shapes of steps of all degrees of freedom.

        Args:
            joint_q: The coordinates beside them.
            steps: Names of arguments, with the steps.

        Raises:
            ArgumentError: A wrong shape.
        """
        expected = (*joint_q.shape[:-1], self._model.joint_dof_count)
        for name, step in steps:
            if step.shape != expected:
                raise ArgumentError(
                    f'{name} must have shape {list(expected)}, got {list(step.shape)}'
                )

    def body_poses(self, joint_q: Any, xp: Any) -> Any:
        """Return the link poses; see :meth:`DifferentialIK.body_poses`."""
        xp, joint_q = checked_namespace(xp, joint_q), as_warp('joint_q', joint_q)
        if self.stay_on_device(joint_q):
            self.load_on_device(joint_q)
            with LAUNCH_LOCK.shared():
                self._forward_graph.enqueue()
                return in_namespace(wp.clone(self.body_q.array), xp)
        self.load_checked(joint_q)
        self.joint_q.upload()
        self._forward_graph.enqueue()
        self.body_q.download()
        wait_for(self._device)
        return self.body_q.host.copy() if joint_q.ndim == 2 else self.body_q.host[0].copy()

    def integrate(self, joint_q: Any, delta_q: Any, xp: Any) -> Any:
        """Return the coordinates after a step; see :meth:`DifferentialIK.integrate`."""
        xp, joint_q = checked_namespace(xp, joint_q), as_warp('joint_q', joint_q)
        if xp is not np and self.stay_on_device(joint_q):
            self.load_on_device(joint_q)
            step, _ = batch_input(
                'delta_q', delta_q, self._model.joint_dof_count, self._device, n=self._n_robots
            )
            cast_into(self._step.array, step)
            with LAUNCH_LOCK.shared():
                self._integrate_graph.enqueue()
                return in_namespace(wp.clone(self._next_q.array), xp)
        joint_q, delta_q = on_host('joint_q', joint_q), checked_numbers('delta_q', delta_q)
        self.load_checked(joint_q)
        self.check_steps(joint_q, (('delta_q', delta_q),))
        self._step.host[:] = delta_q
        self.joint_q.upload()
        self._step.upload()
        self._integrate_graph.enqueue()
        self._next_q.download()
        wait_for(self._device)
        if not np.isfinite(self._next_q.host).all():
            name = 'joint_q' if not np.isfinite(joint_q).all() else 'delta_q'
            raise ArgumentError(f'{name} must be finite')
        return self._next_q.host.copy() if joint_q.ndim == 2 else self._next_q.host[0].copy()

    def _record_forward(self) -> None:
        launch_forward_kinematics(self._tree, self.joint_q.array, self.body_q.array)

    def _record_integrate(self) -> None:
        launch_integrate(self._tree, self.joint_q.array, self._step.array, self._next_q.array)

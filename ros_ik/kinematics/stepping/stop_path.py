# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Samples of the paths of steps and of the stops after them, for checks against barriers.

:mod:`ros_ik.kinematics.stepping.stop_functions` has the formulas.
"""

from collections.abc import Iterable
import dataclasses
import functools
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_struct
from ros_ik.kinematics.stepping.step_tree import make_step_tree
from ros_ik.kinematics.stepping.stop_functions import motion_at_function
from ros_ik.kinematics.stepping.stop_functions import place_stop_function
from ros_ik.kinematics.stepping.stop_functions import stop_path_struct
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import shares_launch_lock

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


@no_type_check
@functools.cache
def place_stops_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel that computes every robot at every sample, with a thread for each."""
    place_stop, motion_at = place_stop_function(scalar), motion_at_function(scalar)
    Path = stop_path_struct(scalar)

    @wp.func
    def time_of(path: Path, robot: int, sample: int) -> scalar:
        if sample == 0:
            return scalar(0.0)
        return scalar(1.0) + wp.ceil(path.parts[sample] * path.horizon[robot])

    @compiled_kernel(registers=242)
    def place_stops(path: Path, skips: bool):
        robot, sample = wp.tid()
        n = path.step.shape[0]
        time = time_of(path, robot, sample)
        path.times[robot, sample] = time
        # A short stop uses fewer samples than are allocated.
        if sample == 0 or not skips or time > time_of(path, robot, sample - 1):
            place_stop(path, robot, sample * n + robot, time)
        if sample == path.times.shape[1] - 1:
            for dof in range(path.step.shape[1]):
                displacement, travel = motion_at(path, robot, dof, time)
                path.travel[robot, dof] = travel

    return place_stops


class StopPath:
    """Storage for the paths of the robots of a state.

    Attributes:
        arrays: Struct of :func:`stop_path_struct`.
        n_samples: Number of samples.
    """

    @shares_launch_lock
    def __init__(
        self,
        state: 'StepState',
        tree: KinematicTree,
        links: Iterable[int] | None,
        step: wp.array,
        slowdown: wp.array,
        jerk: wp.array,
        parts: np.ndarray,
    ) -> None:
        """Allocate.

        Args:
            state: State of the robots.
            tree: Kinematic tree of the model in the type of ``state``.
            links: Links whose poses are needed; None for all.
            step: The step, read at each launch, [n, joint_dof_count].
            slowdown: Decrease of each degree of freedom's speed per step, read at each launch,
                [joint_dof_count].
            jerk: Largest difference of successive changes, read at each launch,
                [joint_dof_count]; inf for no limit. ``arrays.stops`` is read only for a limit.
            parts: Fractions of the stop at which there is a sample, ascending from 0, the end of
                the step, to 1.
        """
        scalar, device, n = state.scalar, state.device, state.n_robots
        dofs, coords = state.model.joint_dof_count, state.model.joint_coord_count
        types = spatial_functions(scalar)
        self._kernel, self._device = place_stops_kernel(scalar), device
        self.n_samples = len(parts) + 1
        rows = (self.n_samples + 1) * n
        self.arrays = arrays = stop_path_struct(scalar)()
        arrays.tree = tree.arrays
        order = tree.arrays.joint_order.numpy()
        arrays.nodes = make_step_tree(state.model, order, links, scalar)
        arrays.joint_q, arrays.step, arrays.slowdown = state.joint_q, step, slowdown
        arrays.jerk = jerk
        arrays.parts = wp.array([0.0, *parts], dtype=scalar, device=device)
        for name, dtype, shape in (
            ('horizon', scalar, (n,)),
            ('times', scalar, (n, self.n_samples)),
            ('displacement', scalar, (rows, dofs)),
            ('q', scalar, (rows, coords)),
            ('body_q', types.transform, (rows, state.model.body_count)),
            ('joint_S_s', types.twist, (rows, dofs)),
            ('travel', scalar, (n, dofs)),
            ('stops', jerk_limited_stop_struct(scalar), (n, dofs)),
        ):
            setattr(arrays, name, wp.zeros(shape, dtype=dtype, device=device))

    def launch_place(self, *, skips: bool = True) -> None:
        """Compute every robot at every sample of its path; allocates nothing.

        Args:
            skips: True if samples that coincide with the previous one may be omitted.
        """
        n = self.arrays.step.shape[0]
        launch(
            self._kernel,
            (n, self.n_samples),
            inputs=[self.arrays, skips],
            device=self._device,
        )

    def body_q(self, sample: int) -> wp.array:
        """Return the link poses of all robots at a sample, [n, body_count]."""
        n = self.arrays.step.shape[0]
        return self.arrays.body_q[sample * n : (sample + 1) * n]


@dataclasses.dataclass
class PathCheck:
    """Inputs and outputs of barriers' checks of paths.

    Attributes:
        path: The paths.
        tolerance: Tolerated violation of a value, [1].
        between: True to check between two samples as well.
        unsafe: Output, int32 [n, barriers]: set for a barrier that is not safe, never cleared.
        cut: Output, int32 [n, joint_dof_count]: set for degrees of freedom that move a value that
            gets worse or, with ``between``, one that shrinks below the floor; never cleared. Has
            no columns if it is not needed.
    """

    path: StopPath
    tolerance: wp.array
    between: bool
    unsafe: wp.array
    cut: wp.array

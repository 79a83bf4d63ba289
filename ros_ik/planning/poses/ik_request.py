# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse-kinematics request of a planner, its checks, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Sized
import dataclasses
import enum

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.model.conventions.checks import as_number
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.conventions.checks import checked_text
from ros_ik.model.conventions.poses import multiply
from ros_ik.model.conventions.poses import pose_rows
from ros_ik.numbers import real_array
from ros_ik.planning.context.budget import argument_errors_as_request_errors
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.planner import Planner
from ros_ik.solvers.default_tolerances import POSITION_TOLERANCE
from ros_ik.solvers.default_tolerances import ROTATION_TOLERANCE
from ros_ik.solvers.pose_batches.choice import N_CANDIDATES
from ros_ik.solvers.pose_batches.choice import PREFERENCES
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.search.setup import seen_from_bases

Seed = tuple[Sequence[str], Sequence[float]]


class PoseCode(enum.IntEnum):
    """Result of one pose or goal set; the constants of SolveIk.srv."""

    CONVERGED = 0
    UNREACHABLE = 1
    IN_COLLISION = 2
    NON_FINITE_INPUT = 3
    TIMED_OUT = 4


@dataclasses.dataclass(frozen=True, eq=False)
class IkRequest:
    """Target poses of a frame.

    Attributes:
        poses: Targets in the reference frame, shape [n, 7], x y z qx qy qz qw.
        link: Link to move; '' selects the controlled frame of the first frame task.
        reference_frame: Link in whose frame the poses are given; '' selects the base frame.
        seeds: Names and positions [rad or m] of joints, one per problem, one for all, or none.
        max_solutions: Maximum number of distinct solutions per problem; 0 counts as 1.
        check_collisions: True to reject solutions in collision with the robot itself or an
            obstacle.
        position_tolerance: Position tolerance [m]; 0 selects the default.
        rotation_tolerance: Orientation tolerance [rad]; 0 selects the default.
        threads: Number of threads per slice.
        joint_group: Group or chain, as for :meth:`Model.joint_group`, that restricts the node's
            joints; '' selects all of them.
        n_goals: Size of goal sets. A problem is solved if any one of this number of consecutive
            poses is reached; 0 counts as 1.
        position_tolerances: Tolerances along x, y and z [m] instead of position_tolerance, inf for
            a free axis; empty if there are none.
        rotation_tolerances: Tolerances of the components of the rotation vector [rad] instead of
            rotation_tolerance, likewise.
        tolerance_frame: Frame of these axes, 'target' or 'tool'; '' selects the target.
        base_poses: Poses of the reference frame in the frame of the poses, shape [k, 7], one per
            problem, one for all, or none if the two frames are the same.
        preference: 'seed', 'middle' or 'manipulability', see :func:`inverse_kinematics`; ''
            selects the seed.
    """

    poses: np.ndarray
    link: str = ''
    reference_frame: str = ''
    seeds: Sequence[Seed] = ()
    max_solutions: int = 1
    check_collisions: bool = False
    position_tolerance: float = 0.0
    rotation_tolerance: float = 0.0
    threads: int = 1
    joint_group: str = ''
    n_goals: int = 1
    position_tolerances: Sequence[float] = ()
    rotation_tolerances: Sequence[float] = ()
    tolerance_frame: str = ''
    base_poses: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 7)))
    preference: str = ''

    def check(self) -> None:
        """Check the types and shapes of the fields; names and ranges are checked later.

        Raises:
            RequestError: Another type or shape; the message names the field.
        """
        with argument_errors_as_request_errors():
            for name in (
                'link', 'reference_frame', 'joint_group', 'tolerance_frame', 'preference',
            ):  # fmt: skip
                checked_text(name, getattr(self, name))
            for name, least in (('max_solutions', 0), ('n_goals', 0), ('threads', 1)):
                checked_count(name, getattr(self, name), least)
            checked_flag('check_collisions', self.check_collisions)
            for name in ('position_tolerance', 'rotation_tolerance'):
                as_number(name, getattr(self, name))
            for name in ('position_tolerances', 'rotation_tolerances'):
                axes = real_array(name, getattr(self, name))
                if axes.ndim != 1:
                    raise ArgumentError(f'{name} must be none or 3 positive numbers, got {axes}')
            for name in ('poses', 'base_poses'):
                rows = real_array(name, getattr(self, name))
                if rows.size and (rows.ndim != 2 or rows.shape[1] != 7):
                    raise ArgumentError(f'{name} must have shape [n, 7], got {list(rows.shape)}')
            if not isinstance(self.seeds, Sized):  # an iterator would be empty afterwards
                raise ArgumentError(f'seeds must be a list of seeds, got {self.seeds!r}')
            for k, seed in enumerate(checked_items('seeds', self.seeds, 'seeds')):
                if len(checked_items(f'seeds[{k}]', seed, 'names and positions')) != 2:
                    raise ArgumentError(f'seeds[{k}] must be names and positions, got {seed!r}')
                checked_items(f'the names of seeds[{k}]', seed[0], 'joint names')
                real_array(f'the positions of seeds[{k}]', seed[1])

    @property
    def set_size(self) -> int:
        """Number of poses per problem."""
        return max(1, self.n_goals)

    @property
    def n_problems(self) -> int:
        """Number of problems, one per goal set.

        Raises:
            RequestError: There are no poses, or the last goal set is not complete.
        """
        count, left = divmod(len(self.poses), self.set_size)
        if not len(self.poses):
            raise RequestError('poses must have at least one entry, got none')
        if left:
            raise RequestError(
                f'n_goals: {len(self.poses)} poses are not a multiple of {self.set_size}'
            )
        return count

    @property
    def n_solutions(self) -> int:
        """Number of solutions to search per pose."""
        return searched_solutions(self.max_solutions, self.preference)

    def checked_preference(self) -> str:
        """Return the preference.

        Raises:
            RequestError: The preference is unknown.
        """
        if self.preference and self.preference not in PREFERENCES:
            raise RequestError(
                f'preference must be one of {", ".join(PREFERENCES)}, got {self.preference!r}'
            )
        return self.preference or 'seed'

    def checked_tolerance(self) -> PoseTolerance:
        """Return the tolerances.

        Raises:
            RequestError: A tolerance is out of range, the number of axes is not 3, the frame is
                unknown, or all axes are free.
        """
        for name in ('position_tolerance', 'rotation_tolerance'):
            value = getattr(self, name)
            if not value >= 0.0:
                raise RequestError(f'{name} must not be negative, got {value}')
        with argument_errors_as_request_errors():
            return PoseTolerance.checked(
                _axes_of('position_tolerances', self.position_tolerances)
                or self.position_tolerance or POSITION_TOLERANCE,
                _axes_of('rotation_tolerances', self.rotation_tolerances)
                or self.rotation_tolerance or ROTATION_TOLERANCE,
                self.tolerance_frame or 'target',
            )  # fmt: skip

    def targets_in_world(self, planner: Planner, reference: int) -> np.ndarray:
        """Return the poses in the world, at the measured configuration, [n, 7].

        Args:
            planner: The robot.
            reference: Index of the link of ``reference_frame``.

        Raises:
            RequestError: The number of base poses is not that of the problems.
        """
        n, targets = self.n_problems, self.poses
        if len(self.base_poses) not in (0, 1, n):
            raise RequestError(
                f'base_poses must be none, one, or one per problem ({n}), got '
                f'{len(self.base_poses)}'
            )
        if len(self.base_poses):
            targets = seen_from_bases(self.base_poses, targets, self.set_size)
        frame = planner.body_poses(planner.joint_q[None])[0, reference]
        return multiply(frame, pose_rows(targets))


@dataclasses.dataclass(frozen=True, eq=False)
class IkAnswer:
    """Answer to a request for configurations.

    Attributes:
        joint_names: Joints of the solutions.
        pose_index: Index of the pose of each solution, int [m]; ascending, except within a goal
            set, whose solutions are in the order of the preference.
        positions: Positions of these joints, shape [m, len(joint_names)].
        position_errors: Distance of each solution to its pose [m], without free axes, [m].
        rotation_errors: Angle of each solution to its pose [rad], likewise, [m].
        codes: :class:`PoseCode` of each problem, uint8 [n_problems].
        complete: True if collisions were checked, with the shapes of all links and at known
            positions of the joints.
        unknown_joints: Joints on which collisions depend and whose state is unknown; empty without
            a check. They count as being at their last positions, or at neutral ones.
    """

    joint_names: tuple[str, ...]
    pose_index: np.ndarray
    positions: np.ndarray
    position_errors: np.ndarray
    rotation_errors: np.ndarray
    codes: np.ndarray
    complete: bool = False
    unknown_joints: tuple[str, ...] = ()


def searched_solutions(max_solutions: int, preference: str) -> int:
    """Return the number of solutions to search per pose; a preference selects among several."""
    least = 1 if preference in ('', 'seed') else N_CANDIDATES
    return max(least, max_solutions)


def _axes_of(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Return tolerances by axis, none or three."""
    axes = tuple(map(float, values))
    if len(axes) not in (0, 3) or not all(value > 0.0 for value in axes):
        raise RequestError(f'{name} must be none or 3 positive numbers, got {list(axes)}')
    return axes

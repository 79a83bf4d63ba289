# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of control barrier functions: h(q) >= 0 is safe, and a step uses up only part of h.

    dh/dq dq / dt >= -gain (h - margin) / (1 + |h - margin|)

(Ames et al., "Control barrier functions: theory and applications", ECC 2019. The saturating
class-K function is that of roboplan and pink.) If a barrier is violated, the right side is
positive, so h must grow in the step. Subclasses compute h and dh/dq; the solver makes the
inequalities.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar
from typing import NamedTuple
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.limits.step_constraint import StepConstraint

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState
    from ros_ik.kinematics.stepping.stop_path import PathCheck


class StepBox(NamedTuple):
    """Bounds and gains of a step, from which a barrier selects its rows.

    Attributes:
        lower: Least step of each variable, shape [n, n_variables].
        upper: Largest step of each variable, shape [n, n_variables].
        gain: Gain of each barrier of the program, shape [barriers].
        number: Index of the barrier among them.
    """

    lower: wp.array
    upper: wp.array
    gain: wp.array
    number: int


class Evasion(NamedTuple):
    """Recovery from shallow violations, see :meth:`Barrier.set_evasion`.

    Attributes:
        speed: Joint speed [rad/s or m/s]; 0 for none.
        depth: Largest depth of a shallow violation, in units of h.
    """

    speed: float = 0.0
    depth: float = 0.0


class Barrier(StepConstraint):
    """Base of barriers.

    Attributes:
        name: Name of the barrier in status texts; '' for none.
        changes: Number of changes of gains over all barriers, a quick test that nothing changed.
        margin: Value of h that the step treats as the boundary, in units of h.
        safe_displacement_gain: Weight of the cost gain / S |dq|^2, with S the sum of |dh/dq|^2
            over the rows. It damps every step while the barrier has rows, at any distance; 0
            disables it.
        recovery_speed: Bound on the growth of h that a violated row requires: |dh/dq| times this
            joint speed [rad/s or m/s]. Without a bound, the robot would leave a violation at high
            speed where h hardly depends on its motion. docs/control_steps.md has further effects
            of a finite value. Read at the first solve.
        is_recordable: True if solvers may replay the launches of a user's class, see
            :class:`~ros_ik.IKObjective`. Without it they call its methods in each solve.
        splits: True if the launch methods may be called for parts of a large batch, with
            ``_state`` the state of the part. A barrier with an array per robot must then read its
            rows through :meth:`StepState.rows`.
        is_checked: True if :meth:`launch_values` computes h from link poses alone, so that a step
            can be checked at q + dq.
        sweeps: True if there is a :meth:`launch_sweep`, which saves most of the time of stop
            checks.
        follows: True if there is a :meth:`launch_follow`. Without it, a stop check evaluates
            :meth:`launch_values` at sampled configurations of a stop, and not between them.
    """

    read_once = frozenset(('margin', 'safe_displacement_gain', 'recovery_speed'))
    changes: ClassVar[int] = 0
    recovery_speed: float = np.inf
    splits = is_recordable = False
    is_checked = True
    sweeps = follows = False

    _gain = np.nan
    _evasion = Evasion()

    def __init__(
        self,
        *,
        gain: float = 1.0,
        margin: float = 0.0,
        safe_displacement_gain: float = 1.0,
        name: str = '',
    ) -> None:
        """Check and keep the parameters.

        Args:
            gain: Fraction of h that may be used up per second [1/s], positive.
            margin: Value of h that the step treats as the boundary, in units of h, not negative.
            safe_displacement_gain: Weight of the damping cost, not negative.
            name: Name of the barrier in status texts.

        Raises:
            ArgumentError: A value outside its range.
        """
        self.gain = gain
        self.margin = checked_number('margin', margin)
        self.safe_displacement_gain = checked_number(
            'safe_displacement_gain', safe_displacement_gain
        )
        if not isinstance(name, str):
            raise ArgumentError(f'name must be a string, got {name!r}')
        self.name = name

    @property
    def gain(self) -> float:
        """Fraction of h that may be used up per second [1/s]; may be set between solves."""
        return self._gain

    @gain.setter
    def gain(self, value: float) -> None:
        gain = checked_number('gain', value, positive=True)
        if gain != self._gain:
            self._gain = gain
            Barrier.changes += 1

    @property
    def evasion(self) -> Evasion:
        """Recovery from shallow violations."""
        return self._evasion

    def set_evasion(self, speed: float, depth: float) -> None:
        """Let the robot leave shallow violations faster; may be called between solves.

        While no violation of the barriers with an evasion is deeper than ``depth``, this speed
        takes the place of a lower finite ``recovery_speed``. The push outwards grows with 40 % of
        the accelerations. It stays in force where something then follows the robot deeper.

        Args:
            speed: Largest joint speed that leaving may require [rad/s or m/s]; 0 for none.
            depth: Largest depth of a shallow violation, in units of h.

        Raises:
            ArgumentError: A value that is negative or not finite.
        """
        evasion = Evasion(checked_number('speed', speed), checked_number('depth', depth))
        if evasion != self._evasion:
            self._evasion = evasion
            Barrier.changes += 1

    @property
    def row_count(self) -> int:
        """Number of values h that the barrier has."""
        raise NotImplementedError

    def links(self) -> Iterable[int] | None:
        """Return the links whose poses the barrier reads; None for all, which is slower."""
        return None

    @shares_launch_lock
    def bind(self, state: StepState) -> None:
        """Allocate the arrays of the barrier; call before the first launch.

        Raises:
            ArgumentError: The barrier belongs to another solver, whose graph refers to its arrays,
                or it does not match the model.
        """
        title = f'{type(self).__name__} {self.name!r}' if self.name else type(self).__name__
        if self._is_bound_to(state, title):
            return
        for link in self.links() or ():
            if not -1 <= link < state.model.body_count:
                raise ArgumentError(
                    f'{title}: there is no link {link}; the {state.model.body_count} links of the '
                    'model are numbered from 0'
                )
        try:
            self._allocate(state)
        except ArgumentError as error:
            raise ArgumentError(f'{title}: {error}') from error
        self._set_bound(state)

    def launch_values(self, body_q: wp.array, values: wp.array, start_idx: int) -> None:
        """Write h into ``values[:, start_idx:start_idx + row_count]``.

        For several robots on a GPU, arrays may not be contiguous; see
        :mod:`ros_ik.kinematics.runtime.batch_layout`.

        Args:
            body_q: Link poses in the world, shape [n, body_count].
            values: Output, shape [n, total_rows].
            start_idx: First row of this barrier.
        """
        raise NotImplementedError

    @property
    def check_row_count(self) -> int:
        """Number of values that :meth:`launch_check_values` writes."""
        return self.row_count

    def launch_check_values(self, body_q: wp.array, values: wp.array, start_idx: int) -> None:
        """Write every h that a motion may make worse, each always into the same column.

        :meth:`launch_values` may write only the least ones.

        Args:
            body_q: Link poses in the world, shape [n, body_count].
            values: Output, shape [n, total_check_rows].
            start_idx: First of ``check_row_count`` rows.
        """
        self.launch_values(body_q, values, start_idx)

    def launch_sweep(self, travel: wp.array, may_fall: wp.array) -> None:
        """Mark the robots for which some h may fall below zero in a motion from this state.

        Args:
            travel: Bounds on the motion of each degree of freedom [rad or m], shape [n,
                joint_dof_count]. Signs are ignored.
            may_fall: Output, int32 [n]. Set to 1 unless every h is proved to stay at zero or
                above for all motions within the bounds; never cleared.
        """
        raise NotImplementedError

    def launch_follow(self, check: PathCheck, column: int) -> None:
        """Mark the robots for which some h gets worse on the path of a step.

        h gets worse where it is both below ``-tolerance`` and below an earlier value. The
        present state, with its link poses and motion subspaces, is the start of the paths.

        Args:
            check: The paths and the output arrays.
            column: Column of ``check.unsafe`` that is set to 1.
        """
        raise NotImplementedError

    def launch_jacobian(self, jacobian: wp.array, start_idx: int) -> None:
        """Write dh/dx of the step's variables into the rows of this barrier.

        A degree of freedom adds ``dof_scale`` times its derivative to the column ``dof_variable``.
        Both are arrays of ``_state``; several may share a column, as a mimic joint and its driver
        do. :func:`ros_ik.link_dofs` gives those that move a link.

        Args:
            jacobian: Output, shape [n, total_rows, n_variables]; every column is written.
            start_idx: First row of this barrier.
        """
        raise NotImplementedError

    @property
    def step_row_count(self) -> int:
        """Number of rows that the quadratic program of a step has for this barrier."""
        return self.row_count

    def launch_rows(self, box: StepBox, values: wp.array, jacobian: wp.array, start: int) -> None:
        """Write h and dh/dx of this barrier's rows of a quadratic program, at the current state.

        A barrier may select which of its values get a row. An inactive row has h = inf.

        Args:
            box: Bounds and gains of the step.
            values: Output, shape [n, total_rows].
            jacobian: Output, shape [n, total_rows, n_variables].
            start: First of ``step_row_count`` rows.
        """
        self.launch_values(self._state.body_q, values, start)
        self.launch_jacobian(jacobian, start)

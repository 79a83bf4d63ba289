# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tasks, limits and barriers of a control step, bound to the state of their solver."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.limits import Limit
from ros_ik.solvers.differential_ik.checks.barrier_evaluation import links_of
from ros_ik.solvers.differential_ik.shared_graphs import MAX_PART_SIZE
from ros_ik.solvers.differential_ik.tasks.task import Task
from ros_ik.solvers.differential_ik.tasks.tasks import FusedTasks
from ros_ik.solvers.differential_ik.tasks.tasks import has_levels
from ros_ik.solvers.differential_ik.tasks.tasks import is_fusible
from ros_ik.solvers.differential_ik.tasks.tasks import RowTasks
from ros_ik.solvers.differential_ik.tasks.tasks import set_up_objectives


@dataclasses.dataclass(frozen=True, eq=False)
class StepParts:
    """Tasks, limits and barriers of a step.

    Attributes:
        state: State of all robots, which limits and barriers read.
        fused: Tasks of the fused kernel.
        rows: Tasks that are given as rows, or None.
        limits: Hard limits in order of precedence.
        barriers: Barriers.
    """

    state: StepState
    fused: FusedTasks
    rows: RowTasks | None
    limits: tuple[Limit, ...]
    barriers: tuple[Barrier, ...]

    @classmethod
    def bind(
        cls,
        state: StepState,
        tasks: Sequence[Task],
        limits: Sequence[Limit],
        barriers: Sequence[Barrier],
    ) -> StepParts:
        """Allocate the arrays of tasks, limits and barriers.

        Raises:
            ArgumentError: An objective without an analytic Jacobian, or a task, limit or barrier
                that does not fit the model.
        """
        set_up_objectives(tasks, state)
        limits = tuple(sorted(limits, key=lambda limit: limit.precedence))
        for limit in limits:
            limit.bind(state)
        for barrier in barriers:
            barrier.bind(state)
        by_level = has_levels(tasks)
        fused = FusedTasks([] if by_level else [task for task in tasks if is_fusible(task)], state)
        rest = [task for task in tasks if task not in fused.tasks]
        rows = RowTasks(rest, state, by_level=by_level) if rest else None
        return cls(state, fused, rows, limits, tuple(barriers))

    @property
    def links(self) -> set[int] | None:
        """Links whose poses are read, None for all."""
        of_barriers = links_of(self.barriers)
        if self.rows is not None or self.fused.links is None or of_barriers is None:
            return None
        return self.fused.links | of_barriers

    @property
    def splits(self) -> bool:
        """True if the batch may be recorded in parts."""
        return (
            not wp.get_device(self.state.device).is_cuda
            and self.state.n_robots > MAX_PART_SIZE
            and self.rows is None
            and all(limit.splits for limit in self.limits)
            and all(barrier.splits for barrier in self.barriers)
        )

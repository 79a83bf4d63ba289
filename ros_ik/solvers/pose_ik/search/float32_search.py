# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Search in float32, whose solutions are the starts of the search in float64.

A GPU computes twice as fast in float32 and needs half the registers, so that a batch that more
than fills it takes less time. From a solution in float32, one or two iterations in float64 lead to
one within any tolerance. Problems without one begin at their seed, as without this search.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import TYPE_CHECKING

import warp as wp

from ros_ik.kinematics.runtime.kernel_launch import exceeds_device
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.kernels.kernel import chain_ik_kernel
from ros_ik.solvers.pose_ik.kernels.start import start_kernel
from ros_ik.solvers.pose_ik.search.lane_plan import LanePlan
from ros_ik.solvers.pose_ik.search.phases import SearchPhases
from ros_ik.solvers.pose_ik.search.setup import make_chain
from ros_ik.solvers.pose_ik.search.setup import make_search

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain
    from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings

# Least tolerances in float32 [relative to the reach, rad], a hundred times what it resolves. The
# convergence is quadratic, so one iteration in float64 leads to the square of them.
_LEAST_TOLERANCE = 1e-4
# Iterations in float64 that are enough from nearly all solutions in float32.
_REFINED = 4
# Largest number of attempts for a problem: enough for all of 20,000 poses of a Panda; 16 for all
# but 18.
_MAX_ATTEMPTS = 64


def is_worth_float32(
    device: wp.Device, n_lanes: int, n_solutions: int, tolerance: PoseTolerance
) -> bool:
    """Return True if a batch takes less time with a search in float32.

    Args:
        device: Device of the search.
        n_lanes: Number of lanes of all problems.
        n_solutions: Number of solutions per pose.
        tolerance: Tolerances of a solution.
    """
    return exceeds_device(device, n_lanes) and n_solutions == 1 and not tolerance.by_axis


def refinement_plan(plan: LanePlan) -> LanePlan:
    """Return the lanes of the search in float64 that follows one in float32."""
    head_start = (plan.head_start,) if plan.lanes > 1 else ()
    return LanePlan(plan.lanes, plan.head_start, plan.lanes, ends=(_REFINED, *head_start))


class Float32Search:
    """Search of a batch in float32.

    Attributes:
        phases: Phases of the search.
    """

    def __init__(
        self,
        chain: SerialChain,
        settings: ChainIKSettings,
        tolerance: PoseTolerance,
        plan: LanePlan,
        n_problems: int,
        device: wp.Device,
    ) -> None:
        """Allocate.

        Args:
            chain: The chain.
            settings: Settings of the search.
            tolerance: Tolerances of a solution, of distance and angle.
            plan: Lanes of a problem.
            n_problems: Number of problems of the whole batch.
            device: Device of the search.
        """
        self._device, self._lanes = device, plan.lanes
        self.phases = SearchPhases(plan, n_problems, chain.n_variables, device)
        fewer = dataclasses.replace(
            settings, max_attempts=min(settings.max_attempts, _MAX_ATTEMPTS)
        )
        search = make_search(chain, fewer, tolerance, plan, wp.float32)
        distance, angle = tolerance.lengths
        search.position_tolerance = max(distance, _LEAST_TOLERANCE * chain.reach)
        search.rotation_tolerance = max(angle, _LEAST_TOLERANCE)
        self._problem = [make_chain(chain, wp.float32), search]
        self._kernel = chain_ik_kernel(wp.float32, chain.slides, chain.variables, chain.is_direct)

    def launch(
        self,
        count: int,
        first: int,
        poses: wp.array,
        seeds: wp.array,
        outputs: Sequence[Any],
        start_q: wp.array,
    ) -> None:
        """Search, and write the starts of the search in float64.

        Args:
            count: Number of problems.
            first: Index of the first problem.
            poses: Poses of the problems.
            seeds: Their seeds.
            outputs: Outputs of the kernel of the search, ``solved`` first, ready for the next
                search afterwards.
            start_q: Output, where the search in float64 begins, float64 [n_problems, m].
        """
        solved, solutions, found_at, found, *_ = outputs
        problem = [*self._problem, poses, seeds, seeds]
        self.phases.launch(self._kernel, count, first, problem, outputs)
        launch(
            start_kernel(),
            dim=count,
            inputs=[self._lanes, first, seeds, solutions, found_at, found],
            outputs=[start_q, solved],
            device=self._device,
        )

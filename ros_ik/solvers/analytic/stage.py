# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches that compute solutions of poses on the device, from candidates to refinement."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.kernel_launch import exceeds_device
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.lanes import lanes_on
from ros_ik.kinematics.runtime.lanes import threads_of
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.kinematics.runtime.row_list import RowList
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.solvers.analytic.candidates.sources import candidate_source
from ros_ik.solvers.analytic.refinement.accept import accept_kernel
from ros_ik.solvers.analytic.refinement.accept_and_verify import accept_and_verify_kernel
from ros_ik.solvers.analytic.refinement.all_turns import all_turns_kernel
from ros_ik.solvers.analytic.refinement.bit_mask import MASK_SIZE
from ros_ik.solvers.analytic.refinement.polish import refinement_struct
from ros_ik.solvers.analytic.refinement.refine import CANDIDATE_LANES
from ros_ik.solvers.analytic.refinement.refine import refine_kernel
from ros_ik.solvers.analytic.refinement.verify import launch_verification
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.structure.completion import Completion
from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.analytic.structure.structure import joint_axes
from ros_ik.solvers.pose_ik.search.setup import make_chain

# Number of poses that all kernels process before the next ones on a CPU, so that what they pass on
# stays in the cache: about 4 kB each.
_BLOCK = 256
# Branches that meet in an exact structure are, in an approximate one, about the square root of the
# deviation apart. The least singular value there is about as large.
_FOLD_FACTOR, _MAX_FOLD = 5.0, 0.1
# Solutions up to this far outside a limit are moved to it, if that keeps the tolerances [rad].
_AT_LIMIT = 1e-5
# Largest motion of a joint by polishing from the solution of exact axes [rad, reaches], and from
# that of approximate axes relative to the square root of their deviation, which includes twins.
_MARGIN, _MARGIN_FACTOR = 0.05, 1e3


def poses_at_once(n: int, device: wp.DeviceLike) -> int:
    """Return the number of poses of a launch, of n in all: a block on a CPU, all on a GPU."""
    return min(n, _BLOCK) if wp.get_device(device).is_cpu else n


@dataclasses.dataclass(frozen=True)
class StageArrays:
    """Device arrays of the solutions of n poses, s entries each.

    Attributes:
        solutions: Configurations of the chain, [n, s, joints], nearest to the seed first.
        distances: Their squared distances to the seed, [n, s].
        branch_of: Branch of each solution, of which it is a turn, [n, s].
        directions: See ``AllSolutions.free_direction``, [n, s, joints].
        singular: True for a singular solution, [n, s].
        n_exist: Number of solutions within the limits, [n].
        n_branches: Number of solutions without regard to limits, [n].
        n_beside: Number of solutions just outside the limits, in the entries after the others,
            [n].
        least_cost: Cost of the first entry if there is no solution, [n]; inf without a search.
    """

    solutions: Any
    distances: Any
    branch_of: Any
    directions: Any
    singular: Any
    n_exist: Any
    n_branches: Any
    n_beside: Any
    least_cost: Any

    @classmethod
    def allocate(
        cls, n: int, n_entries: int, joints: int, device: wp.DeviceLike, **given: Any
    ) -> StageArrays:
        """Allocate zeros, except for arrays that are given by name."""
        shapes = {
            'solutions': ((n, n_entries, joints), wp.float64),
            'distances': ((n, n_entries), wp.float64),
            'branch_of': ((n, n_entries), wp.int32),
            'directions': ((n, n_entries, joints), wp.float64),
            'singular': ((n, n_entries), wp.bool),
            'n_exist': ((n,), wp.int32),
            'n_branches': ((n,), wp.int32),
            'n_beside': ((n,), wp.int32),
            'least_cost': ((n,), wp.float64),
        }
        for name, (shape, kind) in shapes.items():
            if name not in given:
                given[name] = batch_zeros(shape, kind, device)
        return cls(**given)

    def rows(self, rows: slice) -> StageArrays:
        """Return views of the rows of some poses."""
        return StageArrays(*(array[rows] for array in self.all()))

    def existing(self) -> list[Any]:
        """Return the arrays that the verification reads."""
        return [self.solutions, self.n_exist, self.n_branches]

    def all(self) -> list[Any]:
        """Return the arrays in the order of the attributes."""
        return [getattr(self, field.name) for field in dataclasses.fields(self)]


class SolutionStage:
    """Kernels that compute the solutions of poses for a chain of up to six joints.

    Attributes:
        n_problems: Largest number of poses of a launch.
        source: Source of the candidates.
        n_listed: Number of poses that :meth:`launch_usual` has left to :meth:`launch_rest`, shape
            [1], a view of the memory of a CPU. None if it leaves none.
        all_turns: True if all turns of a joint within its limits are separate solutions.
        position_tolerance: Largest distance of a solution [m].
        length: Weight of a radian in the cost of a configuration of least error [m].
    """

    def __init__(
        self,
        chain: SerialChain,
        form: ClosedForm,
        made: list[Completion],
        settings: ClosedFormSettings,
        n_problems: int,
        *,
        free: np.ndarray,
        all_turns: bool,
        device: wp.DeviceLike,
        is_direct: bool = False,
        sparse: bool = False,
        beside: float = 0.0,
    ) -> None:
        """Compile and allocate.

        Args:
            chain: The chain.
            form: Its closed form.
            made: Its completions.
            settings: Tolerances and other settings.
            n_problems: Largest number of poses of a launch.
            free: Axes of free rotations of the tool, [0, 1 or 3, 3].
            all_turns: See :class:`ClosedFormIK`.
            device: Warp device.
            is_direct: True if the joints of the chain are all joints on the way to the tool, and
                revolute.
            sparse: True to leave unused entries unchanged; otherwise those of ``singular`` are
                set to False.
            beside: Largest distance of kept solutions outside the limits [rad, reaches].
        """
        self.n_problems = n_problems
        self._device, self._kind = device, (len(chain.slides), any(chain.slides), len(free) > 0)
        self.all_turns, self._lanes = all_turns, lanes_on(device, CANDIDATE_LANES)
        reach = joint_axes(chain).reach
        margin = beside + _MARGIN
        # General axes are exact, too.
        exact = form.exact or made[0].chart is None
        if not exact:
            margin += _MARGIN_FACTOR * form.deviation**0.5
        far = margin * np.where(chain.slides, reach, 1.0)
        self.source = candidate_source(
            made, exact, n_problems, device, (chain.lower - far, chain.upper + far)
        )
        self.position_tolerance = settings.position_tolerance_at(reach)
        self._refinement = refinement = refinement_struct()()
        refinement.position_tolerance = self.position_tolerance
        refinement.rotation_tolerance = settings.rotation_tolerance
        refinement.length = self.length = settings.length * reach
        refinement.reach = reach
        refinement.free_turns = len(free)
        # Without a free axis, any value will do.
        refinement.free_axis = wp.vec3d(*(free[0] if len(free) == 1 else np.zeros(3)))
        refinement.slack = self.source.slack
        refinement.margin = margin
        refinement.beside = beside
        refinement.separation = settings.separation
        refinement.singular_value = settings.singular_value
        if not exact:
            refinement.fold_value = min(_MAX_FOLD, _FOLD_FACTOR * form.deviation**0.5)
        refinement.at_limit = _AT_LIMIT
        refinement.steps = settings.max_steps
        refinement.sparse = int(sparse)
        self._chain = make_chain(chain)
        # Poses without a singular or inexact candidate, and without more to look for, are solved
        # by a kernel of their own.
        simple = exact and not (all_turns or sparse or beside)
        simple = simple and self.source.candidates.shape[1] <= MASK_SIZE
        large = exceeds_device(wp.get_device(device), n_problems)
        self._left = RowList(n_problems, device) if simple and large else None
        # That of a CPU verifies the solutions, too.
        together = self._lanes > 1 and is_direct and len(free) == 0 and self._left is None
        self._unverified = RowList(n_problems, device) if simple and together else None
        # Axes of a spherical wrist are in a plane in singular configurations only, others seldom.
        chart, has_six = made[0].chart, len(chain.slides) == 6
        self._wrist = tuple(sorted(chart.order[3:])) if chart is not None and has_six else None
        self.n_listed: Any = None if self._unverified is None else self._unverified.size_on_host()

    def launch(self, poses: Any, seeds: Any, out: StageArrays, *, least_error: bool) -> None:
        """Enqueue the kernels for poses [n] and seeds [n, joints].

        Without ``least_error``, the result of a pose without a solution is the seed.
        """
        self._launch_source(poses, seeds, least_error)
        arrays = [poses, seeds, self.source.candidates, self.source.misses, *out.all()]
        rows = row_list_functions().Rows()
        if self._left is not None:
            launch(
                accept_kernel(*self._kind), dim=poses.shape[0],
                inputs=[self._chain, self._refinement, *arrays], outputs=[self._left.marked],
                device=self._device,
            )  # fmt: skip
            self._left.gather()
            rows = self._left.rows
        self._refine(rows, arrays)

    def launch_usual(
        self,
        poses: Any,
        seeds: Any,
        out: StageArrays,
        model: list[Any],
        outputs: Sequence[Any],
        *,
        least_error: bool,
    ) -> None:
        """Enqueue the kernels and the verification, except for what :meth:`launch_rest` enqueues.

        Args:
            poses: Poses [n].
            seeds: Seeds [n, joints].
            out: Arrays of the solutions. Only ``n_exist``, ``directions`` and ``singular`` are
                written for all poses.
            model: Tree and placement of the model.
            outputs: Arrays of the verified solutions, see :func:`launch_verification`.
            least_error: See :meth:`launch`.
        """
        if self._unverified is None:
            self.launch(poses, seeds, out, least_error=least_error)
            launch_verification([*model, poses, seeds, *out.existing()], outputs, self._device)
            return
        self._launch_source(poses, seeds, least_error)
        _tree, placement = model
        source = [self.source.candidates, self.source.misses]
        launch(
            accept_and_verify_kernel(self._kind[0], self._lanes, self._wrist), dim=1,
            inputs=[self._chain, self._refinement, placement, poses, seeds, *source],
            outputs=[
                self._unverified.rows, out.directions, out.singular, out.n_exist, *outputs,
            ],
            device=self._device,
        )  # fmt: skip

    def launch_rest(
        self, poses: Any, seeds: Any, out: StageArrays, model: list[Any], outputs: Sequence[Any]
    ) -> None:
        """Enqueue the kernels for the poses that :meth:`launch_usual` has listed.

        The arguments are the same. If ``n_listed`` is 0, these launches do nothing.
        """
        if self._unverified is not None:
            source = [self.source.candidates, self.source.misses]
            rows = self._unverified.rows
            self._refine(rows, [poses, seeds, *source, *out.all()])
            inputs = [*model, poses, seeds, *out.existing()]
            launch_verification(inputs, outputs, self._device, rows)

    def launch_turns(self, poses: Any, seeds: Any, out: StageArrays) -> None:
        """Enqueue the addition of all turns to poses whose only solution is in the first entry."""
        launch(
            all_turns_kernel(*self._kind),
            dim=poses.shape[0],
            inputs=[self._chain, self._refinement, poses, seeds],
            outputs=[out.solutions, out.distances, out.branch_of, out.n_exist],
            device=self._device,
        )

    def _launch_source(self, poses: Any, seeds: Any, least_error: bool) -> None:
        self._refinement.least_error = int(least_error)
        self.source.launch([poses, seeds], bounded=not least_error)

    def _refine(self, rows: Any, arrays: list[Any]) -> None:
        launch(
            refine_kernel(*self._kind, self.all_turns, self._lanes),
            dim=threads_of(self._lanes, arrays[0].shape[0]),
            inputs=[self._chain, self._refinement, rows, *arrays],
            device=self._device,
        )

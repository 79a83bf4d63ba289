# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sources of candidates: closed forms, six general axes, and chains with fewer joints."""

from __future__ import annotations

from typing import Any
from typing import Protocol

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.lanes import lanes_on
from ros_ik.kinematics.runtime.lanes import threads_of
from ros_ik.solvers.analytic.candidates.candidates import axes_struct
from ros_ik.solvers.analytic.candidates.candidates import candidates_kernel
from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.candidates.candidates import PAIR_LANES
from ros_ik.solvers.analytic.candidates.completion_kernels import gather_kernel
from ros_ik.solvers.analytic.candidates.completion_kernels import scatter_kernel
from ros_ik.solvers.analytic.candidates.general_axes.general_source import GeneralSource
from ros_ik.solvers.analytic.candidates.general_axes.general_source import transform_of
from ros_ik.solvers.analytic.candidates.slide_candidates import slide_axes_struct
from ros_ik.solvers.analytic.candidates.slide_candidates import slide_candidates_kernel
from ros_ik.solvers.analytic.structure.charts import Chart
from ros_ik.solvers.analytic.structure.charts import SlideChart
from ros_ik.solvers.analytic.structure.completion import Completion
from ros_ik.solvers.analytic.structure.structure import Axes
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily

# Largest residuals of roots. For an exact structure they are the rounding of some hundred
# operations. For an approximate structure they are a multiple of the square root of its deviation,
# because this is the error of the first angles where two branches meet.
_EXACT_SLACK, _SLACK_FACTOR = 1e-8, 30.0
# Angles of locked joints up to which a candidate is polished [rad]. Their error is the rounding of
# a pose over the least singular value of the six joints, or its square root if that is zero.
_LOCKED_SLACK = 1e-2
_JOINTS = 6
# Lower and upper limits by joint, [n] each.
Limits = tuple[np.ndarray, np.ndarray]


class CandidateSource(Protocol):
    """Interface of sources, which write the candidates of each solve.

    Attributes:
        candidates: Configurations, Warp array [n_problems, room, joints].
        misses: Residuals of their equations, Warp array [n_problems, room]; inf for unused
            entries.
        slack: Largest residual of a candidate that is polished.
    """

    candidates: Any
    misses: Any
    slack: float

    def launch(self, problem: list[Any], *, bounded: bool = False) -> None:
        """Enqueue the kernels and copies for arrays of poses and seeds.

        Closed forms of six joints also accept fewer poses than were allocated. With ``bounded``
        they may leave out candidates outside the limits, and starts of the search for the nearest
        configuration of an unreachable pose.
        """


class KernelSource:
    """Candidates of a closed form; the attributes are those of :class:`CandidateSource`."""

    def __init__(
        self,
        chart: Chart | SlideChart,
        axes: Axes,
        exact: bool,
        n_problems: int,
        device: wp.DeviceLike,
        limits: Limits | None = None,
    ) -> None:
        """Compile and allocate."""
        self.slack = _EXACT_SLACK if exact else _SLACK_FACTOR * chart.deviation**0.5
        self._kernel, self._chart = _kernel_of(chart, device)
        _fill_axes(self._chart, chart, axes, exact, self.slack, device)
        is_slide = isinstance(chart, SlideChart)
        self._lanes = 1 if is_slide else lanes_on(device, PAIR_LANES)
        self._has_limits = limits is not None and not is_slide
        if limits is not None and self._has_limits:
            self._chart.lower = wp.array(limits[0], dtype=wp.float64, device=device)
            self._chart.upper = wp.array(limits[1], dtype=wp.float64, device=device)
        self._device = device
        shape = (n_problems, MAX_CANDIDATES)
        self.candidates = batch_zeros((*shape, _JOINTS), wp.float64, device)
        self.misses = batch_zeros(shape, wp.float64, device)

    def launch(self, problem: list[Any], *, bounded: bool = False) -> None:
        """Enqueue the kernel."""
        if self._has_limits:
            self._chart.bounded = int(bounded)
        launch(
            self._kernel, dim=threads_of(self._lanes, problem[0].shape[0]),
            inputs=[self._chart, *problem], outputs=[self.candidates, self.misses],
            device=self._device,
        )  # fmt: skip


class CompletedSource:
    """Candidates of a chain of fewer than six joints, from those of its completions.

    The attributes are those of :class:`CandidateSource`. Angles of locked joints are added to the
    residuals.
    """

    def __init__(
        self, made: list[Completion], exact: bool, n_problems: int, device: wp.DeviceLike
    ) -> None:
        """Create the sources of the completions and allocate."""
        sources = [six_joint_source(part, exact, n_problems, device) for part in made]
        self.slack = max(source.slack for source in sources) + _LOCKED_SLACK
        room = sum(source.candidates.shape[1] for source in sources)
        n_joints = len(made[0].real)
        self.candidates = batch_zeros((n_problems, room, n_joints), wp.float64, device)
        self.misses = batch_zeros((n_problems, room), wp.float64, device)
        self._device = device
        # Seeds of the virtual joints are zero.
        self._parts = [
            (
                source,
                wp.zeros((n_problems, _JOINTS), dtype=wp.float64, device=device),
                wp.array(part.real, dtype=wp.int32, device=device),
                wp.array(part.locked, dtype=wp.int32, device=device),
            )
            for source, part in zip(sources, made, strict=True)
        ]

    def launch(self, problem: list[Any], *, bounded: bool = False) -> None:
        """Enqueue the kernels of the sources, and the copies of their candidates."""
        poses, seeds = problem
        first = 0
        for source, all_seeds, real, locked in self._parts:
            launch(
                scatter_kernel(), dim=seeds.shape, inputs=[seeds, real], outputs=[all_seeds],
                device=self._device,
            )  # fmt: skip
            source.launch([poses, all_seeds], bounded=bounded)
            launch(
                gather_kernel(), dim=source.misses.shape,
                inputs=[source.candidates, source.misses, real, locked, first],
                outputs=[self.candidates, self.misses], device=self._device,
            )  # fmt: skip
            first += source.misses.shape[1]


def candidate_source(
    made: list[Completion],
    exact: bool,
    n_problems: int,
    device: wp.DeviceLike,
    limits: Limits | None = None,
) -> CandidateSource:
    """Create the source of the candidates of a chain.

    Args:
        made: The completions.
        exact: True if the axes have the structure exactly, up to rounding.
        n_problems: Largest number of poses of a launch.
        device: Warp device.
        limits: Lower and upper limits of the joints, beyond which candidates may be left out;
            None if there are none.
    """
    if len(made) == 1 and len(made[0].real) == _JOINTS:
        return six_joint_source(made[0], exact, n_problems, device, limits)
    return CompletedSource(made, exact, n_problems, device)


def six_joint_source(
    made: Completion,
    exact: bool,
    n_problems: int,
    device: wp.DeviceLike,
    limits: Limits | None = None,
) -> CandidateSource:
    """Create the source of the candidates of six joints."""
    if made.chart is None:
        return GeneralSource(made.axes, n_problems, device)
    return KernelSource(made.chart, made.axes, exact, n_problems, device, limits)


def _kernel_of(chart: Chart | SlideChart, device: wp.DeviceLike) -> tuple[wp.Kernel, Any]:
    """Return the kernel of a chart and its struct, without the common fields."""
    if isinstance(chart, SlideChart):
        arrays = slide_axes_struct()()
        arrays.slides = wp.array(np.array(chart.slides), dtype=wp.int32, device=device)
        arrays.three_slides = int(chart.family is ClosedFormFamily.CARTESIAN)
        arrays.backwards = int(chart.backwards)
        return slide_candidates_kernel(), arrays
    arrays = axes_struct()()
    arrays.signs = wp.vec3d(*chart.signs)
    kernel = candidates_kernel(
        chart.family, chart.split, chart.row, chart.backwards, chart.wrapped,
        lanes_on(device, PAIR_LANES),
    )
    return kernel, arrays


def _fill_axes(
    arrays: Any,
    chart: Chart | SlideChart,
    axes: Axes,
    exact: bool,
    slack: float,
    device: wp.DeviceLike,
) -> None:
    """Write the common fields of the structs of both kinds of charts."""
    arrays.directions = wp.array(chart.directions, dtype=wp.vec3d, device=device)
    arrays.points = wp.array(chart.points, dtype=wp.vec3d, device=device)
    arrays.order = wp.array(np.array(chart.order), dtype=wp.int32, device=device)
    arrays.center = wp.vec3d(*chart.center)
    arrays.origin = wp.vec3d(*axes.origin)
    arrays.reach = axes.reach
    arrays.tool = wp.transform_inverse(transform_of(axes.tool))
    arrays.opening = 0.0 if exact else 4.0 * chart.deviation
    arrays.loose = slack

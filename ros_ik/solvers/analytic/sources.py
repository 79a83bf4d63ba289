# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sources of candidates: a kernel for the closed forms, the host for six general axes."""

from __future__ import annotations

from typing import Any
from typing import Protocol

import numpy as np
import warp as wp

from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.model.rotations import quaternion_from_matrix
from ros_ik.solvers.analytic.candidates import axes_struct
from ros_ik.solvers.analytic.candidates import candidates_kernel
from ros_ik.solvers.analytic.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.general import GENERAL_CANDIDATES
from ros_ik.solvers.analytic.general import GeneralCandidates
from ros_ik.solvers.analytic.general import NEARLY_REAL
from ros_ik.solvers.analytic.structure import Axes
from ros_ik.solvers.analytic.structure import Chart

# Equations of an exact structure miss a root of their own by the rounding of some hundred
# operations; those of a structure that nearly fits by a multiple of the root of its deviation, as
# the angles of the first stage are off by so much where two branches meet.
_EXACT_SLACK, _SLACK_FACTOR = 1e-8, 30.0


class CandidateSource(Protocol):
    """Writer of the candidates of each solve.

    Attributes:
        candidates: Configurations, Warp array [n_problems, room, 6].
        misses: By how much each misses its equations, Warp array [n_problems, room]; inf for
            places without a candidate.
        slack: Largest miss of a candidate that is polished.
    """

    candidates: Any
    misses: Any
    slack: float

    def prepare(self, poses: np.ndarray) -> None:
        """Do the work of the host for poses [n_problems, 7], before the launches."""

    def launch(self, problem: list[Any]) -> None:
        """Enqueue the kernels and copies, given the arrays of poses and seeds."""


class KernelSource:
    """Candidates of a closed form; the attributes are those of :class:`CandidateSource`."""

    def __init__(
        self, chart: Chart, axes: Axes, exact: bool, n_problems: int, device: wp.DeviceLike
    ) -> None:
        """Compile and allocate."""
        self.slack = _EXACT_SLACK if exact else _SLACK_FACTOR * chart.deviation**0.5
        self._chart = _chart_arrays(chart, axes, exact, self.slack, device)
        self._kernel = candidates_kernel(
            chart.family, chart.split, chart.row, chart.backwards, chart.wrapped
        )
        self._device = device
        shape = (n_problems, MAX_CANDIDATES)
        self.candidates = wp.zeros((*shape, 6), dtype=wp.float64, device=device)
        self.misses = wp.zeros(shape, dtype=wp.float64, device=device)

    def prepare(self, poses: np.ndarray) -> None:
        """Do nothing; the kernel does it all."""

    def launch(self, problem: list[Any]) -> None:
        """Enqueue the kernel."""
        wp.launch(
            self._kernel, dim=self.candidates.shape[0], inputs=[self._chart, *problem],
            outputs=[self.candidates, self.misses], device=self._device,
        )  # fmt: skip


class HostSource:
    """Candidates of six general axes; the attributes are those of :class:`CandidateSource`."""

    def __init__(self, axes: Axes, n_problems: int, device: wp.DeviceLike) -> None:
        """Choose the charts and allocate."""
        self.slack = NEARLY_REAL
        self._general = GeneralCandidates(axes)
        shape = (n_problems, GENERAL_CANDIDATES)
        self._candidates = HostBuffer((*shape, 6), wp.float64, device)
        self._misses = HostBuffer(shape, wp.float64, device)
        self.candidates, self.misses = self._candidates.array, self._misses.array

    def prepare(self, poses: np.ndarray) -> None:
        """Solve the polynomials of the poses."""
        self._general.fill(poses, self._candidates.host, self._misses.host)

    def launch(self, problem: list[Any]) -> None:
        """Enqueue the copies to the device."""
        self._candidates.upload()
        self._misses.upload()


def _chart_arrays(
    chart: Chart, axes: Axes, exact: bool, slack: float, device: wp.DeviceLike
) -> Any:
    """Return a chart as the struct that its kernel takes."""
    arrays = axes_struct()()
    arrays.directions = wp.array(chart.directions, dtype=wp.vec3d, device=device)
    arrays.points = wp.array(chart.points, dtype=wp.vec3d, device=device)
    arrays.order = wp.array(np.array(chart.order), dtype=wp.int32, device=device)
    arrays.signs = wp.vec3d(*chart.signs)
    arrays.center = wp.vec3d(*chart.center)
    arrays.origin = wp.vec3d(*axes.origin)
    arrays.reach = axes.reach
    arrays.tool = wp.transform_inverse(_transform(axes.tool))
    arrays.opening = 0.0 if exact else 4.0 * chart.deviation
    arrays.loose = slack
    return arrays


def _transform(matrix: np.ndarray) -> Any:
    """Return a homogeneous matrix as a transform."""
    return wp.transformd(*matrix[:3, 3], *quaternion_from_matrix(matrix[:3, :3]))

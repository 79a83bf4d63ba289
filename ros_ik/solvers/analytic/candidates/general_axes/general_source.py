# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Charts of six general revolute joints, the most accurate first, and the source of candidates."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.lanes import lanes_on
from ros_ik.model.conventions.rotations import quaternion_from_matrix
from ros_ik.solvers.analytic.candidates.general_axes.chart_axes import general_axes_struct
from ros_ik.solvers.analytic.candidates.general_axes.kernel import GENERAL_CANDIDATES
from ros_ik.solvers.analytic.candidates.general_axes.kernel import general_candidates_kernel
from ros_ik.solvers.analytic.candidates.general_axes.kernel import ROOT_LANES
from ros_ik.solvers.analytic.candidates.general_axes.real_roots import NEARLY_REAL
from ros_ik.solvers.analytic.candidates.general_axes.start_kernel import start_kernel
from ros_ik.solvers.analytic.structure.structure import Axes
from ros_ik.solvers.analytic.structure.structure import turned

# Largest number of charts, and number of random poses for sorting them.
_MAX_CHARTS, _TRIALS = 6, 24
# Largest error of a chart that is tried, unless it is the best [rad].
_MAX_ERROR = 0.1
# Steps of Newton's method, which usually needs two.
_NEWTON_STEPS = 8
# Number of random starts of the search for the nearest configuration of an unreachable pose.
# Without them, 20 random seeds led nearer at 19 of 203 poses of six arms and at 12 of 149 of the
# leg of a G1; with 12, at 9 of the leg's; with 36, at none of the 203 and 3 of the 149.
_STARTS = 36
# Rotation of the targets for a pose at which all charts fail [rad], and the axes. If two solutions
# meet in a rotated target, they are far apart in one that is rotated the other way. Of the
# solutions that Newton's method finds where axis 6 points against axis 1, 4 to 8 % were lost with
# 2e-3 rad for three of four arms, 2 to 3 % with 2e-2, and as many with 4e-2.
_ASIDE = 2e-2
_TURN_AXES = np.array([[1.0, 2.0, 3.0], [-3.0, 1.0, 2.0], [2.0, -3.0, 1.0]]) / np.sqrt(14.0)
_TURN_AXES = np.vstack([_TURN_AXES, -2.0 * _TURN_AXES])


@dataclasses.dataclass(frozen=True)
class GeneralChart:
    """Order of the joints in an elimination.

    Attributes:
        shift: Number of joints moved from the beginning of the chain to its end.
        backwards: True if the shifted chain is then read from its end.
        aside: Rotation of the target [rad], [3].
    """

    shift: int
    backwards: bool
    aside: tuple[float, ...] = (0.0, 0.0, 0.0)


class GeneralSource:
    """Candidates of six general axes; the attributes are those of ``CandidateSource``.

    Attributes:
        charts: Charts in the order in which they are tried.
    """

    slack = NEARLY_REAL

    def __init__(
        self,
        axes: Axes,
        n_problems: int,
        device: wp.DeviceLike,
        charts: list[GeneralChart] | None = None,
        newton_steps: int = _NEWTON_STEPS,
    ) -> None:
        """Compile and allocate.

        Args:
            axes: The axes.
            n_problems: Largest number of poses of a launch.
            device: Warp device.
            charts: Charts to try; None for the best, then for some with rotated targets.
            newton_steps: Largest number of Newton steps of a candidate; 0 to leave all as they
                are.
        """
        self.charts = _charts(axes) if charts is None else charts
        self._device = device
        self._kernel = general_candidates_kernel(lanes_on(device, ROOT_LANES))
        self._axes = general = general_axes_struct()()
        general.directions = wp.array(axes.directions, dtype=wp.vec3d, device=device)
        general.points = wp.array(axes.points, dtype=wp.vec3d, device=device)
        general.tool = wp.transform_inverse(transform_of(axes.tool))
        general.origin = wp.vec3d(*axes.origin)
        general.reach = axes.reach
        shifts = [chart.shift for chart in self.charts]
        general.shifts = wp.array(shifts, dtype=wp.int32, device=device)
        general.backwards = wp.array(
            [int(chart.backwards) for chart in self.charts], dtype=wp.int32, device=device
        )
        asides = np.array([chart.aside for chart in self.charts])
        general.aside = wp.array(asides, dtype=wp.vec3d, device=device)
        general.newton_steps = newton_steps
        shape = (n_problems, GENERAL_CANDIDATES)
        self._equations = wp.zeros((n_problems, 3, 54), dtype=wp.float64, device=device)
        self.candidates = wp.zeros((*shape, 6), dtype=wp.float64, device=device)
        self.misses = wp.zeros(shape, dtype=wp.float64, device=device)
        starts = np.random.default_rng(0).uniform(-np.pi, np.pi, (_STARTS, 6))
        self._starts = wp.array(starts, dtype=wp.float64, device=device)

    def launch(self, problem: list[Any], *, bounded: bool = False) -> None:
        """Enqueue the kernels."""
        launch(
            self._kernel, dim=problem[0].shape[0],
            inputs=[self._axes, *problem, self._equations],
            outputs=[self.candidates, self.misses], device=self._device,
        )  # fmt: skip
        if not bounded:
            launch(
                start_kernel(), dim=problem[0].shape[0], inputs=[self._starts, self.slack],
                outputs=[self.candidates, self.misses], device=self._device,
            )  # fmt: skip


def _charts(axes: Axes) -> list[GeneralChart]:
    """Return the most accurate charts, then the first two with rotated targets."""
    charts = _best_charts(axes)
    return charts + [
        dataclasses.replace(chart, aside=tuple(_ASIDE * axis))
        for chart in charts[:2]
        for axis in _TURN_AXES
    ]


def _best_charts(axes: Axes) -> list[GeneralChart]:
    """Return the charts that find known configurations most accurately."""
    planted = np.random.default_rng(0).uniform(-np.pi, np.pi, (_TRIALS, 6))
    poses = wp.array(_poses(axes, planted), dtype=wp.transformd, device='cpu')
    seeds = wp.zeros((_TRIALS, 6), dtype=wp.float64, device='cpu')
    ranked = []
    for shift in range(6):
        for backwards in (False, True):
            source = GeneralSource(axes, _TRIALS, 'cpu', [GeneralChart(shift, backwards)], 0)
            source.launch([poses, seeds], bounded=True)
            off = np.abs(np.sin(0.5 * (source.candidates.numpy() - planted[:, None]))).max(axis=2)
            off[~np.isfinite(source.misses.numpy())] = np.inf
            ranked.append((float(np.quantile(off.min(axis=1), 0.9)), shift, backwards))
    ranked.sort()
    most = max(_MAX_ERROR, ranked[0][0])
    return [
        GeneralChart(shift, backwards)
        for off, shift, backwards in ranked[:_MAX_CHARTS]
        if off <= most
    ]


def _poses(axes: Axes, q: np.ndarray) -> np.ndarray:
    """Return the poses of the tool [m] at configurations [n, 6], shape [n, 7]."""
    columns, position = axes.tool[:3, :3].T[None], axes.tool[:3, 3]
    for h, p, angle in list(zip(axes.directions, axes.points, q.T, strict=True))[::-1]:
        columns = turned(h, angle[:, None], columns)
        position = p + turned(h, angle, position - p)
    rotations = np.array([quaternion_from_matrix(each.T) for each in columns])
    return np.hstack([axes.origin + axes.reach * position, rotations])


def transform_of(matrix: np.ndarray) -> Any:
    """Return a homogeneous matrix as a transform."""
    return wp.transformd(*matrix[:3, 3], *quaternion_from_matrix(matrix[:3, :3]))

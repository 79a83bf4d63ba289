# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Plots on the page: joints against their limits, errors of tasks and of following, tick times."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from collections.abc import Sequence
import math

import numpy as np
import viser
from viser import uplot

from ros_ik.viewer.gui.status_text import largest_following_error
from ros_ik.viewer.robot.palette import CURVES
from ros_ik.viewer.robot.robot_state import RobotState
from ros_ik.viewer.robot.robot_state import UNBOUNDED
from ros_ik_interfaces.msg import IkStatus

# Maximum number of plotted joints.
_MAX_JOINTS = 12
# Number of samples: 20 s at 5 Hz.
_SAMPLES = 100
_HEIGHT = 150
# Maximum number of curves with a legend.
_MAX_LEGENDS = 9

POSITIONS = 'positions: 0 lower, 1 upper limit'
VELOCITIES = 'velocities: parts of the limit'
TASKS = 'errors of tasks [mm, degrees]'
FOLLOWING = 'largest following error [mrad, mm]'
TICKS = 'ticks [ms]'

# Plots relative to limits show the limits.
_RANGES = {
    POSITIONS: {'y': uplot.Scale(auto=False, range=(-0.05, 1.05))},
    VELOCITIES: {'y': uplot.Scale(auto=False, range=(-1.1, 1.1))},
}


class Plots:
    """Plots; for the ROS thread."""

    def __init__(self, server: viser.ViserServer) -> None:
        """Add the controls to the current container."""
        self._gui = server.gui
        self.is_wanted = self._gui.add_checkbox(
            'plots', False, hint='Each plot is sent again five times a second.'
        )
        self._folder = self._gui.add_folder('Last 20 s')
        self._charts: dict[str, viser.GuiUplotHandle] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._times: collections.deque[float] = collections.deque(maxlen=_SAMPLES)
        self._samples: dict[str, collections.deque[np.ndarray]] = {}

    def add(self, now: float, curves: Mapping[str, Mapping[str, float]]) -> None:
        """Add a sample to each plot, and send the plots if they are shown.

        Args:
            now: Time on a steady clock [s].
            curves: Values by curve by plot; those of a plot keep their names.
        """
        if not self.is_wanted.value:
            self._remove()
            return
        names = {title: tuple(values) for title, values in curves.items() if values}
        if names != self._names:
            self._remove()
            self._names = names
            self._samples = {title: collections.deque(maxlen=_SAMPLES) for title in names}
        self._times.append(now)
        x = np.array(self._times) - now
        for title in names:
            self._samples[title].append(np.array(list(curves[title].values()), dtype=float))
            data = (x, *np.array(self._samples[title]).T)
            if title in self._charts:
                self._charts[title].data = data
            else:
                self._charts[title] = self._chart(title, data)

    def values(self, title: str) -> dict[str, np.ndarray]:
        """Return the samples of each curve of a plot, {} for an unknown plot; thread-safe."""
        samples = list(self._samples.get(title, ()))
        if not samples:
            return {}
        return dict(zip(self._names.get(title, ()), np.array(samples).T, strict=False))

    def _chart(self, title: str, data: tuple[np.ndarray, ...]) -> viser.GuiUplotHandle:
        """Add a plot to the page."""
        series = [uplot.Series(label='s')]
        for row, name in enumerate(self._names[title]):
            color = 'rgb({}, {}, {})'.format(*CURVES[row % len(CURVES)])
            curve = uplot.Series(label=name, stroke=color, width=1.5)
            if row >= len(CURVES):
                # The second round of colours is dashed.
                curve['dash'] = 6.0, 4.0
            series.append(curve)
        with self._folder:
            return self._gui.add_uplot(
                data,
                tuple(series),
                title=title,
                scales={'x': uplot.Scale(time=False), **_RANGES.get(title, {})},
                legend=uplot.Legend(show=len(series) <= _MAX_LEGENDS),
                height=_HEIGHT,
            )

    def _remove(self) -> None:
        for chart in self._charts.values():
            chart.remove()
        self._charts, self._names, self._samples = {}, {}, {}
        self._times.clear()


def curves(
    robot: RobotState, status: IkStatus, velocities: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Return a sample of each plot, by curve.

    Args:
        robot: The robot.
        status: Status of the node.
        velocities: Measured velocities by joint [rad/s or m/s].
    """
    names = robot.described(status.joint_names)
    ranges, speeds = joint_curves(
        names, robot.positions(names), velocities, robot.limits(names)
    )
    errors = {}
    for task in status.tasks:
        errors[f'{task.name} [mm]'] = 1e3 * task.linear if task.active else math.nan
        errors[f'{task.name} [°]'] = math.degrees(task.angular) if task.active else math.nan
    return {
        POSITIONS: ranges,
        VELOCITIES: speeds,
        TASKS: errors,
        FOLLOWING: {'largest': 1e3 * largest_following_error(status)},
        TICKS: {
            'this one': status.tick_ms,
            '99 of 100': status.tick_ms_p99,
            'period': 1e3 / status.control_rate,
        },
    }


def joint_curves(
    names: Sequence[str],
    positions: Mapping[str, float],
    velocities: Mapping[str, float],
    limits: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[dict[str, float], dict[str, float]]:
    """Return positions as fractions of their ranges, and velocities as fractions of their limits.

    Args:
        names: The joints.
        positions: Positions by joint [rad or m].
        velocities: Velocities by joint [rad/s or m/s]; those not measured are missing.
        limits: Lower and upper positions and velocity limits, one each; without one not finite
            or, as models have it, very large.

    Returns:
        Both by joint; joints without a limit are omitted, values that are not measured are NaN.
    """
    ranges, speeds = {}, {}
    for name, low, high, fastest in list(zip(names, *limits, strict=True))[:_MAX_JOINTS]:
        if 0.0 < high - low < UNBOUNDED:
            ranges[name] = (positions[name] - low) / (high - low)
        if 0.0 < fastest < UNBOUNDED:
            speeds[name] = velocities.get(name, np.nan) / fastest
    return ranges, speeds

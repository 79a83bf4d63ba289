# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Picture of a run: targets and achieved positions, joints against limits, distance to the box."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.demo.client import Recording
from ros_ik.demo.demo_robot import DemoRobot
from ros_ik.demo.evaluation import Evaluation
from ros_ik.demo.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AXES = (('x', '#d62728'), ('y', '#2ca02c'), ('z', '#1f77b4'))


def save_plot(
    path: Path,
    title: str,
    robot: DemoRobot,
    scenario: Scenario,
    recording: Recording,
    evaluation: Evaluation,
) -> None:
    """Write the picture as PNG.

    Args:
        path: File to write.
        title: Heading.
        robot: The robot.
        scenario: What was asked.
        recording: What was heard.
        evaluation: What came of it.
    """
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    figure, (place, joints, barrier) = pyplot.subplots(
        3, 1, figsize=(13, 11), sharex=True, height_ratios=(3, 3, 1.6), layout='constrained'
    )
    figure.suptitle(title, fontsize=13)
    _plot_positions(place, recording, evaluation, scenario)
    _plot_joints(joints, robot, recording)
    barrier.plot(evaluation.times, 1e3 * evaluation.barrier, color='#444444', linewidth=1.2)
    barrier.axhline(0.0, color='#d62728', linewidth=1.0)
    barrier.set_ylabel('distance to\nthe box [mm]')
    barrier.set_xlabel('time [s]')
    for axes in (place, joints, barrier):
        _shade_phases(axes, recording)
        axes.grid(alpha=0.25)
        axes.margins(x=0.0)
    for record in recording.phases:
        place.annotate(
            record.phase.name, (0.5 * (record.start + record.end), 1.01), rotation=35, fontsize=8,
            xycoords=('data', 'axes fraction'), ha='left', va='bottom', annotation_clip=False,
        )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _plot_positions(
    axes: Axes, recording: Recording, evaluation: Evaluation, scenario: Scenario
) -> None:
    """Targets as dots, achieved positions as lines, faces of the box as dashes."""
    times = np.array([time for time, _ in recording.targets])
    targets = np.array([pose for _, pose in recording.targets])
    bottom, top = scenario.box_min.min(), scenario.box_max.max()
    reach = 0.25 * (top - bottom)
    for axis, (label, colour) in enumerate(_AXES):
        near = (targets[:, axis] > bottom - reach) & (targets[:, axis] < top + reach)
        axes.plot(times[near], targets[near, axis], '.', color=colour, markersize=2.5, alpha=0.35)
        axes.plot(
            evaluation.times,
            evaluation.tip_poses[:, axis],
            color=colour,
            label=f'{label} achieved',
        )
        for face in (scenario.box_min[axis], scenario.box_max[axis]):
            axes.axhline(face, color=colour, linestyle='--', linewidth=0.8, alpha=0.6)
    axes.plot([], [], '.', color='#777777', label='target')
    axes.plot([], [], '--', color='#777777', label='face of the box')
    axes.set_ylim(bottom - reach, top + reach)
    axes.set_ylabel('position of the tip [m]')
    axes.legend(loc='lower right', ncols=5, fontsize=8)


def _plot_joints(axes: Axes, robot: DemoRobot, recording: Recording) -> None:
    """Positions scaled so that the lower limit of each joint is 0 and the upper one 1."""
    states = np.array(recording.states)
    lower, upper, _, _ = robot.model.limits64()
    joints = zip(robot.group.joint_names, robot.coords, robot.group.variable_dof, strict=True)
    for name, coord, dof in joints:
        low, high = max(lower[dof], -np.pi), min(upper[dof], np.pi)
        axes.plot(recording.state_times, (states[:, coord] - low) / (high - low), label=name)
    for limit in (0.0, 1.0):
        axes.axhline(limit, color='#d62728', linewidth=1.0)
    axes.set_ylim(-0.06, 1.3)
    axes.set_ylabel('joint position\n(0, 1: its limits)')
    axes.legend(loc='upper right', ncols=5, fontsize=7)


def _shade_phases(axes: Axes, recording: Recording) -> None:
    """Alternate the background from phase to phase."""
    for number, record in enumerate(recording.phases):
        if number % 2:
            axes.axvspan(record.start, record.end, color='#000000', alpha=0.05, linewidth=0)

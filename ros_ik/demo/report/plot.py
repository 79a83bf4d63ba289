# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Picture of a run: the robot and the path of its tool, curves, and notes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.demo.report.evaluation import Evaluation
from ros_ik.demo.report.robot_picture import RobotPicture
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.client import Recording
from ros_ik.demo.scenario.phase import Requirement
from ros_ik.demo.scenario.phase import Scenario
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik.viewer.robot.palette import BLUE
from ros_ik.viewer.robot.palette import GREEN
from ros_ik.viewer.robot.palette import GREY
from ros_ik.viewer.robot.palette import hex_code
from ros_ik.viewer.robot.palette import ORANGE
from ros_ik.viewer.robot.palette import VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D

# Colours of the page of the viewer.
_BLUE, _ORANGE, _GREEN, _RED, _GREY = map(hex_code, (BLUE, ORANGE, GREEN, VERMILLION, GREY))
_AXES = (('x', _RED), ('y', _GREEN), ('z', _BLUE))
# Width of the number of a phase, of the axes.
_NUMBER_WIDTH = 0.025
# Captions by phase; the verdict of the phase completes the sentence.
_NOTICES = {
    Requirement.EVADE: 'A ball pushes against the hand, which',
    Requirement.REFUSE: 'Commanded to fold into itself, it',
    Requirement.WAIT: 'The robot is blocked for a second: the command',
    Requirement.PRESS_BOX: 'Commanded to leave its box, it is',
    Requirement.PRESS_LIMIT: 'Commanded past a limit,',
}
_NAMED = {
    'circle': 'A circle is',
    'NaN': 'Every second target is NaN:',
    'out of reach': 'A target far out of reach:',
}


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
        scenario: Sent targets.
        recording: Received messages.
        evaluation: Result of the evaluation.
    """
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(16, 9.5))
    figure.suptitle(title, fontsize=15, x=0.02, ha='left', weight='bold')
    grid = figure.add_gridspec(
        3, 1, height_ratios=(1.3, 1.0, 1.2), left=0.54, right=0.985, bottom=0.06, top=0.93,
        hspace=0.12,
    )  # fmt: skip
    space = figure.add_axes((-0.01, 0.34, 0.5, 0.62), projection='3d')
    _draw_space(space, robot, scenario, recording, evaluation)
    _write_notices(figure, evaluation)
    positions = figure.add_subplot(grid[0])
    joints = figure.add_subplot(grid[1], sharex=positions)
    distances = figure.add_subplot(grid[2], sharex=positions)
    _plot_positions(positions, recording, evaluation, scenario)
    _plot_joints(joints, robot, recording)
    _plot_distances(distances, evaluation)
    for axes in (positions, joints, distances):
        _shade_phases(axes, recording)
        axes.grid(alpha=0.25)
        axes.margins(x=0.0)
        axes.tick_params(labelbottom=axes is distances)
    _number_phases(positions, recording)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def _draw_space(
    axes: Axes3D,
    robot: DemoRobot,
    scenario: Scenario,
    recording: Recording,
    evaluation: Evaluation,
) -> None:
    """Draw the robot at home and evading, the path of its tool, the box and the ball."""
    picture = RobotPicture(robot)
    path = evaluation.tip_poses[:, :3]
    axes.plot(*path.T, color=_BLUE, linewidth=1.0, label='path of the tool')
    targets = np.array(
        [r.phase.poses[-1, :3] for r in recording.phases
         if r.phase.requirement is Requirement.REACH and r.phase.poses is not None]
    )  # fmt: skip
    axes.scatter(*targets.T, color=_BLUE, s=18, label='targets')
    _draw_box(axes, scenario.box_min, scenario.box_max)
    shown = [path.min(axis=0), path.max(axis=0), *picture.link_segments(robot.home).reshape(-1, 3)]
    if np.isfinite(evaluation.to_ball).any():
        nearest = int(np.nanargmin(evaluation.to_ball))
        time = evaluation.clearance_times[nearest]
        index = max(int(np.searchsorted([t for t, _ in recording.balls], time)) - 1, 0)
        first, center = recording.balls[0][1], recording.balls[index][1]
        _draw_ball(axes, center, scenario.ball_radius)
        outside = center + scenario.ball_radius * _unit(first - center)
        axes.quiver(*first, *(outside - first), color=_RED, linewidth=3, arrow_length_ratio=0.5)
        state = int(np.searchsorted(recording.state_times, time))
        aside = recording.states[state]
        _draw_robot(axes, picture, aside, _GREY, 1.0)
        moved = picture.triangles(robot.home) - picture.triangles(aside)
        _draw_robot(
            axes, picture, robot.home, _ORANGE, 0.25,
            np.linalg.norm(moved, axis=2).max(axis=1) > 0.2 * scenario.ball_radius,
        )  # fmt: skip
        axes.plot([], [], 'o', color=_RED, label='ball, where it comes nearest')
        axes.plot([], [], 's', color=_GREY, label='robot at that moment')
        axes.plot([], [], 's', color=_ORANGE, alpha=0.5, label='robot before and after')
        shown += [center - scenario.ball_radius, center + scenario.ball_radius]
    else:
        _draw_robot(axes, picture, robot.home, _GREY, 1.0)
    _frame(axes, np.array(shown))
    axes.get_figure().legend(
        *axes.get_legend_handles_labels(), loc='lower left', bbox_to_anchor=(0.015, 0.305),
        fontsize=9, frameon=False, ncols=3,
    )  # fmt: skip


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def _draw_robot(
    axes: Axes3D,
    picture: RobotPicture,
    joint_q: np.ndarray,
    color: str,
    alpha: float,
    chosen: np.ndarray | slice = slice(None),
) -> None:
    """Draw the selected triangles if there are some, otherwise lines between links."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    triangles = picture.triangles(joint_q)[chosen]
    if len(triangles):
        axes.add_collection3d(
            Poly3DCollection(triangles, facecolors=color, alpha=alpha, shade=alpha == 1.0)
        )
    else:
        lines = picture.link_segments(joint_q)
        axes.add_collection3d(Line3DCollection(lines, colors=color, linewidths=5, alpha=alpha))


def _draw_box(axes: Axes3D, low: np.ndarray, high: np.ndarray) -> None:
    """Draw the edges of the box that the tool may not leave."""
    corners = np.array(np.meshgrid(*zip(low, high, strict=True), indexing='ij')).reshape(3, -1).T
    for a in range(8):
        for b in (a ^ 1, a ^ 2, a ^ 4):
            if a < b:
                axes.plot(*corners[[a, b]].T, '--', color='#555555', linewidth=0.9)
    axes.plot([], [], '--', color='#555555', label='box for the tool')


def _draw_ball(axes: Axes3D, center: np.ndarray, radius: float) -> None:
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
    unit = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    axes.plot_surface(*(center[:, None, None] + radius * unit), color=_RED, alpha=0.9)


def _frame(axes: Axes3D, points: np.ndarray) -> None:
    """Show all points at one scale, without the panes of the diagram."""
    low, high = points.min(axis=0), points.max(axis=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_aspect('equal')
    axes.view_init(elev=18, azim=-58)
    axes.set_axis_off()


def _write_notices(figure: Figure, evaluation: Evaluation) -> None:
    """Write the result of each phase, with the numbers above the curves."""
    lines = []
    for number, phase in enumerate(evaluation.phases, start=1):
        begins = _NOTICES.get(phase.requirement) or _NAMED.get(phase.name)
        if begins is not None or not phase.met:
            lines.append((number, f'{begins or phase.name} {phase.verdict}', phase.met))
    figure.text(0.02, 0.285, 'What to notice', fontsize=12, weight='bold')
    for row, (number, text, met) in enumerate(lines):
        height = 0.255 - 0.026 * row
        figure.text(
            0.033, height, str(number), fontsize=10, ha='right', weight='bold', color=_BLUE
        )
        figure.text(0.04, height, text, fontsize=10, color='black' if met else _RED)


def _plot_positions(
    axes: Axes, recording: Recording, evaluation: Evaluation, scenario: Scenario
) -> None:
    """Targets as dots, measured positions as lines."""
    times = np.array([time for time, _ in recording.targets])
    targets = np.array([pose for _, pose in recording.targets])
    bottom, top = scenario.box_min.min(), scenario.box_max.max()
    reach = 0.12 * (top - bottom)
    for axis, (label, colour) in enumerate(_AXES):
        near = (targets[:, axis] > bottom - reach) & (targets[:, axis] < top + reach)
        axes.plot(times[near], targets[near, axis], '.', color=colour, markersize=2.5, alpha=0.35)
        axes.plot(evaluation.times, evaluation.tip_poses[:, axis], color=colour, label=label)
    axes.plot([], [], '.', color='#777777', label='target')
    axes.set_ylim(bottom - reach, top + reach)
    axes.set_ylabel('tool [m]')
    axes.legend(loc='upper right', ncols=4, fontsize=8)


def _plot_joints(axes: Axes, robot: DemoRobot, recording: Recording) -> None:
    """Positions scaled so that the lower limit of each joint is 0 and the upper one 1."""
    states = np.array(recording.states)
    lower, upper = driver_limits(robot.model)
    joints = zip(robot.group.joint_names, robot.coords, robot.group.variable_dof, strict=True)
    for name, coord, dof in joints:
        low, high = max(lower[dof], -np.pi), min(upper[dof], np.pi)
        axes.plot(
            recording.state_times, (states[:, coord] - low) / (high - low), label=name,
            linewidth=1.1,
        )  # fmt: skip
    for limit in (0.0, 1.0):
        axes.axhline(limit, color=_RED, linewidth=1.4)
    axes.set_ylim(-0.06, 1.06)
    axes.set_ylabel('joints\n(0 and 1: their limits)')


def _plot_distances(axes: Axes, evaluation: Evaluation) -> None:
    """Distances that must stay above zero: to the box, of the links, to the ball."""
    curves = (
        (evaluation.times, evaluation.barrier, 'tool to the box', '#555555'),
        (evaluation.clearance_times, evaluation.to_itself, 'robot to itself', _BLUE),
        (evaluation.clearance_times, evaluation.to_ball, 'robot to the ball', _RED),
    )
    for times, values, label, colour in curves:
        if np.isfinite(values).any():
            axes.plot(times, 1e3 * values, color=colour, label=label, linewidth=1.6)
            if values is evaluation.barrier:
                continue
            nearest = int(np.nanargmin(values))
            axes.annotate(
                f'{1e3 * values[nearest]:.0f} mm', (times[nearest], 1e3 * values[nearest]),
                (0, 14), textcoords='offset points', color=colour, weight='bold', ha='center',
            )  # fmt: skip
    axes.axhline(0.0, color='black', linewidth=1.6)
    axes.set_ylim(bottom=-8.0)
    axes.set_ylabel('distance [mm]\n(none may reach 0)')
    axes.set_xlabel('time [s]')
    axes.legend(loc='upper right', ncols=3, fontsize=8)


def _number_phases(axes: Axes, recording: Recording) -> None:
    """Write the number of each phase above the curves, higher where it would meet the last one."""
    low, high = axes.get_xlim()
    last, raised = -math.inf, False
    for number, record in enumerate(recording.phases, start=1):
        middle = 0.5 * (record.start + record.end)
        raised = not raised and middle - last < _NUMBER_WIDTH * (high - low)
        last = middle
        axes.annotate(
            str(number), (middle, 1.055 if raised else 1.01), fontsize=9, color=_BLUE,
            weight='bold', xycoords=('data', 'axes fraction'), ha='center', va='bottom',
        )  # fmt: skip


def _shade_phases(axes: Axes, recording: Recording) -> None:
    """Alternate the background from phase to phase."""
    for number, record in enumerate(recording.phases):
        if number % 2:
            axes.axvspan(record.start, record.end, color='#000000', alpha=0.05, linewidth=0)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The picture of the motion quality: one joint on a slow stream, and its derivatives."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.harness.process import Answer

# Joint, and the part of the record to show [s].
JOINT, WINDOW = 0, (2.0, 3.0)
NAMES = ('position [rad]', 'velocity [rad/s]', 'acceleration [rad/s^2]', 'jerk [rad/s^3]')


def derivatives(q: np.ndarray, dt: float) -> list[np.ndarray]:
    """Return positions [n] and their first three differences over time, each [n - 3].

    All are of the last n - 3 ticks: each difference looks back.
    """
    found = [q]
    for _ in range(3):
        found.append(np.diff(found[-1]) / dt)
    return [values[len(values) - len(q) + 3 :] for values in found]


def draw(path: Path, answers: Mapping[str, Answer], dt: float) -> None:
    """Draw position, velocity, acceleration and jerk of one joint for each solver.

    Args:
        path: PNG file to write.
        answers: What the solvers did, by name; one that failed is left out.
        dt: Period of the loop [s].
    """
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    shown = {name: answer.joint_q for name, answer in answers.items() if not answer.error}
    if not shown:
        return
    figure, axes = pyplot.subplots(
        4, len(shown), sharex=True, sharey='row', squeeze=False, figsize=(3.2 * len(shown), 7.5)
    )
    for column, (name, q) in zip(axes.T, shown.items(), strict=True):
        time = dt * np.arange(4, len(q) + 1)
        part = (time >= WINDOW[0]) & (time <= WINDOW[1])
        column[0].set_title(name, fontsize=10)
        for place, values in zip(column, derivatives(q[:, JOINT], dt), strict=True):
            place.plot(time[part], values[part], linewidth=1.0, drawstyle='steps-post')
            place.grid(alpha=0.25)
            place.margins(x=0.0)
        column[-1].set_xlabel('time [s]')
    for place, label in zip(axes[:, 0], NAMES, strict=True):
        place.set_ylabel(label)
    figure.align_ylabels()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    pyplot.close(figure)

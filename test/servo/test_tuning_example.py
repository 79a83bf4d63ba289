# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The worked example of docs/tuning.md: its figures, from the parameters of its table."""

from pathlib import Path
import re

import numpy as np
import pytest
from support.rigs.servo_rig import Rig
import yaml

ROOT = Path(__file__).parents[2]
JOINTS = (
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint',
    'wrist_3_joint',
)  # fmt: skip
# Displacement of the tool [m].
SHIFT = (0.0, 0.3, 0.1)


def steps():
    """Return changed parameters and the figures of each row."""
    text = (ROOT / 'docs' / 'tuning.md').read_text().partition('## A worked example')[2]
    rows = re.findall(r'^\| (\d) \| (.*?) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$', text, re.M)
    return [
        (re.findall(r'`([\w.<>]+): ([\d.]+)`', changed), tuple(map(float, figures)))
        for _, changed, *figures in rows
    ]


def parameters(changes):
    """Return the parameters after changes, with joint parameters applied to all joints."""
    values = {}
    for name, value in changes:
        value = yaml.safe_load(value)
        for joint in JOINTS if '<joint>' in name else ('',):
            key = name.replace('<joint>', joint).replace('<task>', 'ee')
            values[key] = value
            section, _, leaf = key.rpartition('.')
            if leaf.startswith('max_') and section.startswith('joint_limits'):
                values[f'{section}.has_{leaf[4:]}_limits'] = True
    return values


def measure(values):
    """Return time until arrival [s], largest joint acceleration [rad/s^2] and jerk [rad/s^3]."""
    rig = Rig.shared('ur5', **{name.replace('.', '__'): value for name, value in values.items()})
    rig.aim(rig.moved(SHIFT))
    ticks = next(k for k in range(1, 2000) if rig.tick().tasks[0].reached)
    velocity = rig.speeds()
    acceleration = np.diff(velocity, axis=0) / rig.dt
    jerk = np.diff(acceleration, axis=0) / rig.dt
    rig.assert_within_limits()
    return ticks * rig.dt, np.abs(acceleration).max(), np.abs(jerk).max()


@pytest.mark.parametrize('step', range(len(steps())))
def test_the_figures_of_a_step(step):
    changes = [change for changed, _ in steps()[: step + 1] for change in changed]
    found, (seconds, acceleration, jerk) = measure(parameters(changes)), steps()[step][1]
    # The table has two digits, and another processor rounds differently.
    assert found[0] == pytest.approx(seconds, abs=0.03)
    assert found[1] == pytest.approx(acceleration, rel=0.06)
    assert found[2] == pytest.approx(jerk, rel=0.06)


def test_the_example_is_there():
    assert len(steps()) == 5

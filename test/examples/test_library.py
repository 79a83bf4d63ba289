# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The examples run and do what they say."""

import json
from pathlib import Path
import re
import runpy
import subprocess
import sys

import pytest
from support.solvers.array_kinds import torch

from ros_ik.demo.robots import robot_data_path

ROOT = Path(__file__).resolve().parents[2]
# Longest time of an example [s]: on a busy machine its kernels may have to be compiled.
PATIENCE = 400.0


def test_reach_a_pose():
    # As a user starts it, in a process of its own.
    urdf = robot_data_path() / 'panda_description/urdf/panda.urdf'
    result = subprocess.run(
        [
            sys.executable, 'examples/library/reach_a_pose.py', urdf,
            'panda_link0', 'panda_hand_tcp',
        ],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    error = float(result.stdout.split(' is ')[1].split(' mm')[0])
    assert error < 0.01


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs an example in this process and returns what it prints.

    The imports of a process of its own are most of its work.
    """

    def run(name, *arguments):
        path = ROOT / 'examples/library' / f'{name}.py'
        monkeypatch.setattr(sys, 'argv', [str(path), *map(str, arguments)])
        # Python searches the folder of a program first.
        monkeypatch.syspath_prepend(path.parent)
        # Without a display Python itself gives no message.
        monkeypatch.setenv('MPLBACKEND', 'Agg')
        runpy.run_path(str(path), run_name='__main__')
        return capsys.readouterr().out

    return run


def test_solve_poses(run):
    urdf = robot_data_path() / 'panda_description/urdf/panda.urdf'
    text = run('solve_poses', urdf, 'panda_hand_tcp')
    assert text.splitlines()[-1].startswith('100.0 % of 1000 poses solved')


@pytest.mark.parametrize('name', ('reach_a_pose', 'solve_poses', 'optimal_control'))
def test_without_arguments_it_says_how_it_is_used(run, capsys, name):
    with pytest.raises(SystemExit) as ended:
        run(name)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert f'usage: {name}.py' in said and 'urdf_path' in said
    assert 'Traceback' not in said


def numbers(text, pattern):
    """Return the numbers of a sentence."""
    return [float(number) for number in re.search(pattern, text).groups()]


def test_fit_tool(run):
    torch()
    text = run('fit_tool')
    before, after = numbers(text, r'from ([\d.]+) mm to ([\d.]+) mm')
    tool, zero = numbers(text, r'is ([\d.]+) mm off, the worst zero of a joint ([\d.]+) mrad')
    # The noise of three coordinates is 0.17 mm; less than that remains in the fit.
    assert before > 100.0 and 0.1 < after < 0.2 and tool < 0.1 and zero < 0.5


def test_grasp_candidates(run):
    text = run('grasp_candidates')
    free, total = numbers(text, r'(\d+) of (\d+) grasps')
    assert total == 144 and 72 < free < 144
    ways = [float(way) for way in re.findall(r'joints move ([\d.]+) rad', text)]
    assert len(ways) == 3 and ways == sorted(ways) and ways[0] < 4.0


def test_all_solutions(run):
    text = run('all_solutions')
    kept, found = numbers(text, r'(\d+) of (\d+) solutions are kept')
    # An arm like this one has eight; two fold the wrist onto the upper arm.
    assert (kept, found) == (6, 8)
    assert text.count('too near: 27 mm from upper_arm_link to wrist_1_link') == 2


def test_every_grasp(run):
    text = run('every_grasp')
    # Regular poses, each with the eight solutions of such an arm.
    assert numbers(text, r'(\d+) grasps: (\d+) solutions, (\d+) are free') == [1000, 8000, 7658]
    assert numbers(text, r'(\d+) grasps can be reached') == [1000]
    assert numbers(text, r'nearest: grasp (\d+), ([\d.]+) rad') == [847, 0.55]


def test_cartesian_path(run):
    text = run('cartesian_path')
    assert numbers(text, r'(\d+) % of the path, (\d+) breaks') == [100, 0]
    # A path of 60 cm at 0.1 m/s; the sag of 5 mm is reach times step^2 / 8, some 0.03 mm.
    assert numbers(text, r'at most (\d+) um')[0] < 50
    assert numbers(text, r'([\d.]+) s at')[0] == 6.0


def test_own_objective(run):
    away, tilt = numbers(run('own_objective'), r'([\d.]+) mm from .* ([\d.]+) degrees')
    # Without the objective the glass tilts by 30 degrees.
    assert away < 0.1 and tilt < 0.5


def test_own_barrier(run):
    text = run('own_barrier')
    least, away = numbers(text, r'than (-?[\d.]+) mm, ([\d.]+) mm from')
    # It goes round: without the barrier it would be 66 mm inside.
    assert 0.0 <= least < 30.0 and away < 1.0
    # Without the limit they move at up to 2 rad/s.
    assert numbers(text, r'at most at ([\d.]+) rad/s') == [0.2]


def test_many_robots(run):
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    text = run('many_robots', '--robots', '64', '--steps', '5')
    way, behind = numbers(text, r'64 hands went ([\d.]+) cm on average, at most ([\d.]+) mm')
    # A random walk of 6 steps of about 1 cm.
    assert 1.0 < way < 6.0 and behind < 40.0
    assert len(re.findall(r'[1-9]\d* robots a second', text)) == 2


def test_mujoco_loop(run, tmp_path):
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    away = numbers(run('mujoco_loop', tmp_path / 'loop.png'), r'at most ([\d.]+) mm behind')[0]
    # Drives without the speed of the command are 16 mm late.
    assert away < 3.0
    assert (tmp_path / 'loop.png').read_bytes().startswith(b'\x89PNG')


def test_robot_with_mass(run):
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    text = run('robot_with_mass', '--robot', 'ur5')
    # Drives of 20 Hz, 8 ms and a tick: 20 to 30 ms at 0.2 m/s; the target is predicted.
    assert 3.0 < numbers(text, r'([\d.]+) mm behind')[0] < 7.0
    torque, rate, speed = numbers(text, r'most (\d+) % of torque, ([\d.]+) kNm/s, ([\d.]+) of')
    assert torque < 60 and rate < 1.5 and speed < 0.6


def test_the_cells_of_the_notebook(monkeypatch, capsys):
    monkeypatch.setenv('MPLBACKEND', 'Agg')
    notebook = json.loads((ROOT / 'examples/library/first_steps.ipynb').read_text())
    cells = [''.join(cell['source']) for cell in notebook['cells'] if cell['cell_type'] == 'code']
    names = {}
    for cell in cells:
        exec(compile(cell, 'first_steps.ipynb', 'exec'), names)
    assert len(cells) == 5 and names['path'].fraction == 1.0
    assert 0.2 < names['reached'].mean() < 0.8
    assert names['errors'][-1] < 1e-4 < names['errors'][0]
    assert 'CONVERGED' in capsys.readouterr().out

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The whole demo in its own processes over DDS."""

import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.dds, pytest.mark.timeout(170)]


def start(tmp_path, *arguments):
    """Start the demo in a domain of its own."""
    environment = os.environ | {'ROS_DOMAIN_ID': str(30 + os.getpid() % 40)}
    return subprocess.Popen(
        [sys.executable, '-m', 'ros_ik.demo', '--device', 'cpu', '--output', tmp_path, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def children_of(pid):
    """Return the process ids whose parent is ``pid``."""
    found = []
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            parent = stat.read_text().rsplit(')', 1)[1].split()[1]
        except OSError:
            continue
        if int(parent) == pid:
            found.append(int(stat.parent.name))
    return found


def test_panda_reaches_everything(tmp_path):
    demo = start(tmp_path)
    out, errors = demo.communicate(timeout=160)
    figures = json.loads(out.splitlines()[-1])
    assert demo.returncode == 0, f'{figures}\n{errors[-3000:]}'
    assert figures['reached'] == figures['targets'] >= 8
    assert figures['limit_violations'] == figures['rejected_trajectories'] == 0
    assert figures['min_barrier_m'] >= -1e-4
    assert (tmp_path / 'panda.png').stat().st_size > 20_000


def test_unknown_robot_is_named(tmp_path):
    demo = start(tmp_path, '--robot', 'pandda')
    _, errors = demo.communicate(timeout=60)
    assert demo.returncode == 2
    assert "'pandda'" in errors and 'panda' in errors
    assert 'Traceback' not in errors


def test_an_interrupt_ends_every_process(tmp_path):
    demo = start(tmp_path)
    deadline = time.monotonic() + 100
    for line in demo.stdout:
        if 'pose 1' in line or time.monotonic() > deadline:
            break
    children = children_of(demo.pid)
    assert len(children) == 3
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=15)
    assert demo.returncode == 130
    assert [pid for pid in children if Path(f'/proc/{pid}').exists()] == []

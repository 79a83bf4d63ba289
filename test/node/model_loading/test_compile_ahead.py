# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled ahead, on two threads."""

import subprocess
import sys

import pytest

# In a process of its own, where Warp is not initialised yet; nothing is compiled.
_LOADS = """
import threading
import warp as wp
seen = []
wp.force_load = lambda device, modules, max_workers: seen.append(
    (threading.current_thread().name, wp.config.kernel_cache_dir, [m.name for m in modules])
)
from ros_ik.node.model_loading.compile_ahead import compile_ahead
from ros_ik.settings import read_settings
compile_ahead(read_settings({'ee.frame': 'tool', **EXTRA}), 'cpu')
assert wp.get_device('cpu') is not None
for name, folder, modules in seen:
    print(name, folder == wp.config.kernel_cache_dir, *modules)
"""


def _loads(extra, folder, monkeypatch):
    """Return the thread, whether the folder was known, and the name of each kernel loaded."""
    monkeypatch.setenv('WARP_CACHE_PATH', str(folder))
    code = _LOADS.replace('EXTRA', repr(extra))
    done = subprocess.run(
        [sys.executable, '-c', code], check=True, capture_output=True, text=True, timeout=120
    )
    lines = done.stdout.splitlines()
    return [line.split() for line in lines if line.startswith(('MainThread', 'compile_ahead'))]


@pytest.fixture(scope='module')
def loads(tmp_path_factory):
    """Return what is loaded with the default settings."""
    with pytest.MonkeyPatch.context() as patch:
        return _loads({}, tmp_path_factory.mktemp('cache'), patch)


def test_warp_is_initialised_before_two_threads_compile(loads):
    assert {thread for thread, _, _ in loads} == {'MainThread', 'compile_ahead'}
    # Two that initialise it at once append its version to the folder twice.
    assert all(known == 'True' for _, known, _ in loads), loads


def test_no_kernel_is_compiled_by_two_threads(loads):
    modules = [module for _, _, module in loads]
    assert len(set(modules)) == len(modules) == 10


def test_without_obstacles_what_measures_them_is_left_out(tmp_path, monkeypatch):
    modules = [
        module for _, _, module in _loads({'barriers.world.enabled': False}, tmp_path, monkeypatch)
    ]
    assert len(modules) == 7
    assert not any('pair' in module for module in modules)

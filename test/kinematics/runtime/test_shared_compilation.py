# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Processes share precompiled headers, and do not compile the same module side by side."""

import fcntl
import os
from pathlib import Path
import subprocess
import sys
import threading
import time

import pytest
import warp as wp

from ros_ik.kinematics.runtime import shared_compilation
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.shared_compilation import share_compilations

HEADER = 'builtin.pch'


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return an empty cache of kernels."""
    monkeypatch.setattr(wp.config, 'kernel_cache_dir', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


class Compiler:
    """The part of Warp's compiler that makes and uses precompiled headers."""

    def __init__(self):
        self.parsed = 0

    def build(self, *, pch_dir):
        """Compile headers if there are none; give up those that are damaged."""
        header = Path(pch_dir) / HEADER
        if not header.exists():
            self.parsed += 1
            header.write_text('good')
        elif header.read_text() != 'good':
            header.unlink()


class Process:
    """A process that compiles modules, each in the same folder of its own."""

    def __init__(self, folder, compiler):
        folder.mkdir()
        self._folder = folder
        self._build = shared_compilation._with_shared_headers(compiler.build)

    def compile(self):
        """Compile a module."""
        self._build(pch_dir=str(self._folder))


def cached_headers(cache):
    """Return the files among the headers in a cache."""
    return list((cache / 'ros_ik_headers').rglob('*.*'))


def cached_header(cache):
    """Return the only file among the headers in a cache."""
    (file,) = cached_headers(cache)
    return file


def test_headers_are_parsed_by_the_first_process_only(tmp_path, cache):
    compiler = Compiler()
    for name in 'abc':
        Process(tmp_path / name, compiler).compile()
    assert compiler.parsed == 1
    assert cached_header(cache).name == HEADER


def test_a_copy_that_fails_leaves_no_file(tmp_path, cache, monkeypatch):
    def fail(source, target):
        Path(target).write_text('half')
        raise OSError('No space left on device')

    monkeypatch.setattr('shutil.copy2', fail)
    Process(tmp_path / 'a', Compiler()).compile()
    assert not cached_headers(cache)


def test_headers_older_than_those_of_warp_are_parsed_again(tmp_path, cache):
    compiler = Compiler()
    Process(tmp_path / 'before', compiler).compile()
    os.utime(cached_header(cache), ns=(0, shared_compilation._time_of_headers() - 1))
    for name in ('installed', 'later'):
        Process(tmp_path / name, compiler).compile()
    assert compiler.parsed == 2


def test_damaged_headers_are_replaced(tmp_path, cache):
    compiler = Compiler()
    Process(tmp_path / 'before', compiler).compile()
    cached_header(cache).write_text('damaged')
    process = Process(tmp_path / 'finds_it', compiler)
    for _ in range(3):
        process.compile()
    Process(tmp_path / 'later', compiler).compile()
    assert compiler.parsed == 2
    assert cached_header(cache).read_text() == 'good'


def test_without_a_writable_cache_each_process_parses_headers(tmp_path, cache):
    cache.write_text('a file where the folder belongs')
    compiler = Compiler()
    for name in 'ab':
        Process(tmp_path / name, compiler).compile()
    assert compiler.parsed == 2


class Module:
    """A module of Warp, whose compilation does nothing if another one was faster."""

    def __init__(self, takes=0.3):
        self.compiled, self._takes = 0, takes

    def compile(self, device, folder):
        """Compile unless the folder exists."""
        if not folder.exists():
            self.compiled += 1
            time.sleep(self._takes)
            folder.mkdir(parents=True)


compile_one_at_a_time = shared_compilation._one_at_a_time(Module.compile)


def test_a_module_is_compiled_once(cache):
    module = Module()
    threads = [
        threading.Thread(target=compile_one_at_a_time, args=(module, 'cpu', cache / 'module'))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert module.compiled == 1


def test_a_process_that_does_not_end_is_not_waited_for(cache, monkeypatch):
    monkeypatch.setattr(shared_compilation, '_PATIENCE', 0.1)
    lock = shared_compilation._open_lock(str(cache / 'module'))
    fcntl.flock(lock, fcntl.LOCK_EX)
    module = Module(takes=0.0)
    compile_one_at_a_time(module, 'cpu', cache / 'module')
    os.close(lock)
    assert module.compiled == 1


def test_without_a_writable_cache_a_module_is_compiled(cache):
    cache.write_text('a file where the folder belongs')
    module = Module(takes=0.0)
    compile_one_at_a_time(module, 'cpu', cache.parent / 'module')
    assert module.compiled == 1


def test_warp_compiles_by_these_functions(cache):
    share_compilations()  # a second call has no effect
    for function in (wp._src.build.build_cpu, wp._src.context.Module._compile):
        assert not hasattr(function.__wrapped__, '__wrapped__')

    @compiled_kernel()
    def fill(values: wp.array(dtype=wp.float64)):
        values[wp.tid()] = wp.float64(7.0)

    values = wp.zeros(1, dtype=wp.float64, device='cpu')
    wp.launch(fill, 1, inputs=[values], device='cpu')
    assert values.numpy() == 7.0
    # Tests before this one in the process may have compiled with other options: a file for each.
    headers = cached_headers(cache)
    assert headers
    assert all(file.suffix == '.pch' and file.stat().st_size > 1_000_000 for file in headers)
    assert len(list((cache / 'ros_ik_locks').iterdir())) == 1


def test_an_import_of_the_library_replaces_nothing():
    check = 'import ros_ik.solvers, warp; print(hasattr(warp._src.build.build_cpu, "__wrapped__"))'
    answer = subprocess.run([sys.executable, '-c', check], stdout=subprocess.PIPE, check=True)
    assert answer.stdout.split()[-1] == b'False'

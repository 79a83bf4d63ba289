# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The stand-in for control_msgs in tests: built once, and again after its files change."""

import contextlib
import ctypes
import hashlib
import importlib.util
import os
from pathlib import Path
import subprocess
import sys

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CACHE = ROOT / '.cache'
GENERATORS = ROOT / 'tools/python_messages'
# A build takes ten seconds, and a minute on a busy machine [s].
_PATIENCE = 600.0


@contextlib.contextmanager
def controller_messages():
    """Let this process, and those that it starts meanwhile, import control_msgs.

    The stand-in is used where control_msgs is not installed.
    """
    if importlib.util.find_spec('control_msgs') is not None:
        yield
        return
    folder = _built()
    path, libraries = next(folder.glob('lib/python*/site-packages')), folder / 'lib'
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(path))
        patch.setenv('PYTHONPATH', str(path), prepend=os.pathsep)
        patch.setenv('LD_LIBRARY_PATH', str(libraries), prepend=os.pathsep)
        # ROS looks them up by name, along a path that was fixed when this process began.
        for kind in ('fastrtps_c', 'introspection_c'):
            ctypes.CDLL(str(libraries / f'libcontrol_msgs__rosidl_typesupport_{kind}.so'))
        yield
    for name in [name for name in sys.modules if name.split('.')[0] == 'control_msgs']:
        del sys.modules[name]


def _built():
    """Return the folder in which the stand-in is installed."""
    patterns = ('*.txt', '*.xml', 'msg/*', 'action/*')
    files = sorted(file for pattern in patterns for file in HERE.glob(pattern))
    files += sorted(GENERATORS.iterdir())
    text = b''.join(file.read_bytes() for file in files) + sys.version.encode()
    folder = CACHE / f'controller_messages_{hashlib.sha256(text).hexdigest()[:12]}'
    if not folder.is_dir():
        _build(folder)
    return folder


def _build(folder):
    """Build and install into a folder, which appears when it is whole."""
    part = folder.with_suffix(f'.{os.getpid()}')
    build = [
        'cmake', '-S', HERE, '-B', part / 'build', '-G', 'Ninja', '-DBUILD_TESTING=OFF',
        # Paths of libraries are those of the final folder.
        f'-DCMAKE_INSTALL_PREFIX={part}', f'-DCMAKE_INSTALL_RPATH={folder}/lib',
        f'-DPython3_EXECUTABLE={sys.executable}', f'-Drosidl_default_generators_DIR={GENERATORS}',
    ]  # fmt: skip
    for words in (build, ['cmake', '--build', part / 'build', '--target', 'install']):
        done = subprocess.run(words, capture_output=True, text=True, timeout=_PATIENCE)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    try:
        part.rename(folder)
    except OSError:
        assert folder.is_dir()  # another process was quicker

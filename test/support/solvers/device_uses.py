# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Watch of the launches, copies and new arrays that a recording of another thread would meet."""

import traceback

import warp as wp

from ros_ik.launch_lock import LAUNCH_LOCK

_NEW = ('zeros', 'zeros_like', 'ones', 'empty', 'empty_like', 'full', 'full_like', 'clone')


def watch_device(monkeypatch, is_watched=lambda: not LAUNCH_LOCK.is_held_here):
    """Return the set to which each use of a device adds its place in the package.

    Args:
        monkeypatch: Fixture that ends the watch.
        is_watched: Returns True where a use is noted; without it, outside the launch lock.
    """
    found = set()

    def watch(owner, name, is_use=lambda *_, **__: True):
        function = getattr(owner, name)

        def call(*arguments, **options):
            if is_use(*arguments, **options) and is_watched():
                frames = [f for f in traceback.extract_stack() if '/ros_ik/' in f.filename]
                found.update(f'{f.filename}:{f.lineno} {f.name}' for f in frames[-1:])
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, call)

    for name in (*_NEW, 'copy', 'launch'):
        watch(wp, name)
    for name in ('fill_', 'zero_', 'assign'):
        watch(wp.array, name)
    watch(wp.array, '__init__', lambda _, data=None, *__, **___: data is not None)
    return found

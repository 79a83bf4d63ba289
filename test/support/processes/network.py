# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Two network namespaces with a bad cable between them, as root on Linux with iproute2.

The cable is a process that passes Ethernet frames from one TAP device to another: late, out of
order, or not at all. It does what ``tc netem`` does, on kernels without that module too.
"""

import contextlib
import ctypes
import fcntl
import heapq
import itertools
import os
import random
import select
import shutil
import struct
import subprocess
import sys
import time

_TUNSETIFF, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
_CLONE_NEWNET = 0x40000000
_FRAME = 65536
# A datagram is a frame: one loss costs one message, not a whole series of fragments.
_MTU = 60000


def why_not():
    """Return the reason why this machine has no network namespaces for tests, or ''."""
    if not sys.platform.startswith('linux'):
        return 'network namespaces are a thing of Linux'
    if os.geteuid() != 0:
        return 'network namespaces need root'
    if shutil.which('ip') is None:
        return 'iproute2 is not installed'
    if not os.path.exists('/dev/net/tun'):
        return 'there is no /dev/net/tun'
    name = f'ros_ik_probe_{os.getpid()}'
    probe = subprocess.run(['ip', 'netns', 'add', name], capture_output=True, text=True)
    if probe.returncode:
        return f'network namespaces are not permitted here: {probe.stderr.strip()}'
    subprocess.run(['ip', 'netns', 'delete', name], check=True)
    return ''


class Cable:
    """The process between two namespaces.

    Attributes:
        names: The namespaces.
    """

    def __init__(self, names):
        self.names = names
        self._process = subprocess.Popen(
            [sys.executable, __file__, *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        if self._process.stdout.readline().strip() != 'ready':
            raise RuntimeError('the cable did not come up')

    def spoil(self, *, loss=0.0, delay=0.0, jitter=0.0):
        """Lose a part of the frames, and delay the others by about this time [s]."""
        self._process.stdin.write(f'{loss} {delay} {jitter}\n')
        self._process.stdin.flush()

    def end(self):
        """Remove the cable."""
        self._process.stdin.close()
        self._process.wait(10.0)


@contextlib.contextmanager
def two_namespaces():
    """Yield a cable between two namespaces; they go with it."""
    names = [f'ros_ik_{side}_{os.getpid()}' for side in ('a', 'b')]
    try:
        for name in names:
            subprocess.run(['ip', 'netns', 'add', name], check=True)
            subprocess.run(['ip', '-n', name, 'link', 'set', 'lo', 'up'], check=True)
        cable = Cable(names)
        try:
            yield cable
        finally:
            cable.end()
    finally:
        for name in names:
            subprocess.run(['ip', 'netns', 'delete', name], check=False)


def inside(name):
    """Return the command that starts another one in a namespace."""
    return ('ip', 'netns', 'exec', name)


@contextlib.contextmanager
def entered(name):
    """Put this thread, and those that it starts meanwhile, into a namespace."""
    library = ctypes.CDLL(None, use_errno=True)
    with open('/proc/thread-self/ns/net') as home, open(f'/run/netns/{name}') as there:

        def enter(file):
            if library.setns(file.fileno(), _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), f'cannot enter {file.name}')

        enter(there)
        try:
            yield
        finally:
            enter(home)


def _open_tap(name):
    tap = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, _TUNSETIFF, struct.pack('16sH', name.encode(), _IFF_TAP | _IFF_NO_PI))
    return tap


def _connect(namespaces):
    """Return a TAP device in each namespace, ready for use."""
    taps = []
    for number, namespace in enumerate(namespaces, 1):
        device = f'tap{number}_{os.getpid()}'[:15]
        taps.append(_open_tap(device))
        for command in (
            ['link', 'set', device, 'netns', namespace],
            ['-n', namespace, 'address', 'add', f'10.77.0.{number}/24', 'dev', device],
            ['-n', namespace, 'link', 'set', device, 'mtu', str(_MTU), 'up'],
            ['-n', namespace, 'route', 'add', '224.0.0.0/4', 'dev', device],
        ):
            subprocess.run(['ip', *command], check=True)
    return taps


def main(namespaces):
    """Pass frames until the standard input ends; a line on it spoils the cable."""
    taps = _connect(namespaces)
    other = dict(zip(taps, reversed(taps), strict=True))
    generator, waiting, numbers = random.Random(11), [], itertools.count()
    loss = delay = jitter = 0.0
    print('ready', flush=True)
    while True:
        rest = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready = select.select([*taps, sys.stdin], [], [], rest)[0]
        # Frames sent before a line pass with the earlier settings.
        if ready == [sys.stdin]:
            line = os.read(0, 4096).decode()
            if not line:
                return
            loss, delay, jitter = map(float, line.split('\n')[-2].split())
        for tap in taps:
            if tap in ready:
                frame = os.read(tap, _FRAME)
                if generator.random() >= loss:
                    due = time.monotonic() + max(0.0, delay + generator.uniform(-jitter, jitter))
                    heapq.heappush(waiting, (due, next(numbers), other[tap], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, tap, frame = heapq.heappop(waiting)
            with contextlib.suppress(OSError):
                os.write(tap, frame)


if __name__ == '__main__':
    main(sys.argv[1:])

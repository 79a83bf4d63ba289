# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""``ros_ik_node`` on a device that is lost at SIGUSR1; at SIGUSR2 it counts its servos.

A CUDA device is lost for good: a kernel traps, and from then on CUDA gives every call of this
process its error. A CPU cannot be lost; there, every program recorded so far refuses to run, as
Warp does for programs of a lost GPU, and those recorded later run.
"""

import gc
import signal
import sys
import weakref

import warp as wp

from ros_ik.node.ros_ik_node import main
from ros_ik.servo import Servo
from ros_ik.solvers.graph import Graph


@wp.func_native("""
#ifdef __CUDA_ARCH__
__trap();
#endif
""")
def trap(): ...


@wp.kernel(enable_backward=False, module='unique')
def fail():
    trap()


def lose_cuda():
    """Lose the current CUDA device."""
    try:
        wp.launch(fail, dim=1, device='cuda')
        wp.synchronize_device('cuda')
    except RuntimeError as error:
        print(f'lost: {error}', flush=True)


class Programs:
    """Programs recorded from now on, kept alive, and those that refuse to run."""

    def __init__(self):
        self._recorded, self._lost = {}, {}
        record, launch = Graph.__init__, Graph.launch

        def record_and_keep(graph, *arguments):
            record(graph, *arguments)
            self._recorded[id(graph)] = graph

        def launch_or_fail(graph):
            if id(graph) in self._lost:
                raise RuntimeError('Graph launch error: unspecified launch failure')
            launch(graph)

        Graph.__init__, Graph.launch = record_and_keep, launch_or_fail

    def lose(self):
        """Make those recorded so far refuse to run."""
        self._lost = dict(self._recorded)
        print(f'lost: {len(self._lost)} programs', flush=True)


class Servos:
    """Servos built from now on, as long as anything uses them."""

    def __init__(self):
        self._built, build = weakref.WeakSet(), Servo.__init__

        def build_and_note(servo, *arguments):
            self._built.add(servo)
            build(servo, *arguments)

        Servo.__init__ = build_and_note

    def count(self):
        """Print how many are still in use."""
        gc.unfreeze()
        gc.collect()
        print(f'servos in use: {len(self._built)}', flush=True)


if __name__ == '__main__':
    if wp.is_cuda_available():
        wp.load_module(fail.module, device='cuda')
        lose = lose_cuda
    else:
        lose = Programs().lose
    signal.signal(signal.SIGUSR1, lambda *_: lose())
    servos = Servos()
    signal.signal(signal.SIGUSR2, lambda *_: servos.count())
    sys.exit(main())

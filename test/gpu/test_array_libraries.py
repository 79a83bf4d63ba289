# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of PyTorch, JAX and CuPy on a GPU: read and returned there, in the order of streams."""

from collections.abc import Callable
import contextlib
from dataclasses import dataclass
import os

from gpu.agreement import DEVICE
from gpu.agreement import on_gpu
from gpu.panda import configurations
from gpu.panda import panda
from gpu.panda import reachable_poses
from gpu.panda import six_axes
from gpu.panda import TIP
import numpy as np
import pytest

from ros_ik.kinematics import eval_fk
from ros_ik.solvers import all_solutions
from ros_ik.solvers import inverse_kinematics

pytestmark = on_gpu
N = 100
# Side of the matrices whose products keep a stream busy for some milliseconds.
SIDE = 4096 if DEVICE != 'cpu' else 512


@dataclass(frozen=True)
class Library:
    """Functions of a library that the tests call.

    Attributes:
        make: Copies an array of NumPy to the device.
        read: Copies an array of the library to NumPy.
        kind: Type of its arrays.
        stream: Returns the context of a stream other than the default one.
    """

    make: Callable
    read: Callable
    kind: type
    stream: Callable = contextlib.nullcontext


def imported(name):
    """Return a library, or skip."""
    return pytest.importorskip(name, reason=f'{name} is not installed', exc_type=ImportError)


def torch():
    module = imported('torch')
    is_cuda = DEVICE != 'cpu'
    return Library(
        make=lambda values: module.tensor(values, device=DEVICE),
        read=lambda array: array.cpu().numpy(),
        kind=module.Tensor,
        stream=lambda: module.cuda.stream(module.cuda.Stream(DEVICE) if is_cuda else None),
    )


def jax():
    # By default, JAX takes most of the memory of a GPU.
    os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
    module = imported('jax')
    module.config.update('jax_enable_x64', True)
    device = module.devices('cpu' if DEVICE == 'cpu' else 'cuda')[0]
    return Library(
        make=lambda values: module.device_put(values, device), read=np.asarray, kind=module.Array
    )


def cupy():
    module = imported('cupy')
    if DEVICE == 'cpu':
        pytest.skip('CuPy has no arrays on a CPU')
    return Library(
        make=module.asarray, read=lambda array: array.get(), kind=module.ndarray,
        stream=lambda: module.cuda.Stream(non_blocking=True),
    )  # fmt: skip


LIBRARIES = [torch, jax, cupy]


def late(library, values):
    """Return an array whose content is computed after a long product on the current stream."""
    busy = library.make(np.full((SIDE, SIDE), 1.0 / SIDE))
    there = library.make(values)
    for _ in range(4):
        busy = busy @ busy
    return there * (busy[0, 0] * SIDE)  # 1 times the values


SOLVES = {
    'search': lambda device, poses, seeds: inverse_kinematics(
        panda(device), TIP, poses, seeds, n_solutions=2
    ),
    'closed form': lambda device, poses, seeds: all_solutions(
        six_axes(device), 'tool0', poses, seeds
    ),
}


@pytest.mark.parametrize('library', LIBRARIES)
@pytest.mark.parametrize('name', SOLVES)
def test_solvers_wait_for_what_they_read_and_others_wait_for_the_answers(name, library):
    library = library()
    robot, link = (panda, TIP) if name == 'search' else (six_axes, 'tool0')
    poses, seeds = reachable_poses(robot, link, N), configurations(robot('cpu'), N, 1)
    expected = SOLVES[name](DEVICE, poses, seeds)
    with library.stream():
        found = SOLVES[name](DEVICE, late(library, poses), library.make(seeds))
        assert isinstance(found.joint_q, library.kind)
        answers = library.read(found.joint_q + 0.0)
        status = library.read(found.status)
    np.testing.assert_array_equal(status, expected.status)
    np.testing.assert_array_equal(answers, expected.joint_q)


@pytest.mark.parametrize('library', [torch, cupy])
def test_outputs_are_written_in_place_before_the_library_reads_them(library):
    library = library()
    model, joint_q = panda(DEVICE), configurations(panda('cpu'), N)
    expected = np.zeros((N, model.body_count, 7))
    eval_fk(panda('cpu'), joint_q, expected)
    with library.stream():
        body_q = library.make(np.zeros_like(expected))
        eval_fk(model, late(library, joint_q), body_q)
        doubled = library.read(2.0 * body_q)
    np.testing.assert_allclose(doubled, 2.0 * expected, atol=1e-9)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Threads per block of kernels on a GPU, and rows of buffers that are copied there."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from support.solvers.apart_memory import apart_memory
import warp as wp

from benchmarks.gpu.kernels import product_variants
from benchmarks.gpu.kernels import source_files
from benchmarks.gpu.recorded import read_table
from ros_ik.kinematics.runtime import kernel_launch
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import block_size
from ros_ik.kinematics.runtime.kernel_launch import DEFAULT_BLOCK
from ros_ik.kinematics.runtime.kernel_launch import resident_threads

# Kernels with many registers declare them.
MANY = 128


@pytest.mark.parametrize(
    ('registers', 'resident', 'block'),
    [
        (255, 256, 32), (248, 256, 32), (168, 384, 32), (144, 448, 32), (128, 512, 64),
        (96, 672, 64), (64, 1024, 128), (40, 1632, 128), (32, 2048, 256), (9, 2048, 256),
    ],
)  # fmt: skip
def test_block_sizes(registers, resident, block):
    assert resident_threads(registers) == resident
    assert block_size(registers) == block


def test_kernels_of_many_registers_have_blocks_of_their_size():
    table, heavy = read_table().kernels, {}
    for variant in product_variants():
        for name, kernel in variant.make().items():
            recorded = table.get(f'{variant}.{name}')
            if recorded is None:
                continue
            # Those of float32 and of float64 may declare different numbers.
            block = kernel.module.options['block_dim']
            key = variant.factory, name, block
            most, _ = heavy.get(key, (0, 0))
            heavy[key] = max(most, recorded.registers), block
    # Kernels that are compiled together have the blocks of the largest.
    single = {key: value for key, value in heavy.items() if 'pair_kernels' != key[0].__name__}
    many = {key: value for key, value in single.items() if value[0] >= MANY}
    blocks = {key[1:]: block for key, (_, block) in many.items()}
    sizes = {key[1:]: block_size(most) for key, (most, _) in many.items()}
    assert len(blocks) > 20
    assert blocks == sizes
    light = {block for most, block in single.values() if most < MANY}
    assert light == {DEFAULT_BLOCK}


def test_every_kernel_is_launched_with_its_block_size():
    calls = re.compile(r'\bwp\.launch\(')
    found = [path.name for path in source_files() if calls.search(path.read_text())]
    assert found == ['kernel_launch.py']


@compiled_kernel(registers=255)
def _twice(values: wp.array(dtype=wp.float64)):
    k = wp.tid()
    values[k] = wp.float64(2.0) * values[k]


def test_blocks_are_for_gpus_alone(monkeypatch):
    values = wp.array(np.arange(3.0), dtype=wp.float64, device='cpu')
    seen = []

    def spy(*arguments, **options):
        seen.append(options['block_dim'])

    kernel_launch.launch(_twice, 3, outputs=[values], device='cpu')
    np.testing.assert_array_equal(values.numpy(), [0.0, 2.0, 4.0])
    monkeypatch.setattr(wp, 'launch', spy)
    kernel_launch.launch(_twice, 3, outputs=[values], device='cpu')
    monkeypatch.setattr(wp, 'get_device', lambda device: SimpleNamespace(is_cuda=True))
    kernel_launch.launch(_twice, 3, outputs=[values], device='cuda:0')
    assert seen == [None, 32]


def test_only_the_first_rows_are_copied():
    with apart_memory():
        buffer = HostBuffer((4, 2), wp.float64, 'cpu')
        buffer.host[:] = 1.0
        buffer.upload(3)
        np.testing.assert_array_equal(buffer.array.numpy()[:, 0], [1.0, 1.0, 1.0, 0.0])
        buffer.array.fill_(5.0)
        buffer.download(1)
        np.testing.assert_array_equal(buffer.host[:, 1], [5.0, 1.0, 1.0, 1.0])
        buffer.download()
        assert np.all(buffer.host == 5.0)


@pytest.mark.parametrize('shape', [(0,), (0, 2), (3, 0)])
def test_a_buffer_without_numbers_is_copied(shape):
    with apart_memory():
        buffer = HostBuffer(shape, wp.float64, 'cpu')
        buffer.upload()
        buffer.download()
    assert buffer.host.shape == shape

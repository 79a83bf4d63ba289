# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled to PTX, and the registers, stack and spills of what ptxas makes of it.

Neither needs a driver or a card: Warp brings NVRTC, the package ``nvidia-cuda-nvcc`` ptxas.
"""

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
import os
from pathlib import Path
import re
import subprocess
import tempfile
import time

import warp as wp
from warp._src.build import build_cuda
from warp._src.context import ModuleBuilder
from warp._src.context import ModuleHasher

from benchmarks.gpu.kernels import Variant
from benchmarks.harness.process import ROOT

# H100 and H200.
ARCHITECTURE = 90

_ENTRY = re.compile(r"Compiling entry function '(\w+)'")
_FRAME = re.compile(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads')
_USED = re.compile(r'Used (\d+) registers(?:.*?(\d+) bytes cumulative stack size)?')


@dataclass(frozen=True)
class Usage:
    """Resources of one entry point.

    Attributes:
        registers: A thread's registers, 255 at most.
        stack: A thread's stack [bytes], that of called functions included.
        spill_stores: Bytes that a thread writes for want of registers, of one pass of the code.
        spill_loads: Bytes that it reads back.
    """

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int


def compile_modules(
    kernels: Iterable[wp.Kernel], folder: Path | None = None
) -> tuple[list[Path], float]:
    """Compile the modules of kernels to PTX; those that are there already are kept.

    Args:
        kernels: The kernels.
        folder: Where the PTX goes, Warp's cache by default.

    Returns:
        The PTX files, and the processor time of this process [s].
    """
    begin = time.process_time()
    modules = dict.fromkeys(kernel.module for kernel in kernels)
    paths = [
        path
        for module in modules
        for path in wp.compile_aot_module(
            module, arch=ARCHITECTURE, use_ptx=True, module_dir=folder and folder / module.name
        )
    ]
    return paths, time.process_time() - begin


def generated_source(kernels: Sequence[wp.Kernel]) -> str:
    """Return the CUDA source of kernels of equal blocks and of the functions that they call."""
    module = kernels[0].module
    options = module.resolve_options(wp.config, block_dim=module.options['block_dim'])
    options |= {'output_arch': ARCHITECTURE}
    hasher = ModuleHasher(kernels, options)
    return str(ModuleBuilder(module, options, hasher, target='cuda').codegen('cuda'))


def compile_together(kernels: Sequence[wp.Kernel], folder: Path) -> str:
    """Return the PTX of kernels of equal blocks, compiled as one source in a folder.

    Most of the time to compile a small kernel goes into Warp's headers.
    """
    source, ptx = folder / 'kernels.cu', folder / 'kernels.ptx'
    source.write_text(generated_source(kernels))
    headers = wp._src.context.runtime.get_clang_pch_dir()
    build_cuda(str(source), ARCHITECTURE, str(ptx), pch_dir=headers)
    return ptx.read_text(errors='replace')


def entry_points(kernel: wp.Kernel) -> list[str]:
    """Return the names of a kernel's entry points in PTX."""
    name = kernel.get_mangled_name()
    return [f'{name}_cuda_kernel_forward', f'{name}_cuda_kernel_backward']


def find_ptxas() -> Path:
    """Return ptxas of the environment of the benchmarks, or the one that PTXAS names.

    Raises:
        FileNotFoundError: There is none.
    """
    named = os.environ.get('PTXAS')
    places = [Path(named)] if named else (ROOT / '.venv-bench').glob(
        'lib/python3*/site-packages/nvidia/cu*/bin/ptxas'
    )  # fmt: skip
    for path in places:
        if path.exists():
            return path
    raise FileNotFoundError('no ptxas; tools/setup_bench installs it, or PTXAS names one')


def ptxas_version(ptxas: Path) -> str:
    """Return the version of ptxas."""
    said = subprocess.run([ptxas, '--version'], capture_output=True, text=True, check=True).stdout
    return re.search(r'release [\d.]+, V([\d.]+)', said)[1]


def assemble(ptx: Path, ptxas: Path) -> dict[str, Usage]:
    """Return the resources of each entry point of a PTX file.

    Raises:
        RuntimeError: ptxas refuses the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        # Warp ends its PTX with a NUL.
        source = Path(folder) / ptx.name
        source.write_bytes(ptx.read_bytes().rstrip(b'\0'))
        made = subprocess.run(
            [ptxas, '-v', f'-arch=sm_{ARCHITECTURE}', '-o', os.devnull, source],
            capture_output=True, text=True,
        )  # fmt: skip
    if made.returncode:
        raise RuntimeError(f'{ptx.name}: {made.stderr.strip()}')
    return read_usage(made.stderr)


def read_usage(report: str) -> dict[str, Usage]:
    """Return the resources of each entry point in a report of ``ptxas -v``."""
    usage, entry, frame = {}, None, None
    for line in report.splitlines():
        if found := _ENTRY.search(line):
            entry, frame = found[1], None
        elif found := _FRAME.search(line):
            # Functions that are called follow the entry point.
            stack, stores, loads = map(int, found.groups())
            more = frame or (0, 0, 0)
            frame = max(more[0], stack), more[1] + stores, more[2] + loads
        elif entry and (found := _USED.search(line)):
            stack, stores, loads = frame or (0, 0, 0)
            usage[entry] = Usage(int(found[1]), max(stack, int(found[2] or 0)), stores, loads)
    return usage


def measure(
    variant: Variant, ptxas: Path, folder: Path | None = None
) -> tuple[dict[str, Usage], float]:
    """Compile and assemble a variant; ``folder`` as in :func:`compile_modules`.

    Returns:
        Resources by name of kernel, followed by ``, adjoint`` for its backward pass, and the
        processor time of the compiler, next to nothing where the PTX is there already [s].
    """
    kernels = variant.make()
    paths, seconds = compile_modules(kernels.values(), folder)
    found: dict[str, Usage] = {}
    for path in paths:
        found |= assemble(path, ptxas)
    named = {
        f'{variant}.{name}{suffix}': found.get(entry)
        for name, kernel in kernels.items()
        for suffix, entry in zip(('', ', adjoint'), entry_points(kernel), strict=True)
    }
    return {name: usage for name, usage in named.items() if usage is not None}, seconds

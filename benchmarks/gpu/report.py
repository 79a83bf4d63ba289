# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The table of compiled kernels on a terminal and in docs/benchmarks.md."""

from collections.abc import Mapping

from benchmarks.gpu.compiled import Usage
from benchmarks.gpu.recorded import Recorded
from benchmarks.harness.process import ROOT
from benchmarks.harness.table import table_lines
from benchmarks.harness.table import write_document

BEGIN = '<!-- made by `make gpu-compile`: begin -->'
END = '<!-- made by `make gpu-compile`: end -->'
# A kernel with this many registers leaves room for so many threads on an SM that more hardly help.
MANY_REGISTERS = 128
# Stack [bytes] that a kernel may have without a line of its own.
SMALL_STACK = 64

_HEADER = ['kernel', 'registers', 'stack [B]', 'spill stores [B]', 'spill loads [B]']


def usage_lines(kernels: Mapping[str, Usage]) -> list[str]:
    """Return a line for each kernel."""
    return [
        f'{usage.registers:4} registers {usage.stack:5} stack '
        f'{usage.spill_stores:5}/{usage.spill_loads:<5} spills  {name}'
        for name, usage in kernels.items()
    ]


def is_heavy(usage: Usage) -> bool:
    """Return True if a kernel has a line of its own in the document."""
    spills = usage.spill_stores + usage.spill_loads
    return usage.registers >= MANY_REGISTERS and (usage.stack > SMALL_STACK or spills > 0)


def section(table: Recorded) -> str:
    """Return the generated part of the document."""
    heavy = {name: usage for name, usage in table.kernels.items() if is_heavy(usage)}
    light = sum(u.registers < MANY_REGISTERS and not u.stack for u in table.kernels.values())
    order = sorted(heavy, key=lambda name: (-heavy[name].stack, name))
    rows = [{'name': name, **vars(heavy[name])} for name in order]
    lines = table_lines(rows, _HEADER, lambda entry: [str(value) for value in entry.values()])
    versions = ', '.join(f'{name} {version}' for name, version in table.versions.items())
    return (
        f'All {len(table.seconds)} variants of the kernels compile to PTX for sm_90, in '
        f'{sum(table.seconds.values()):.0f} s of processor time ({versions}). Of the\n'
        f'{len(table.kernels)} entry points whose resources are recorded, {light} have below '
        f'{MANY_REGISTERS} registers and no stack. Those with {MANY_REGISTERS} or\nmore and '
        f'spills, or more than {SMALL_STACK} bytes of stack:\n\n' + '\n'.join(lines)
    )


def write_section(table: Recorded) -> None:
    """Replace the section of docs/benchmarks.md."""
    write_document([table], ROOT / 'docs' / 'benchmarks.md', lambda rows: section(rows[0]),
                   (BEGIN, END))  # fmt: skip

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The recorded table of compiled kernels, and what a run is worse in."""

from collections.abc import Collection
from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
import json
from pathlib import Path

from benchmarks.gpu.compiled import Usage
from benchmarks.harness.process import ROOT

TABLE = ROOT / 'benchmarks' / 'results' / 'kernels.json'


@dataclass
class Recorded:
    """Resources of all kernels.

    Attributes:
        versions: Versions of Warp and ptxas.
        kernels: Resources by name of kernel.
        seconds: Processor time of compiling each variant from nothing to PTX, by its name [s].
    """

    versions: dict[str, str]
    kernels: dict[str, Usage] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def updated(self, newer: 'Recorded') -> 'Recorded':
        """Return this table with the variants of a newer one in the place of its own."""
        kept = {
            name: usage
            for name, usage in self.kernels.items()
            if not any(name.startswith(f'{variant}.') for variant in newer.seconds)
        }
        return Recorded(
            newer.versions, kept | newer.kernels, {**self.seconds, **newer.seconds}
        )

    def of(self, variants: Collection[str]) -> 'Recorded':
        """Return the rows of these variants, without those of variants that no longer exist."""
        kernels = {
            name: usage
            for name, usage in self.kernels.items()
            if any(name.startswith(f'{variant}.') for variant in variants)
        }
        seconds = {name: value for name, value in self.seconds.items() if name in variants}
        return Recorded(self.versions, kernels, seconds)

    def write(self, path: Path) -> None:
        """Write the table as JSON, a kernel a line."""
        lines = {name: asdict(usage) for name, usage in self.kernels.items()}
        parts = [('versions', self.versions), ('kernels', lines), ('seconds', self.seconds)]
        body = ',\n'.join(
            f'"{title}": {{\n' + ',\n'.join(
                f' {json.dumps(name)}: {json.dumps(value)}' for name, value in part.items()
            ) + '\n}'
            for title, part in parts
        )  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{\n{body}\n}}\n')


def read_table(path: Path = TABLE) -> Recorded:
    """Read a table that :meth:`Recorded.write` wrote."""
    saved = json.loads(path.read_text())
    kernels = {name: Usage(**usage) for name, usage in saved['kernels'].items()}
    return Recorded(saved['versions'], kernels, saved['seconds'])


def growth(now: Mapping[str, Usage], before: Mapping[str, Usage]) -> list[str]:
    """Return a line for each kernel whose stack or spills grew."""
    return [
        f'{name}: {what.replace("_", " ")} {getattr(before[name], what)} -> {value} bytes'
        for name, usage in now.items()
        if name in before
        for what, value in asdict(usage).items()
        if what != 'registers' and value > getattr(before[name], what)
    ]

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Compiles every kernel for a GPU and compares with the recorded table: ``make gpu-compile``."""

import argparse
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
import sys
import tempfile

import warp as wp

from benchmarks.gpu.compiled import find_ptxas
from benchmarks.gpu.compiled import measure
from benchmarks.gpu.compiled import ptxas_version
from benchmarks.gpu.kernels import product_variants
from benchmarks.gpu.recorded import growth
from benchmarks.gpu.recorded import read_table
from benchmarks.gpu.recorded import Recorded
from benchmarks.gpu.recorded import TABLE
from benchmarks.gpu.report import usage_lines
from benchmarks.gpu.report import write_section


def main():
    """Compile what the command line asks for; exit with 1 where stack or spills grew."""
    options = _parse()
    wp.config.quiet = True
    ptxas = find_ptxas()
    now = Recorded({'warp-lang': metadata.version('warp-lang'), 'ptxas': ptxas_version(ptxas)})
    before, variants = read_table(), product_variants()
    is_part = options.missing or bool(options.only)
    if options.record and is_part and before.versions != now.versions:
        # One label is that of all rows.
        sys.exit(
            f'the table was recorded with {before.versions}, this is {now.versions}: use those '
            'versions, or record all kernels, without --missing and --only'
        )
    # Times count from nothing.
    place = tempfile.TemporaryDirectory() if options.record else nullcontext()
    with place as folder:
        for variant in variants:
            is_known = options.missing and str(variant) in before.seconds
            if options.only in str(variant) and not is_known:
                usage, seconds = measure(variant, ptxas, folder and Path(folder))
                now.kernels |= usage
                now.seconds[str(variant)] = round(seconds, 2)
                print('\n'.join(usage_lines(usage)), flush=True)
    if options.record:
        whole = before.updated(now) if is_part else now
        whole = whole.of([str(variant) for variant in variants])
        whole.write(TABLE)
        write_section(whole)
        return
    if before.versions != now.versions:
        print(f'the table was recorded with {before.versions}, this is {now.versions}')
    worse = growth(now.kernels, before.kernels)
    new = len(now.kernels.keys() - before.kernels.keys())
    print('\n'.join(worse) or f'{len(now.kernels)} entry points, none worse; {new} not recorded')
    sys.exit(bool(worse))


def _parse():
    parser = argparse.ArgumentParser(prog='python -m benchmarks.gpu', description=__doc__)
    parser.add_argument('--only', default='', help='variants whose name contains this')
    parser.add_argument(
        '--missing', action='store_true', help='only variants that the table does not have'
    )
    parser.add_argument(
        '--record', action='store_true', help='write the table and the section of the document'
    )
    return parser.parse_args()


if __name__ == '__main__':
    main()

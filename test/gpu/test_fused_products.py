# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that fuse products and sums, as GPUs do, give the same answers.

Fused, a sum of products is rounded once less: what is compared with zero or with a neighbour may
fall to the other side. A CPU does so where its compiler is told to. The long form runs every case
of the GPU, whose kernels compile in minutes; the short one some that compile in seconds.
"""

import os
import pickle
import subprocess
import sys

from gpu import fused_products
from gpu.agreement import assert_agree
from gpu.fused_products import cases
import pytest
from support.long_forms import either

CHOSEN = either(['search', 'programs with rows', 'checks of steps'], list(cases()))


@pytest.fixture(scope='module')
def fused(tmp_path_factory):
    """Solve the cases with kernels that fuse products and sums."""
    path = tmp_path_factory.mktemp('fused') / 'results'
    command = [sys.executable, fused_products.__file__, str(path), *CHOSEN]
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, 'PYTHONPATH': paths}
    subprocess.run(command, env=environment, check=True, timeout=1500)
    return pickle.loads(path.read_bytes())


@pytest.mark.timeout(1800)
@pytest.mark.parametrize('name', CHOSEN)
def test_answers_do_not_depend_on_fused_products(fused, name):
    case = cases()[name]
    assert_agree(fused[name], case.results('cpu'), **case.tolerance)


def test_products_are_fused(fused):
    """The flag reaches the compiler: some number differs in its last digits."""
    apart = [
        bool((there != here).any())
        for name in CHOSEN
        for there, here in zip(
            fused[name].values(), cases()[name].results('cpu').values(), strict=True
        )
    ]
    assert any(apart)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cases of the GPU in a process whose kernels fuse products and sums, as GPUs do.

Run as a program with a file and names of cases, it writes their results to the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import functools
from pathlib import Path
import pickle
import sys
from typing import Any

from gpu import test_planning
from gpu import test_queries
from gpu import test_solvers
from gpu import test_steps
from gpu.panda import configurations
from gpu.panda import panda
import warp as wp

from ros_ik.kinematics.runtime.shared_compilation import share_compilations
from ros_ik.solvers import DlsSolver
from ros_ik.solvers import GaussNewtonSolver

# Contracts across statements, and with it every sum of a product that the processor can fuse.
FLAG = '-ffp-contract=fast'


@dataclass(frozen=True)
class Case:
    """Results of a device, and how far two devices may be apart; see ``assert_agree``."""

    results: Callable[[str], Any]
    tolerance: dict[str, float] = field(default_factory=dict)


def named(function, *names):
    """Return a function of a device whose results in a tuple have names."""
    return lambda device: dict(zip(names, function(device), strict=True))


def query(name, device):
    """Return the result of a query for configurations."""
    return test_queries.QUERIES[name](panda(device), configurations(panda(device), test_queries.N))


def cases():
    """Return the cases by name."""
    solve, single = test_solvers, {'rtol': 1e-2, 'atol': 2e-3, 'share': 0.95}
    found = {
        'search': Case(named(solve.search, 'status', 'joint_q', 'poses'), {'atol': 1e-5}),
        'several searched': Case(
            named(functools.partial(solve.search, n_solutions=4), 'status', 'joint_q', 'poses'),
            {'atol': 1e-5},
        ),
        'six joints': Case(functools.partial(solve.closed_form, seven=False), {'atol': 1e-6}),
        'seven joints': Case(functools.partial(solve.closed_form, seven=True), {'atol': 1e-6}),
        'chain, damped': Case(functools.partial(solve.chain, make=DlsSolver), {'rtol': 1e-5}),
        'chain, Gauss-Newton': Case(
            functools.partial(solve.chain, make=GaussNewtonSolver),
            {'rtol': 1e-5, 'atol': 1e-6, 'share': 0.95},
        ),
        'batch': Case(solve.batch, single),
        'batch, modular': Case(functools.partial(solve.batch, use_fused=False), single),
        'batch, L-BFGS': Case(functools.partial(solve.batch, optimizer='lbfgs'), single),
        'programs with a box': Case(functools.partial(solve.quadratic_programs, rows=0)),
        'programs with rows': Case(functools.partial(solve.quadratic_programs, rows=12)),
        'whole motion': Case(test_planning.whole_motion),
        'checks of steps': Case(test_steps.checked_steps),
        'steps ahead': Case(test_steps.steps_ahead),
    }
    kinds = {
        'objective': test_steps.OBJECTIVES, 'limit': test_steps.LIMITS,
        'barrier': test_steps.BARRIERS,
    }  # fmt: skip
    for kind, names in kinds.items():
        for name in names:
            run = functools.partial(test_steps.steps, kind=kind, name=name)
            found[f'{kind}, {name}'] = Case(run)
    for name in test_queries.QUERIES:
        found[name] = Case(functools.partial(query, name))
    return found


if __name__ == '__main__':
    wp.config.quiet = True
    share_compilations()
    # Half of the time of the usual level, 2, and products are fused as well.
    wp.config.optimization_level = 1
    wp.config.cpu_compiler_flags = f'{wp.config.cpu_compiler_flags} {FLAG}'
    path, *chosen = sys.argv[1:]
    results = {name: cases()[name].results('cpu') for name in chosen}
    Path(path).write_bytes(pickle.dumps(results))

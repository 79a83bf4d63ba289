# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sections of the suite: each function runs one benchmark and returns its rows."""

import dataclasses

from benchmarks.harness.measure import LOOSE
from benchmarks.harness.measure import OURS
from benchmarks.harness.measure import Runner
from benchmarks.harness.measure import Spec
from benchmarks.harness.measure import TIGHT
from benchmarks.harness.measure import Tolerance
from benchmarks.harness.robots import BENCHMARK_ROBOTS
from benchmarks.harness.table import row
from benchmarks.harness.table import Side

# Name in the table, module, variant.
SINGLE_PEERS = (
    ('roboplan SimpleIk, defaults', 'roboplan', 'default'),
    ('roboplan SimpleIk, 20 restarts', 'roboplan', 'restarts'),
    ('Pinocchio CLIK in Python', 'pinocchio_clik', ''),
    ('pink loop, daqp', 'pink_loop', ''),
    ('mink loop, daqp', 'mink_loop', ''),
    ('motrixsim DlsSolver', 'motrixsim', 'dls'),
    ('newton LM, one seed, captured', 'newton_lm', 'one_seed'),
    ('newton LM, many seeds, captured', 'newton_lm', 'many_seeds'),
)
SIZES = (16, 256, 2048, 16_384, 65_536)
REFERENCE_SIZE = 2048

# Success and mean time [us] as TRAC-IK publishes them for its Speed mode, tag v1.5.1 (README).
TRAC_IK = {
    'panda': (0.9988, 370.0),
    'iiwa14': (0.9992, 280.0),
    'baxter_arm': (0.9983, 370.0),
    'jaco2': (0.9992, 350.0),
    'pr2_arm': (0.9996, 310.0),
    'ur10': (0.9933, 360.0),
    'ur5': (0.9917, 370.0),
    'ur3': (0.9860, 450.0),
}


def single(runner: Runner, quick: bool) -> list[dict]:
    """One random pose a call, every robot, every peer."""
    n, budget = (300, 0.6) if quick else (10_000, 5.0)
    cases = [(robot, limit) for robot in BENCHMARK_ROBOTS for limit in (LOOSE, TIGHT)]
    specs = {case: Spec(case[0], 'chain', 'single', n, case[1]) for case in cases}
    ours = runner.run(OURS, list(specs.values()), 300.0)
    rows = []
    for module in dict.fromkeys(module for _, module, _ in SINGLE_PEERS):
        some = [(name, variant) for name, peer, variant in SINGLE_PEERS if peer == module]
        theirs = {
            (case, name): dataclasses.replace(specs[case], variant=variant, budget=budget)
            for case in cases
            for name, variant in some
        }
        answers = runner.run(f'benchmarks.peers.{module}', list(theirs.values()), 400.0)
        for ((robot, limit), name), spec in theirs.items():
            mine = ours[specs[robot, limit]]
            rows.append(
                row('single', robot, 'random pose', n, str(limit), mine, name, answers[spec])
            )
    return _by_robot(rows)


def batch(runner: Runner, quick: bool) -> list[dict]:
    """Batches: newton at its single seed and at enough seeds, mink-warp; flatness, two cores."""
    sizes = SIZES[:3] if quick else SIZES
    cases = [('panda', LOOSE, n) for n in sizes]
    cases += [('panda', TIGHT, REFERENCE_SIZE)]
    others = ('ur10',) if quick else BENCHMARK_ROBOTS[1:]
    cases += [(robot, LOOSE, REFERENCE_SIZE) for robot in others]
    specs = {case: batch_spec(case, 'chain') for case in cases}
    ours = runner.run(OURS, list(specs.values()), 300.0)
    newton = {
        (case, variant): batch_spec(case, variant)
        for case in cases
        for variant in ('one_seed', 'many_seeds')
    }
    mink = {case: batch_spec(case, '') for case in cases if case[2] == 256}
    theirs = runner.run('benchmarks.peers.newton_lm', list(newton.values()), 600.0)
    theirs |= runner.run('benchmarks.peers.mink_warp_lm', list(mink.values()), 200.0)
    rows = []
    names = {'one_seed': 'newton LM, one seed', 'many_seeds': 'newton LM, many seeds'}
    for (case, variant), spec in newton.items():
        rows.append(batch_row(case, ours[specs[case]], names[variant], theirs[spec]))
    for case, spec in mink.items():
        rows.append(batch_row(case, ours[specs[case]], 'mink-warp LM', theirs[spec]))
    return rows + _flatness(ours, specs, sizes) + _two_cores(runner, quick)


def batch_spec(case: tuple[str, Tolerance, int], variant: str, **options: object) -> Spec:
    """Return the measurement of a batch by robot, tolerance and number of problems."""
    robot, limit, n = case
    # A small batch is over so soon that whatever else runs spoils a few.
    repeats = 25 if n <= 256 else 3 if n <= 4096 or variant == 'chain' else 1
    return Spec(robot, variant, 'batch', n, limit, repeats=repeats, options=tuple(options.items()))


def batch_row(
    case: tuple[str, Tolerance, int], mine: Side, name: str, theirs: Side,
    benchmark: str = 'batch', device: str = 'cpu',
) -> dict:  # fmt: skip
    """Return the row of such a batch beside a peer."""
    robot, limit, n = case
    shown = f'{name}, {theirs.details["setting"]}' if 'setting' in theirs.details else name
    return row(
        benchmark, robot, f'batch of {n:,}', n, str(limit), mine, shown, theirs, device=device
    )


def _flatness(ours, specs, sizes):
    reference = ours[specs['panda', LOOSE, REFERENCE_SIZE]]
    return [
        batch_row(
            ('panda', LOOSE, n),
            ours[specs['panda', LOOSE, n]],
            f'ros_ik, batch of {REFERENCE_SIZE:,}',
            reference,
            'flatness',
        )
        for n in sizes
        if n != REFERENCE_SIZE
    ]


def _two_cores(runner, quick):
    """Compare the fastest of many batches: whatever else runs takes time of two cores alone."""
    case = ('panda', LOOSE, 2048 if quick else 16_384)
    specs = [
        dataclasses.replace(batch_spec(case, 'chain', threads=threads), repeats=25)
        for threads in (1, 2)
    ]
    sides = runner.run(OURS, specs, 120.0)
    one, two = (
        dataclasses.replace(sides[spec], value=sides[spec].details.get('least')) for spec in specs
    )
    return [batch_row(case, two, 'ros_ik on one core', one, 'cores')]


def trac_ik(runner: Runner, quick: bool) -> list[dict]:
    """TRAC-IK's protocol on the robots it publishes that are at hand."""
    n, limit = (300 if quick else 10_000), Tolerance(1e-5, 1e-5, each_component=True)
    specs = {robot: Spec(robot, 'chain', 'single', n, limit, starts='middle') for robot in TRAC_IK}
    ours = runner.run(OURS, list(specs.values()), 300.0)
    return [
        row(
            'trac_ik',
            robot,
            'reachable pose from the middle',
            n,
            str(limit),
            ours[spec],
            'TRAC-IK (published)',
            Side(TRAC_IK[robot][1], TRAC_IK[robot][0], {'mean': TRAC_IK[robot][1]}),
        )
        for robot, spec in specs.items()
    ]


def chain_solvers(runner: Runner, quick: bool) -> list[dict]:
    """Our DlsSolver and GaussNewtonSolver beside motrixsim's."""
    names = {'dls': 'motrixsim DlsSolver', 'gauss_newton': 'motrixsim GaussNewtonSolver'}
    robots = ('panda',) if quick else BENCHMARK_ROBOTS
    specs = [
        Spec(robot, variant, mode, n, LOOSE, budget=5.0)
        for robot in robots
        for variant in names
        for mode, n in (('single', 1000), ('batch', 256))
    ]
    return _same_variant(runner, specs, 'chain_solvers', 'motrixsim', names)


def newton_interface(runner: Runner, quick: bool) -> list[dict]:
    """Our IKSolver beside newton's: same objectives, same iterations, one seed."""
    robots = ('panda',) if quick else BENCHMARK_ROBOTS
    specs = [
        Spec(robot, 'one_seed', mode, n, LOOSE, budget=5.0)
        for robot in robots
        for mode, n in (('single', 300), ('batch', 2048))
    ]
    names = {'one_seed': 'newton.ik.IKSolver, captured'}
    return _same_variant(runner, specs, 'newton_interface', 'newton_lm', names)


def _same_variant(runner, specs, benchmark, module, names):
    """Compare per problem: these solvers have one start each, success stands beside the time."""
    ours = runner.run(OURS, specs, 200.0)
    theirs = runner.run(f'benchmarks.peers.{module}', specs, 200.0)
    rows = []
    for spec in specs:
        problem = 'one pose a call' if spec.mode == 'single' else f'batch of {spec.n:,}'
        mine, peer = (_per_problem(sides[spec]) for sides in (ours, theirs))
        rows.append(
            row(
                benchmark,
                spec.robot,
                problem,
                spec.n,
                str(spec.tolerance),
                mine,
                names[spec.variant],
                peer,
            )
        )
    return rows


def _per_problem(side):
    if 'each' not in side.details:
        return side
    return dataclasses.replace(side, value=side.details['each'], error='')


def _by_robot(rows):
    order = {robot: k for k, robot in enumerate(BENCHMARK_ROBOTS)}
    return sorted(rows, key=lambda entry: (order[entry['robot']], entry['tolerance']))

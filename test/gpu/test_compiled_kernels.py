# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every kernel of the package compiles for a GPU, without a driver and without a card.

The quick ones are compiled here, as one source. ``make gpu-compile`` compiles all of them; its
table names every variant that was compiled, and must name all that there are.
"""

import ast
import itertools
import re
import sys
from types import SimpleNamespace
from typing import no_type_check

import pytest
from support.long_forms import either
import warp as wp

from benchmarks.gpu import kernels
import benchmarks.gpu.__main__ as command
from benchmarks.gpu.compiled import compile_together
from benchmarks.gpu.compiled import entry_points
from benchmarks.gpu.compiled import generated_source
from benchmarks.gpu.compiled import read_usage
from benchmarks.gpu.compiled import Usage
from benchmarks.gpu.kernels import arguments_of
from benchmarks.gpu.kernels import product_variants
from benchmarks.gpu.kernels import source_files
from benchmarks.gpu.kernels import Variant
from benchmarks.gpu.recorded import growth
from benchmarks.gpu.recorded import read_table
from benchmarks.gpu.recorded import Recorded
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel

# Operations on memory that threads share, in the source that Warp writes.
ATOMIC = re.compile(r'\bwp::(atomic_\w+)\(')
# Lanes of one problem share their success by an atomic minimum of integers, solutions of one pose
# its status by a maximum.
SHARED = {'chain_ik': {'atomic_min'}, 'verify': {'atomic_max'}}
# Most stack of a thread of collision kernels [bytes].
MAX_STACK = 1350
# Longest compilation of the kernels compiled here [s], by the table.
QUICK = either(0.5, 1.0)


def first_variants():
    """Return the first variant of each factory."""
    groups = itertools.groupby(product_variants(), lambda variant: variant.factory)
    return [next(group) for _, group in groups]


def quick_variants():
    """Return the first variant of each factory that compiles quickly."""
    seconds = read_table().seconds
    for _, group in itertools.groupby(product_variants(), lambda variant: variant.factory):
        quick = [v for v in group if seconds.get(str(v), 0.0) <= QUICK]
        yield from quick[:1]


def by_block(variants):
    """Yield the kernels of variants in lists of equal blocks, of which one source can be made.

    Most of the time of a source goes into headers. A kernel itself says if it has an adjoint.
    """
    kernels = [kernel for variant in variants for kernel in variant.make().values()]

    def block(kernel):
        return kernel.module.options['block_dim']

    for _, group in itertools.groupby(sorted(kernels, key=block), block):
        yield list(group)


def test_quick_kernels_compile_to_ptx(tmp_path):
    for group in by_block(quick_variants()):
        text = compile_together(group, tmp_path)
        assert '.target sm_90' in text
        for kernel in group:
            forward, backward = entry_points(kernel)
            assert f'.entry {forward}(' in text
            assert (f'.entry {backward}(' in text) == kernel.options['enable_backward']


def shared(kernel):
    """Return the operations on shared memory that a kernel may have."""
    return sorted(SHARED.get(kernel.func.__name__, ()))


def test_threads_own_what_they_write():
    for group in by_block(first_variants()):
        # Not kernels with an adjoint, that adds the gradients of threads.
        made = [kernel for kernel in group if not kernel.options['enable_backward']]
        for expected, same in itertools.groupby(sorted(made, key=shared), shared):
            same = list(same)
            if set(ATOMIC.findall(generated_source(same))) != set(expected):
                found = {k.key: ATOMIC.findall(generated_source([k])) for k in same}
                assert {name: set(those) for name, those in found.items()} == {
                    name: set(expected) for name in found
                }


def test_every_variant_was_compiled_and_the_table_names_no_other():
    table = read_table()
    variants = {str(variant) for variant in product_variants()}
    assert set(table.seconds) == variants, 'python -m benchmarks.gpu --record, --only for some'
    kernels = {f'{variant}.{name}' for variant in product_variants() for name in variant.kernels}
    assert {name.removesuffix(', adjoint') for name in table.kernels} <= kernels


def test_kernels_of_collisions_need_little_stack():
    # Threads of large stacks wait for memory; 2,312 bytes when GJK was inlined with arrays on it.
    # The corners of the face in which overlapping shapes touch take 170 of the 1,312 of today.
    stack = {k: used.stack for k, used in read_table().kernels.items() if '.collision.' in k}
    assert len(stack) > 20
    assert {k: size for k, size in stack.items() if size > MAX_STACK} == {}


def made_by(node):
    """Return the names that a node of a syntax tree calls or is decorated with."""
    words = [*getattr(node, 'decorator_list', ()), *([node] if isinstance(node, ast.Call) else ())]
    return [word.func if isinstance(word, ast.Call) else word for word in words]


def sources_with(pattern):
    """Yield the files of the package that have a pattern; the others need not be parsed."""
    for path in source_files():
        if re.search(pattern, path.read_text()):
            yield path


def test_kernels_are_made_with_the_decorator_alone():
    for path in sources_with(r'\.\s*[kK]ernel\b'):
        if path.name == 'compiled_kernel.py':
            continue
        for node in ast.walk(kernels.parsed(path)):
            for word in made_by(node):
                made = isinstance(word, ast.Attribute) and word.attr in ('kernel', 'Kernel')
                assert not made, f'{path}:{node.lineno}'


def static_values_of_loops(node, loops=frozenset()):
    """Yield the calls of wp.static below a node that name the variable of a loop around them."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        loops |= {node.target.id}
    if isinstance(node, ast.Call) and ast.unparse(node.func) == 'wp.static':
        if loops & {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}:
            yield node
    for child in ast.iter_child_nodes(node):
        yield from static_values_of_loops(child, loops)


def test_no_static_value_depends_on_a_loop():
    # Warp would write the code of a kernel with one at each start, cached or not. With one in a
    # function, a kernel has another name in the cache once others of that function are compiled.
    static = [
        node
        for path in sources_with(r'\bstatic\b')
        for node in ast.walk(kernels.parsed(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == 'wp.static'
    ]
    assert len(static) > 100
    found = [
        f'{path.name}:{value.lineno}: {ast.unparse(value)}'
        for path in sources_with(r'\bstatic\b')
        for value in static_values_of_loops(kernels.parsed(path))
    ]
    assert found == []


@no_type_check
def _unknown_parameter(width: int) -> wp.Kernel:
    @compiled_kernel()
    def nothing(): ...

    return nothing


def test_a_parameter_without_samples_is_named():
    with pytest.raises(TypeError, match="_unknown_parameter: parameter 'width' has no values"):
        list(arguments_of(_unknown_parameter))


def test_a_kernel_that_a_factory_keeps_to_itself_is_named():
    variant = Variant(lambda: SimpleNamespace(), (), ('hidden',))
    with pytest.raises(LookupError, match='does not return hidden'):
        variant.make()


def test_a_kernel_outside_a_function_is_refused(tmp_path, monkeypatch):
    path = tmp_path / 'loose.py'
    path.write_text('class Holder:\n    @compiled_kernel()\n    def loose(): ...\n')
    monkeypatch.setattr(kernels, 'source_files', lambda: [path])
    with pytest.raises(ValueError, match=r'loose\.py: a kernel outside a function'):
        kernels.product_variants.__wrapped__()


REPORT = """\
ptxas info    : 11 bytes gmem
ptxas info    : Compiling entry function 'light_cuda_kernel_forward' for 'sm_90'
ptxas info    : Function properties for light_cuda_kernel_forward
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 544 bytes cmem[0]
ptxas info    : Compiling entry function 'heavy_cuda_kernel_forward' for 'sm_90'
ptxas info    : Function properties for heavy_cuda_kernel_forward
    100 bytes stack frame, 20 bytes spill stores, 30 bytes spill loads
ptxas info    : Function properties for called
    48 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 148 bytes cumulative stack size
"""


def test_reads_what_ptxas_reports():
    assert read_usage(REPORT) == {
        'light_cuda_kernel_forward': Usage(32, 0, 0, 0),
        'heavy_cuda_kernel_forward': Usage(255, 148, 24, 38),
    }


def test_growth_of_stack_and_spills_is_named_and_registers_may_change():
    before = {'a': Usage(100, 8, 0, 0), 'b': Usage(100, 8, 4, 4)}
    now = {'a': Usage(110, 16, 0, 0), 'b': Usage(90, 8, 4, 8), 'c': Usage(1, 0, 0, 0)}
    assert growth(now, before) == ['a: stack 8 -> 16 bytes', 'b: spill loads 4 -> 8 bytes']
    assert growth(before, before) == []


@pytest.mark.parametrize('part', [['--missing'], ['--only', 'pair_kernels']])
def test_rows_of_another_assembler_do_not_join_the_table(part, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, 'argv', ['benchmarks.gpu', '--record', *part])
    monkeypatch.setattr(command, 'read_table', lambda: Recorded({'ptxas': '1'}))
    monkeypatch.setattr(command, 'find_ptxas', lambda: 'ptxas')
    monkeypatch.setattr(command, 'ptxas_version', lambda ptxas: '2')
    # Nothing is compiled or written.
    monkeypatch.setattr(command, 'product_variants', list)
    monkeypatch.setattr(command, 'TABLE', tmp_path / 'table.json')
    monkeypatch.setattr(command, 'write_section', lambda table: None)
    with pytest.raises(SystemExit, match="this is .*'ptxas': '2'}: use those"):
        command.main()
    assert not (tmp_path / 'table.json').exists()


def test_a_table_survives_its_file_and_takes_newer_variants(tmp_path):
    table = Recorded({'ptxas': '1'}, {'m.f(x=1).k': Usage(1, 2, 3, 4), 'm.g().k': Usage(
        5, 6, 7, 8)}, {'m.f(x=1)': 0.5, 'm.g()': 1.0})  # fmt: skip
    table.write(tmp_path / 'table.json')
    assert read_table(tmp_path / 'table.json') == table
    newer = Recorded({'ptxas': '1'}, {'m.g().other': Usage(0, 0, 0, 0)}, {'m.g()': 2.0})
    merged = table.updated(newer)
    assert set(merged.kernels) == {'m.f(x=1).k', 'm.g().other'}
    assert merged.seconds == {'m.f(x=1)': 0.5, 'm.g()': 2.0}
    assert merged.of(['m.g()']) == newer

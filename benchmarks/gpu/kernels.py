# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""All kernels of the package that GPUs run, found in its source.

Each kernel is made by a factory: a function of a module that decorates it with
``compiled_kernel``. The types of a factory's parameters say which values they take; a parameter
that describes the structure of a robot takes the samples of ``STRUCTURES``.
"""

import ast
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
import enum
import functools
import importlib
import inspect
import itertools
from pathlib import Path

import warp as wp

from benchmarks.harness.process import ROOT
from ros_ik.objectives.base.formula import AnyFormula
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.formula import JointFormula
from ros_ik.objectives.formulas import BUILTIN_FORMULAS
from ros_ik.objectives.formulas import STEP_FORMULAS
from ros_ik.objectives.position import POSITION
from ros_ik.solvers.analytic.structure.form import ClosedFormFamily
from ros_ik.solvers.analytic.structure.structure import Split
from ros_ik.solvers.differential_ik.quadratic_program.small_active_set import MAX_VARIABLES

PACKAGE = ROOT / 'ros_ik'
DECORATOR = 'compiled_kernel'


@wp.struct
class _Speeds:
    fast: wp.float64
    slow: wp.float64


@wp.func
def _slower_far_away(speeds: _Speeds, q: wp.float64, dt: wp.float64) -> wp.vec2d:
    step = dt * wp.where(wp.abs(q) < wp.float64(1.0), speeds.fast, speeds.slow)
    return wp.vec2d(-step, step)


_TURNS_6, _TURNS_7 = (False,) * 6, (False,) * 7
# Samples of parameters that describe a structure, by the names of those that go together.
STRUCTURES: dict[tuple[str, ...], tuple[tuple, ...]] = {
    # With an adjoint the forward pass is the same.
    ('differentiable',): ((True,),),
    ('m',): ((7,), (MAX_VARIABLES,)),
    ('slides', 'variables'): (
        (_TURNS_7, tuple(range(7))),
        (_TURNS_6, tuple(range(6))),
        ((True, *_TURNS_7), tuple(range(8))),
    ),
    # One lane on a GPU.
    ('lanes',): ((1,),),
    ('n', 'has_slides', 'has_free_turns'): ((6, False, False), (6, True, True)),
    ('family', 'split', 'row', 'backwards', 'wrapped'): tuple(
        (family, split, 0, False, False)
        for family in (ClosedFormFamily.SPHERICAL, ClosedFormFamily.PARALLEL)
        for split in Split
    )
    + ((ClosedFormFamily.SPHERICAL, Split.JOINT, 1, True, True),),
    ('n', 'has_slides'): ((7, False),),
    ('formula',): tuple((f,) for f in BUILTIN_FORMULAS if isinstance(f, Formula)),
    ('joint_formula',): tuple((f,) for f in BUILTIN_FORMULAS if isinstance(f, JointFormula)),
    ('formulas',): ((BUILTIN_FORMULAS,),),
    ('barrier_formula',): ((POSITION,),),
    ('joint_bounds',): ((_slower_far_away,),),
    ('task_formulas',): ((STEP_FORMULAS,),),
}


@dataclass(frozen=True)
class Variant:
    """A factory with one choice of its arguments.

    Attributes:
        factory: The function that makes the kernels.
        arguments: Its arguments by name.
        kernels: Names of the kernels that it makes.
    """

    factory: Callable
    arguments: tuple[tuple[str, object], ...]
    kernels: tuple[str, ...]

    def __str__(self):
        shown = ', '.join(f'{name}={_shown(value)}' for name, value in self.arguments)
        return f'{factory_name(self.factory)}({shown})'

    def make(self) -> dict[str, wp.Kernel]:
        """Make the kernels, by name.

        Raises:
            LookupError: The factory does not return one of them.
        """
        made = self.factory(**dict(self.arguments))
        values = [made] if isinstance(made, wp.Kernel) else vars(made).values()
        found = {value.func.__name__: value for value in values if isinstance(value, wp.Kernel)}
        missing = set(self.kernels) - set(found)
        if missing:
            raise LookupError(f'{self} does not return {", ".join(sorted(missing))}')
        return {name: found[name] for name in self.kernels}


def factory_name(factory: Callable) -> str:
    """Return the name of a factory below the package."""
    return f'{factory.__module__.removeprefix("ros_ik.")}.{factory.__name__}'


@functools.cache
def product_variants() -> tuple[Variant, ...]:
    """Return all variants of all factories, in the order of the source.

    Raises:
        TypeError: A parameter has no values.
        ValueError: A kernel is not made by a function of a module.
    """
    return tuple(
        Variant(factory, arguments, kernels)
        for factory, kernels in _factories()
        for arguments in arguments_of(factory)
    )


def arguments_of(factory: Callable) -> Iterator[tuple[tuple[str, object], ...]]:
    """Yield the choices of a factory's arguments.

    Raises:
        TypeError: A parameter has no values.
    """
    left = dict(inspect.signature(factory, eval_str=True).parameters)
    choices = []
    for names, rows in STRUCTURES.items():
        if set(names) <= set(left):
            choices.append([tuple(zip(names, row, strict=True)) for row in rows])
            left = {name: left[name] for name in left if name not in names}
    for name, parameter in left.items():
        values = _values(parameter.annotation)
        if values is None:
            raise TypeError(
                f'{factory_name(factory)}: parameter {name!r} has no values; '
                'add samples to STRUCTURES of benchmarks/gpu/kernels.py'
            )
        choices.append([((name, value),) for value in values])
    for choice in itertools.product(*choices):
        yield tuple(itertools.chain.from_iterable(choice))


def source_files() -> list[Path]:
    """Return the Python files of the package."""
    return sorted(PACKAGE.rglob('*.py'))


def _factories() -> Iterator[tuple[Callable, tuple[str, ...]]]:
    """Yield each function that makes whole kernels, and their names.

    A function that is given a Warp module makes a part of what its callers make.
    """
    parts = {
        node.name: _kernel_names(node)
        for path in _files_naming((DECORATOR,))
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef) and _takes_module(node)
    }
    for path in _files_naming((DECORATOR, *parts)):
        tree = parsed(path)
        whole = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        if sum(len(_kernel_names(node)) for node in whole) != len(_kernel_names(tree)):
            raise ValueError(f'{path.name}: a kernel outside a function of the module')
        for node in whole:
            if _takes_module(node):
                continue
            own = _kernel_names(node)
            names = own + tuple(
                name
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
                for name in parts.get(call.func.id, ())
            )
            if names:
                yield _imported(path, node.name), names


def _files_naming(names) -> list[Path]:
    """Return the files of the package in which one of some names stands."""
    texts = ((path, path.read_text()) for path in source_files())
    return [path for path, text in texts if any(name in text for name in names)]


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text())


def _imported(path, name):
    module = '.'.join(path.relative_to(ROOT).with_suffix('').parts)
    return getattr(importlib.import_module(module), name)


def _takes_module(node):
    return any(
        argument.annotation is not None and ast.unparse(argument.annotation) == 'wp.Module'
        for argument in node.args.args
    ) and bool(_kernel_names(node))


def _kernel_names(node) -> tuple[str, ...]:
    """Return the names of the functions below a node that are decorated as kernels of GPUs."""
    return tuple(
        inner.name
        for inner in ast.walk(node)
        if isinstance(inner, ast.FunctionDef)
        and any(_is_for_gpus(ast.unparse(word)) for word in inner.decorator_list)
    )


def _is_for_gpus(decorator: str) -> bool:
    return DECORATOR in decorator and 'is_for_cpu=True' not in decorator


def _values(annotation) -> tuple | None:
    """Return the values of a type in the order of what to compile first; None if unknown."""
    if annotation is type:
        return wp.float64, wp.float32
    if annotation is bool:
        return True, False
    if inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
        return tuple(annotation)
    return None


def _shown(value):
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, tuple) and all(isinstance(entry, bool) for entry in value):
        return ''.join('P' if slides else 'R' for slides in value)
    if isinstance(value, tuple) and all(isinstance(entry, AnyFormula) for entry in value):
        return str(len(value))
    if isinstance(value, wp.Function):
        return str(value.key)
    return getattr(value, '__name__', str(value))

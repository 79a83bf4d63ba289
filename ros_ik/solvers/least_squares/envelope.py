# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cholesky factor of a symmetric matrix of a robot's variables, over those that are free.

The factor is taken in an order of the variables in which those of different limbs do not meet, and
skips the zeros left of the first entry of each row (an envelope, Jennings 1966): limbs cost what
they cost alone. Fixed variables are taken out of it.
"""

import dataclasses
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp


@dataclasses.dataclass(frozen=True)
class Elimination:
    """The order in which variables are eliminated.

    Attributes:
        order: Unknowns in this order, int32 [k], k <= n; the step of the others stays zero.
        first: First position in the order to which each position is coupled, int32 [k].
    """

    order: np.ndarray
    first: np.ndarray


def elimination(coupled: np.ndarray, parents: np.ndarray) -> Elimination:
    """Order variables from the leaves of the tree to its root, limb by limb.

    Args:
        coupled: True if two variables can have an entry in H, bool [n, n]; one that has none with
            itself is left out.
        parents: The variable before each one on the way to the root, -1 for none, [n].
    """
    n = len(parents)
    children: dict[int, list[int]] = {k: [] for k in range(-1, n)}
    for k, parent in enumerate(parents.tolist()):
        children[parent].append(k)
    order: list[int] = []
    stack = [-1]
    while stack:  # root first, each limb in one piece; then turned round
        k = stack.pop()
        order.append(k)
        stack.extend(children[k])
    unknowns = np.array([k for k in order[:0:-1] if coupled[k, k]], dtype=np.int32)
    if not len(unknowns):  # everything is frozen
        return Elimination(unknowns, unknowns)
    permuted = coupled[np.ix_(unknowns, unknowns)]
    return Elimination(unknowns, np.argmax(permuted, axis=1).astype(np.int32))


def previous_dofs(model: Any) -> np.ndarray:
    """Return the next degree of freedom towards the root for each, -1 for none.

    Args:
        model: A model, of this package or newton's.
    """
    start, ancestor = model.joint_qd_start.numpy(), model.joint_ancestor.numpy()
    previous = np.arange(model.joint_dof_count) - 1
    for joint in range(model.joint_count):
        above = ancestor[joint]
        while above >= 0 and start[above] == start[above + 1]:
            above = ancestor[above]
        if start[joint] < start[joint + 1]:
            previous[start[joint]] = start[above + 1] - 1 if above >= 0 else -1
    return previous


def dense_elimination(n: int) -> Elimination:
    """Return the order as it is, every variable coupled to every other."""
    return Elimination(np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int32))


@no_type_check
@functools.cache
def envelope_functions() -> SimpleNamespace:
    """Build the functions of a factor, float64.

    H [n, n] is given by its lower triangle, ``order`` and ``first`` are those of an
    :class:`Elimination` of k variables, ``fixed`` [n] is not 0 for fixed variables. The
    factor [k * k] is k lines of k numbers; z [k] is in the order of elimination.

    Returns:
        ``factorise(order, first, fixed, H, damping, factor) -> bool``: L L' = H + damping I over
        the free variables, the identity for the fixed ones; False without a positive pivot;
        ``forward(first, factor, z)``: z = L^-1 z; ``backward(first, factor, z)``: z = L^-T z;
        ``entry(H, i, j)``: H[i, j].
    """
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))

    @wp.func
    def entry(H: wp.array2d(dtype=wp.float64), i: int, j: int) -> wp.float64:
        """H[i, j] from the lower triangle."""
        return H[wp.max(i, j), wp.min(i, j)]

    @wp.func
    def dot_lines(values: wp.array(dtype=wp.float64), a: int, b: int, n: int) -> wp.float64:
        """Product of two lines of n values; two sums side by side do not wait for each other."""
        even = wp.float64(0.0)
        odd = wp.float64(0.0)
        k = int(0)
        while k + 1 < n:
            even += values[a + k] * values[b + k]
            odd += values[a + k + 1] * values[b + k + 1]
            k += 2
        if k < n:
            even += values[a + k] * values[b + k]
        return even + odd

    @wp.func
    def factorise(
        order: wp.array(dtype=wp.int32),
        first: wp.array(dtype=wp.int32),
        fixed: wp.array(dtype=wp.int32),
        H: wp.array2d(dtype=wp.float64),
        damping: wp.float64,
        factor: wp.array(dtype=wp.float64),
    ) -> bool:
        # The diagonal of the factor holds the inverse.
        n = order.shape[0]
        for p in range(n):
            j = order[p]
            begin = first[p]
            line = p * n
            if fixed[j] != 0:
                for q in range(begin, p):
                    factor[line + q] = zero
                factor[line + p] = one
            else:
                pivot = H[j, j] + damping
                for q in range(begin, p):
                    k = order[q]
                    value = wp.float64(0.0)
                    if fixed[k] == 0:
                        other = q * n
                        common = wp.max(begin, first[q])
                        value = entry(H, j, k) - dot_lines(
                            factor, line + common, other + common, q - common
                        )
                        value *= factor[other + q]
                    factor[line + q] = value
                    pivot -= value * value
                if not (pivot > zero):
                    return False
                factor[line + p] = one / wp.sqrt(pivot)
        return True

    @wp.func
    def forward(
        first: wp.array(dtype=wp.int32),
        factor: wp.array(dtype=wp.float64),
        z: wp.array(dtype=wp.float64),
    ):
        n = first.shape[0]
        for p in range(n):
            line = p * n
            value = z[p]
            for q in range(first[p], p):
                value -= factor[line + q] * z[q]
            z[p] = value * factor[line + p]

    @wp.func
    def backward(
        first: wp.array(dtype=wp.int32),
        factor: wp.array(dtype=wp.float64),
        z: wp.array(dtype=wp.float64),
    ):
        n = first.shape[0]
        for back in range(n):
            p = n - 1 - back
            line = p * n
            value = z[p] * factor[line + p]
            z[p] = value
            for q in range(first[p], p):
                z[q] = z[q] - factor[line + q] * value

    return SimpleNamespace(
        entry=entry, factorise=factorise, forward=forward, backward=backward
    )

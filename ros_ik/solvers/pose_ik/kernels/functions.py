# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions of a Levenberg-Marquardt iteration for a serial chain.

They are compiled for each structure of chain (number of joints, variable of each joint, types of
joints where they are given), so that loops are unrolled and the state of a problem stays in
registers or on the stack. The residual is
r = [W (p_t - p); L log(R_t R^T)] in world axes, with W one or zero and a length L [m]. A step
minimises

    1/2 |J d - r|^2 + 1/2 lambda |d|^2   subject to   lower - q <= d <= upper - q

with the geometric Jacobian, for which J^T r is the exact gradient. The damping lambda is
proportional to the cost (Chan and Lawrence 1988), so no steps are rejected, and convergence is
quadratic. Joints that would leave the box are fixed at its bounds, and the step of the others is
solved again, so that a joint at its limit does not spoil the direction of the step.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.spatial import sincos_function
from ros_ik.solvers.qp.small_system import small_system_functions


@no_type_check
@functools.cache
def chain_struct(scalar: type, n: int, m: int) -> Any:
    """Return the struct of a chain of n joints and m variables.

    It has no arrays, so that its numbers are parameters of the kernel. A GPU takes them as
    operands, which needs no loads and no registers.
    """
    vecn, vecm = wp.types.vector(n, scalar), wp.types.vector(m, scalar)
    poses, flags = wp.types.matrix((4 * n + 4, 3), scalar), wp.types.vector(n, wp.int32)

    @wp.struct
    class Chain:
        constants: poses  # of C_i the axes, in row 4 i and the next two, then the origin
        slides: flags  # 1 for a prismatic joint
        coef0: vecn  # joint = coef0 + coef1 * variable
        coef1: vecn
        lower: vecm
        upper: vecm
        sample_lower: vecm  # finite
        sample_upper: vecm  # finite

    return Chain


@no_type_check
@functools.cache
def rotation_error_function(scalar: type) -> wp.Function:
    """Build ``rotation_error(R, R_t) -> log(R_t R^T)`` in world axes, |log| <= pi."""
    mat33, vec3 = wp.types.matrix((3, 3), scalar), wp.types.vector(3, scalar)
    small = 1e-7 if scalar is wp.float64 else 1e-4

    @wp.func
    def rotation_error(R: mat33, R_t: mat33) -> vec3:
        E = R_t * wp.transpose(R)
        v = scalar(0.5) * vec3(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
        cosine = scalar(0.5) * (wp.trace(E) - scalar(1.0))
        sine = wp.length(v)
        if sine > scalar(wp.static(small)):
            return v * (wp.atan2(sine, cosine) / sine)
        if cosine < scalar(0.0):
            # At half a turn, E + 1 = 2 a a^T for the axis a, so the longest column is along it.
            axis = vec3()
            for k in range(3):
                column = vec3(E[0, k], E[1, k], E[2, k])
                column[k] += scalar(1.0)
                if wp.length_sq(column) > wp.length_sq(axis):
                    axis = column
            return wp.normalize(axis) * scalar(wp.PI)
        return v

    return rotation_error


@no_type_check
@functools.cache
def chain_functions(
    scalar: type, slides: tuple[bool, ...] | None, variables: tuple[int, ...], direct: bool
) -> SimpleNamespace:
    """Build the functions for one structure of chain.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        slides: True for each prismatic joint; None for functions that read ``chain.slides``, which
            are slower and suit all types of joints.
        variables: Variable that drives each joint.
        direct: True if joint i is variable i; see ``SerialChain.is_direct``.

    Returns:
        The number ``n_joints``, the struct ``Chain``, the types ``vecm`` of q, ``vec3``, and
        ``matn3`` of a vector for each joint, and the functions

        - ``forward(chain, q) -> axes, pivots, R, p``: joint axes and points on them in the world,
          pose of the tool;
        - ``is_slide(chain, i) -> bool``;
        - ``velocities(chain, axes, pivots, p) -> linear``, [n, 3];
        - ``sum_products(chain, linear, angular, r_p, r_r, L) -> H, g``;
        - ``normal_equations(chain, axes, pivots, p, e_p, e_r, W, L) -> H, g``;
        - ``box_step(H, g, damping, low, high) -> d`` and ``projected_step`` of the same arguments;
        - ``nearest_turns(chain, q, problem, seed, slack) -> q``.
    """
    n, m = len(variables), max(variables) + 1
    integers = wp.types.vector(n, wp.int32)
    known_slides, variable = integers(*(slides or ())), integers(*variables)
    drives_alone = integers(*(variables.count(each) == 1 for each in variables))
    Chain, vec3 = chain_struct(scalar, n, m), wp.types.vector(3, scalar)
    vecm, matmm = wp.types.vector(m, scalar), wp.types.matrix((m, m), scalar)
    matn3 = wp.types.matrix((n, 3), scalar)
    sincos = sincos_function(scalar)
    system = small_system_functions(scalar, m)
    solve_all, solve_free = system.solve_all, system.solve_free
    zero, one = scalar(0.0), scalar(1.0)
    # Warp distinguishes kernels by their source text and static values. A static value with the
    # structure distinguishes chains of equal length, in memory and in the kernel cache.
    structure = zlib.crc32(repr((slides, variables, direct)).encode()) & 0x7FFFFFFF

    @wp.func
    def is_slide(chain: Chain, i: int) -> bool:
        _structure = wp.static(structure)
        if wp.static(slides is None):
            return chain.slides[i] != 0
        return known_slides[i] != 0

    @wp.func
    def constant(chain: Chain, row: int) -> vec3:
        return vec3(chain.constants[row, 0], chain.constants[row, 1], chain.constants[row, 2])

    @wp.func
    def in_world(chain: Chain, x: vec3, y: vec3, z: vec3, row: int) -> vec3:
        """Return a row of the constants, a vector in the axes x, y, z, as one of the world."""
        row_of = constant(chain, row)
        along_x, along_y = x * row_of[0], y * row_of[1]
        return along_x + along_y + z * row_of[2]

    @wp.func
    def forward(chain: Chain, q: vecm):
        _structure = wp.static(structure)
        u = constant(chain, 0)
        v = constant(chain, 1)
        z = constant(chain, 2)
        p = constant(chain, 3)
        axes = matn3()
        pivots = matn3()
        for i in range(n):
            value = q[variable[i]]
            if wp.static(not direct):
                value = chain.coef0[i] + chain.coef1[i] * value
            x = u
            y = v
            if is_slide(chain, i):
                p += z * value
            else:
                sc = sincos(value)
                x = u * sc[1] + v * sc[0]
                y = v * sc[1] - u * sc[0]
            for k in range(3):
                axes[i, k] = z[k]
                pivots[i, k] = p[k]
            p += in_world(chain, x, y, z, 4 * i + 7)
            u = in_world(chain, x, y, z, 4 * i + 4)
            v = in_world(chain, x, y, z, 4 * i + 5)
            z = in_world(chain, x, y, z, 4 * i + 6)
        return axes, pivots, wp.matrix_from_cols(u, v, z), p

    @wp.func
    def sum_products(chain: Chain, linear: matn3, angular: matn3, r_p: vec3, r_r: vec3, L: scalar):
        """Return H = J^T J and g = J^T r, summed over joints that share a variable."""
        H = matmm()
        g = vecm()
        for i in range(n):
            slope = one
            if wp.static(not direct):
                slope = chain.coef1[i]
            gradient = zero
            for k in range(3):
                gradient += linear[i, k] * r_p[k]
            if not is_slide(chain, i):
                for k in range(3):
                    gradient += L * L * angular[i, k] * r_r[k]
            g[variable[i]] += slope * gradient
            for j in range(i, -1, -1):
                product = zero
                for k in range(3):
                    product += linear[i, k] * linear[j, k]
                if not (is_slide(chain, i) or is_slide(chain, j)):
                    for k in range(3):
                        product += L * L * angular[i, k] * angular[j, k]
                if wp.static(direct):
                    H[i, j] = product
                else:
                    product *= slope * chain.coef1[j]
                    H[variable[i], variable[j]] += product
                    if i != j:
                        H[variable[j], variable[i]] += product
        return H, g

    @wp.func
    def velocities(chain: Chain, axes: matn3, pivots: matn3, p: vec3) -> matn3:
        """Return the velocity of the tool at unit velocity of each joint."""
        linear = matn3()
        for i in range(n):
            axis = vec3(axes[i, 0], axes[i, 1], axes[i, 2])
            if not is_slide(chain, i):
                axis = wp.cross(axis, p - vec3(pivots[i, 0], pivots[i, 1], pivots[i, 2]))
            for k in range(3):
                linear[i, k] = axis[k]
        return linear

    @wp.func
    def normal_equations(
        chain: Chain,
        axes: matn3,
        pivots: matn3,
        p: vec3,
        e_p: vec3,
        e_r: vec3,
        W: scalar,
        L: scalar,
    ):
        linear = W * velocities(chain, axes, pivots, p)
        return sum_products(chain, linear, axes, e_p, e_r, L)

    @wp.func
    def box_step(H: matmm, g: vecm, damping: scalar, low: vecm, high: vecm) -> vecm:
        d = vecm()
        fixed = vecm()
        x = solve_all(H, g, damping)
        passes = int(0)
        again = bool(True)
        while again:
            again = False
            for i in range(m):
                if fixed[i] == zero:
                    d[i] = wp.clamp(x[i], low[i], high[i])
                    if d[i] != x[i]:
                        fixed[i] = one
                        again = True
            passes += 1
            # More passes change little; the caller clamps the rest.
            again = again and passes < 4
            if again:
                x = solve_free(H, g, damping, fixed, d)
        return d

    @wp.func
    def projected_step(H: matmm, g: vecm, damping: scalar, low: vecm, high: vecm) -> vecm:
        """Solve once, without the joints that the gradient presses against their bounds.

        No step takes longer than another, as that of :func:`box_step` does, so that the threads of
        a warp stay together. Others that would leave the box are moved to its bounds (projected
        Newton method, Bertsekas 1982).
        """
        fixed = vecm()
        for i in range(m):
            pressed = (low[i] >= zero and g[i] < zero) or (high[i] <= zero and g[i] > zero)
            fixed[i] = wp.where(pressed, one, zero)
        x = solve_free(H, g, damping, fixed, vecm())
        d = vecm()
        for i in range(m):
            d[i] = wp.clamp(x[i], low[i], high[i])
        return d

    @wp.func
    def nearest_turns(
        chain: Chain, q: vecm, problem: int, seed: wp.array2d(dtype=wp.float64), slack: scalar
    ) -> vecm:
        """Move joints by whole turns to the nearest angle to the seed within limits and slack."""
        nearest = q
        for i in range(n):
            # A whole turn of a variable need not be a whole turn of every joint that it drives.
            if drives_alone[i] == 1 and not is_slide(chain, i):
                turn = scalar(wp.TAU)
                if wp.static(not direct):
                    turn /= wp.abs(chain.coef1[i])
                # Divisions take as long as ten products.
                turns = one / turn
                value = q[variable[i]]
                low = chain.lower[variable[i]] - slack
                high = chain.upper[variable[i]] + slack
                count = wp.round((scalar(seed[problem, variable[i]]) - value) * turns)
                count = wp.min(count, wp.floor((high - value) * turns))
                count = wp.max(count, wp.ceil((low - value) * turns))
                # A joint that its variable does not move has no turns.
                turned = wp.abs(turn) < scalar(wp.inf)
                nearest[variable[i]] = wp.where(turned, value + count * turn, value)
        return nearest

    return SimpleNamespace(
        is_slide=is_slide, forward=forward, velocities=velocities, sum_products=sum_products,
        normal_equations=normal_equations, box_step=box_step, projected_step=projected_step,
        nearest_turns=nearest_turns,
        Chain=Chain, vecm=vecm, vec3=vec3, matn3=matn3, n_joints=n,
    )  # fmt: skip


def direct_chain_functions(n: int, has_slides: bool) -> SimpleNamespace:
    """Build the float64 functions for a chain whose joint i is variable i.

    Args:
        n: Number of joints.
        has_slides: True for any types of joints, which ``chain.slides`` tells; False for revolute
            joints.
    """
    slides = None if has_slides else (False,) * n
    return chain_functions(wp.float64, slides, tuple(range(n)), True)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Path of a step and of the stop after it, with bounds between its samples, as Warp functions.

Time u is in units of a step. The step ends at u = 1; then the speed of every degree of freedom
decreases by s in each step. At u = 1 + m it has moved by

    |dq| + k |dq| - s k (k + 1) / 2,   k = min(m, floor(|dq| / s))

with constant speed in between. If its jerk is limited, the motion is that of
:mod:`ros_ik.kinematics.stepping.jerk_limited_stop`.

Between two samples, let degree of freedom k move by theta_k. Seen from a link on the other side of
these joints, a point at the distance rho_k from axis k moves by at most T = sum theta_k rho_k. Let
Theta be the sum of the theta_k of rotations. If all joints move at constant speed, the second
derivative of the point is at most 2 Theta T (1 + Theta); the factor 1 + Theta allows for the
growth of rho_k during the motion. The point therefore deviates from its chord by at most

    Theta T (1 + Theta) / 4

A joint that does not move at constant speed adds up to s (m^2 + 1) / 8 in m steps, times rho_k.
The distance of convex bodies along a fixed direction n is the difference of the least and the
greatest n . p. Between the samples, it is at least the smaller of its two values minus these
deviations. The distance itself is never below the distance along n.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.integrate import integrate_function
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_functions
from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_struct
from ros_ik.kinematics.stepping.step_tree import place_nodes_function
from ros_ik.kinematics.stepping.step_tree import step_node_struct
from ros_ik.kinematics.tree import tree_struct

# Tolerated decrease of a violated value from sample to sample [units of h]. Solutions satisfy
# their rows to 1e-10 only, and this error must not stop joints that do not affect the violation.
ROUNDING = 1e-9
# Tolerated decrease of a value between two samples, in tests by bounds [units of h].
BETWEEN = 1e-6
# Largest number of samples that are evaluated for one value, and of halvings of an interval, for a
# value that is not violated and for one that is.
MAX_SAMPLES, MAX_HALVINGS, MAX_VIOLATED_HALVINGS = 256, 128, 12
# Results for a value. SHRINKS means WORSE for a value that is below the floor already.
SAFE, UNPROVEN, WORSE, SHRINKS = 0, 1, 2, 3


@no_type_check
@functools.cache
def stop_path_struct(scalar: type) -> Any:
    """Return the Warp struct of the paths of n robots; sample i of robot r is row i n + r.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    Tree, Node = tree_struct(scalar), step_node_struct(scalar)
    Stop = jerk_limited_stop_struct(scalar)

    @wp.struct
    class StopPathArrays:
        tree: Tree
        nodes: wp.array(dtype=Node)
        joint_q: wp.array2d(dtype=scalar)  # [n, joint_coord_count], at the start of the step
        step: wp.array2d(dtype=scalar)  # [n, joint_dof_count]
        slowdown: wp.array(dtype=scalar)  # [joint_dof_count], s
        jerk: wp.array(dtype=scalar)  # [joint_dof_count], inf for none
        stops: wp.array2d(dtype=Stop)  # [n, joint_dof_count], read if the jerk is limited
        horizon: wp.array(dtype=scalar)  # [n], steps of the stop
        parts: wp.array(dtype=scalar)  # [samples], fractions of the horizon; the first is not read
        times: wp.array2d(dtype=scalar)  # [n, samples], u, ascending from 0
        # An additional row for each robot is for samples in between.
        displacement: wp.array2d(dtype=scalar)  # [(samples + 1) n, joint_dof_count]
        q: wp.array2d(dtype=scalar)  # [(samples + 1) n, joint_coord_count]
        body_q: wp.array2d(dtype=types.transform)  # [(samples + 1) n, body_count]
        joint_S_s: wp.array2d(dtype=types.twist)  # [(samples + 1) n, joint_dof_count]
        travel: wp.array2d(dtype=scalar)  # [n, joint_dof_count], theta of the whole path

    return StopPathArrays


@no_type_check
@functools.cache
def stop_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of stops with constant deceleration.

    - ``slower(step, slowdown)``: the next step of the stop.
    - ``steps_to_stop(step, slowdown)``: number of steps until rest.
    - ``travel_after(step, slowdown, time)``: size of the displacement at time u.
    - ``uneven(slowdown, low, high, travel)``: bound on the deviation of a degree of freedom from
      constant speed.
    - ``chord_bend(travel, turned)``: bound on the deviation of a point from its chord, if all
      joints move at constant speed.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    zero, one = wp.constant(scalar(0.0)), wp.constant(scalar(1.0))

    @wp.func
    def slower(step: scalar, slowdown: scalar) -> scalar:
        return wp.sign(step) * wp.max(wp.abs(step) - slowdown, zero)

    @wp.func
    def steps_to_stop(step: scalar, slowdown: scalar) -> scalar:
        if slowdown > zero and wp.isfinite(slowdown):
            return wp.floor(wp.abs(step) / slowdown)
        return zero

    @wp.func
    def travel_after(step: scalar, slowdown: scalar, time: scalar) -> scalar:
        size = wp.abs(step)
        total = wp.min(time, one) * size
        whole = wp.floor(time - one)
        if whole >= zero and slowdown < size:
            k = wp.min(whole, steps_to_stop(size, slowdown))
            total += k * size - slowdown * k * (k + one) / scalar(2.0)
            next_step = wp.max(size - slowdown * (whole + one), zero)
            total += (time - one - whole) * next_step
        return total

    @wp.func
    def uneven(slowdown: scalar, low: scalar, high: scalar, travel: scalar) -> scalar:
        if high <= wp.floor(low) + one:
            return zero
        span = high - low
        return wp.min(slowdown * (span * span + one) / scalar(8.0), travel)

    @wp.func
    def chord_bend(travel: scalar, turned: scalar) -> scalar:
        return travel * turned * (one + turned) / scalar(4.0)

    return SimpleNamespace(
        slower=slower,
        steps_to_stop=steps_to_stop,
        travel_after=travel_after,
        uneven=uneven,
        chord_bend=chord_bend,
    )


@no_type_check
@functools.cache
def motion_at_function(scalar: type) -> wp.Function:
    """Build ``motion_at(path, robot, dof, time)``, displacement and path length up to a time.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    travel_after, Path = stop_functions(scalar).travel_after, stop_path_struct(scalar)
    limited = jerk_limited_stop_functions(scalar)
    displacement_at, travel_at = limited.displacement_at, limited.travel_at

    @wp.func
    def motion_at(path: Path, robot: int, dof: int, time: scalar):
        if wp.isfinite(path.jerk[dof]):
            stop = path.stops[robot, dof]
            return displacement_at(stop, time), travel_at(stop, time)
        step = path.step[robot, dof]
        travel = travel_after(step, path.slowdown[dof], time)
        return wp.sign(step) * travel, travel

    return motion_at


@no_type_check
@functools.cache
def judge_function(scalar: type) -> wp.Function:
    """Build ``judge(h, h_next, along, fall, bend, floor, between)``.

    The function classifies a value between two samples as SAFE, UNPROVEN, WORSE or SHRINKS; NaN is
    WORSE. ``h`` and ``h_next`` are the values at the samples. ``along`` is the value at the second
    sample along the direction of the first, or -inf. ``fall`` bounds the decrease of h, and
    ``bend`` the deviation of points from their chords. Below the floor, h must not shrink.
    ``between`` is False to test the two samples only.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    half, four = wp.constant(scalar(0.5)), wp.constant(scalar(4.0))

    @wp.func
    def judge(
        h: scalar,
        h_next: scalar,
        along: scalar,
        fall: scalar,
        bend: scalar,
        floor: scalar,
        between: bool,
    ) -> int:
        least = wp.min(h, floor)
        if not (h_next >= least - scalar(wp.static(ROUNDING))):
            if h < floor:
                return wp.static(SHRINKS)
            return wp.static(WORSE)
        if not between:
            return wp.static(SAFE)
        least = least - scalar(wp.static(BETWEEN))
        # Lipschitz bound: from either sample, h decreases by no more than the motion.
        if half * (h + h_next - fall) >= least:
            return wp.static(SAFE)
        if wp.min(h, along) - bend >= least:
            return wp.static(SAFE)
        # The deviation grows from either sample with a slope of at most four times ``bend``.
        if h < floor and along - h >= four * bend:
            return wp.static(SAFE)
        return wp.static(UNPROVEN)

    return judge


@no_type_check
@functools.cache
def place_stop_function(scalar: type) -> wp.Function:
    """Build ``place_stop(path, robot, row, time)``, configuration and link poses at a time."""
    motion_at = motion_at_function(scalar)
    integrate_row, place_nodes = integrate_function(scalar), place_nodes_function(scalar)
    Path = stop_path_struct(scalar)

    @wp.func
    def place_stop(path: Path, robot: int, row: int, time: scalar):
        for dof in range(path.step.shape[1]):
            displacement, travel = motion_at(path, robot, dof, time)
            path.displacement[row, dof] = displacement
        for coord in range(path.q.shape[1]):
            path.q[row, coord] = path.joint_q[robot, coord]
        integrate_row(path.tree, row, path.q, path.displacement, path.q)
        place_nodes(path.nodes, row, path.q, path.body_q, path.joint_S_s)

    return place_stop


@no_type_check
@functools.cache
def sampling_functions(scalar: type) -> SimpleNamespace:
    """Build the functions with which kernels follow any value along a path.

    - ``joint_motion(path, robot, row, dof, low, high)``: motion of a degree of freedom between two
      times, its rotation, and its deviation from constant speed.
    - ``chord_error(travel, turned, uneven_travel, uneven_turn)``: bound on the deviation of a
      point from its chord.
    - ``next_sample(path, robot, sample, low, span)``: the next time to evaluate, and its row; span
      0 selects the next sample.
    - ``may_halve(h, floor, halvings)``: whether an UNPROVEN interval may be halved again.
    - ``sample_before(path, robot, sample, time)``: the last sample before a time.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    vec3 = spatial_functions(scalar).vec3
    Path = stop_path_struct(scalar)
    stops, place_stop = stop_functions(scalar), place_stop_function(scalar)
    uneven, chord_bend, motion_at = stops.uneven, stops.chord_bend, motion_at_function(scalar)
    zero = wp.constant(scalar(0.0))

    @wp.func
    def joint_motion(path: Path, robot: int, row: int, dof: int, low: scalar, high: scalar):
        # A loop, because compilers would inline the long function twice.
        theta = scalar(0.0)
        time = low
        ends = int(2)
        while ends > 0:
            _displacement, travel = motion_at(path, robot, dof, time)
            theta = travel - theta
            time = high
            ends -= 1
        S = path.joint_S_s[row, dof]
        turn = wp.length(vec3(S[3], S[4], S[5]))
        return theta, turn, uneven(path.slowdown[dof], low, high, theta)

    @wp.func
    def chord_error(
        travel: scalar, turned: scalar, uneven_travel: scalar, uneven_turn: scalar
    ) -> scalar:
        return chord_bend(travel, turned) + uneven_travel + travel * uneven_turn

    @wp.func
    def next_sample(path: Path, robot: int, sample: int, low: scalar, span: scalar):
        n = path.step.shape[0]
        high = path.times[robot, sample + 1]
        row = (sample + 1) * n + robot
        if span > zero and low + span < high:
            high = low + span
            row = path.times.shape[1] * n + robot
            place_stop(path, robot, row, high)
        return high, row

    @wp.func
    def may_halve(h: scalar, floor: scalar, halvings: int) -> bool:
        return h >= floor or halvings <= wp.static(MAX_VIOLATED_HALVINGS)

    @wp.func
    def sample_before(path: Path, robot: int, sample: int, time: scalar) -> int:
        last = path.times.shape[1] - 1
        behind = sample
        while behind < last and path.times[robot, wp.min(behind + 1, last)] <= time:
            behind += 1
        return behind

    return SimpleNamespace(
        joint_motion=joint_motion,
        chord_error=chord_error,
        next_sample=next_sample,
        may_halve=may_halve,
        sample_before=sample_before,
    )

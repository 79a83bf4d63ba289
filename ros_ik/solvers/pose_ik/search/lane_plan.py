# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lanes of a problem, the parallel searches for it: how many, when they begin and when they pause.

A GPU is full with a lane for each problem of a large batch. But soon most problems are solved, and
the last ones would keep a few threads busy for hundreds of iterations. So more lanes begin for
problems that are still unsolved.
"""

from __future__ import annotations

import dataclasses
import math

import warp as wp

from ros_ik.kinematics.runtime.kernel_launch import can_list_rows
from ros_ik.kinematics.runtime.kernel_launch import exceeds_device
from ros_ik.kinematics.runtime.kernel_launch import max_resident_threads

# Largest and least number of lanes of a problem on a GPU. The slowest of a million poses of a
# Panda takes 1,002 iterations with one lane, 1,329 with two, 392 with four and 362 with eight.
_MAX_LANES, _MIN_LANES = 32, 4
# Largest number of lanes of a batch with more than the least number for each problem, 0.2 GB.
_MAX_ROWS = 2**20
# Iterations of the attempt from the seed after which its lane pauses. A warp of 32 lanes ends with
# its slowest. Per Panda pose from the middle of the limits, this takes 17.6 iterations instead of
# 73.5, of which 12.4 are needed; from random configurations 31.7 instead of 88.9.
_ENDS = (8, 16, 32)
# Iterations of later attempts after which lanes pause while they fill the GPU.
_PAUSE = 16
# Iterations in which about half of the unsolved problems are solved. The number of lanes doubles
# each time, which keeps the GPU full.
_HALVING = 16
# Ends of the phases after the last lanes have begun, and of one lane alone.
_TAIL, _ENDS_OF_ONE = (16, 48), (64, 128)


@dataclasses.dataclass(frozen=True)
class LanePlan:
    """Lanes of each problem of a batch.

    Attributes:
        lanes: Number of lanes.
        head_start: Iterations from which later attempts count, so that a first one that converges
            always comes first.
        first_lanes: Number of lanes that begin together.
        next_start: Iterations at which as many again begin.
        delay: Iterations after which the number of lanes doubles from then on.
        ends: Numbers of iterations after which lanes pause; none for a single phase.
    """

    lanes: int
    head_start: int
    first_lanes: int
    next_start: int = 0
    delay: int = 0
    ends: tuple[int, ...] = ()

    @property
    def launched(self) -> int:
        """Number of lanes of a problem in the first phase."""
        if not self.ends:
            return self.lanes
        return self.first_lanes if self.ends[0] > self.head_start else 1


def lane_plan(
    device: wp.Device, n_problems: int, max_iterations: int, max_attempts: int, lanes: int | None
) -> LanePlan:
    """Return the lanes for a batch.

    Args:
        device: Device of the search.
        n_problems: Number of problems.
        max_iterations: Largest number of iterations of an attempt.
        max_attempts: Largest number of attempts for a problem.
        lanes: Number of lanes of a problem, None to choose.
    """
    lanes = lanes or min(_default_lanes(device, n_problems), max_attempts)
    head_start = max_iterations + 1 if lanes > 1 else 0
    if not exceeds_device(device, n_problems * lanes):
        # On a GPU the attempt from the seed is alone at first: it is usually enough, and others
        # would only take its time.
        alone = (head_start,) if can_list_rows(device) and lanes > 1 else ()
        return LanePlan(lanes, head_start, lanes, ends=alone)
    if lanes == 1:
        return LanePlan(1, 0, 1, ends=_ENDS + _ENDS_OF_ONE)
    resident = max_resident_threads(device)
    together = max(1, min(resident // n_problems, lanes))
    next_start, ends = head_start + _HALVING, [head_start]
    if together == 1:
        # One lane for each problem fills the GPU until so many of them are solved.
        next_start = head_start + _HALVING * math.ceil(math.log2(max(1.0, n_problems / resident)))
        ends = [end for end in _ENDS if end < head_start]
        ends += range(head_start, next_start, _PAUSE)
    end, begun = next_start, together
    while begun < lanes:
        ends.append(end)
        begun *= 2
        end += _HALVING
    ends += [end - _HALVING + after for after in _TAIL]
    return LanePlan(lanes, head_start, together, next_start, _HALVING, tuple(ends))


def _default_lanes(device: wp.Device, n_problems: int) -> int:
    """Return the number of lanes of a problem, one on a CPU."""
    if not device.is_cuda:
        return 1
    if wp.is_mempool_enabled(device):
        return max(_MIN_LANES, min(_MAX_LANES, _MAX_ROWS // n_problems))
    # Without phases, lanes beyond those that are resident would begin after others have ended.
    return max(1, min(_MAX_LANES, max_resident_threads(device) // n_problems))

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State of lanes between the phases of a search.

Most lanes need few iterations, and a few need hundreds. A search in phases lists the lanes that
are still running after a phase, and the next phase continues only these.
"""

import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.row_list import row_list_functions

# Larger than any number of iterations: the end of a phase that is the last one, and the iterations
# of a problem that no lane has solved.
NEVER = 2**31 - 1


@no_type_check
@functools.cache
def phase_struct(scalar: type) -> Any:
    """Return the struct of a phase. Its arrays are empty for a search in a single phase."""
    Rows = row_list_functions().Rows

    @wp.struct
    class Phase:
        end: int  # number of iterations after which a lane pauses
        rows: Rows  # lanes to continue; without a list, all lanes start
        running: wp.array(dtype=wp.int32)  # [n_problems * lanes], 1 for lanes that paused
        q: wp.array2d(dtype=scalar)  # [n_problems * lanes, m]
        mark: wp.array(dtype=scalar)  # [n_problems * lanes], cost at the last test of the progress
        attempt: wp.array(dtype=wp.int32)  # [n_problems * lanes]
        step: wp.array(dtype=wp.int32)  # [n_problems * lanes]
        random: wp.array(dtype=wp.uint32)  # [n_problems * lanes], state of the generator

    return Phase

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Options of Warp kernels."""

import warp as wp


def contracted() -> dict[str, str]:
    """Return the options of a kernel whose products and sums may become one operation on a CPU.

    They do on CUDA, where that is the default of Warp. Rounding differs in the last place.
    """
    flags = wp.config.cpu_compiler_flags
    return {
        'cpu_compiler_flags': f'{"-march=native" if flags is None else flags} -ffp-contract=fast'
    }

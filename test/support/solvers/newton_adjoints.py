# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Newton's kernels that tests only run forward, without adjoints, which take long to compile."""

import functools
import sys

import warp as wp

# The adjoints of the first take 6 s.
_FORWARD = (
    'newton._src.sim.articulation', 'newton._src.geometry.bvh', 'newton._src.geometry.inertia',
)  # fmt: skip
_LM = 'newton._src.sim.ik.ik_lm_optimizer'


def leave_out_adjoints():
    """Compile kernels of Newton without adjoints, as far as Newton is imported.

    Its solver differentiates its forward kinematics, its integration and the objectives; of its
    other kernels, those that it makes for a model take 5 s with adjoints, 1 s without.
    """
    for name in _FORWARD:
        if name in sys.modules:
            wp.set_module_options({'enable_backward': False}, sys.modules[name])
    optimizer = getattr(sys.modules.get(_LM), 'IKOptimizerLM', None)
    build = getattr(optimizer, '_build_specialized', None)
    if build is not None:
        optimizer._build_specialized = staticmethod(_mostly_forward(build))


def _mostly_forward(build):
    """Return the function of Newton that makes kernels, of which only one has an adjoint."""

    @functools.wraps(build)
    def built(*args):
        before = wp.config.enable_backward
        wp.config.enable_backward = False
        try:
            made = build(*args)
        finally:
            wp.config.enable_backward = before
        integration = made._integrate_dq_dof.module
        integration.options['enable_backward'] = before
        integration.mark_modified()
        return made

    return built

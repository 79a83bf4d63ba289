# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments of ModelBuilder methods: checked against known and ignored names.

Every argument of ``newton.ModelBuilder`` is accepted, so that scripts for it run. Arguments for
simulation or appearance have no effect on kinematics and are ignored.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

# Arguments of all joints; see JointMethods.
JOINT = (
    'label', 'parent_xform', 'child_xform', 'collision_filter_parent', 'enabled',
    'custom_attributes',
)  # fmt: skip
# Arguments of all shapes; see ShapeMethods.
SHAPE = (
    'xform', 'cfg', 'label', 'custom_attributes', 'as_site', 'is_static', 'is_collision',
)  # fmt: skip

# Accepted and ignored.
UNUSED_BALL = ('damping', 'stiffness', 'actuator_mode')
UNUSED_SHAPE = ('color', 'opacity')
UNUSED_BUILDER = ('sdf_texture_paired_samples',)
UNUSED_URDF = (
    'mesh_maxhullvert', 'force_position_velocity_actuation', 'force_show_colliders',
    'joint_damping_mode',
)  # fmt: skip
UNUSED_FINALIZE = (
    'skip_all_validations', 'skip_validation_worlds', 'skip_validation_joints',
    'skip_validation_shapes', 'skip_validation_inertia', 'skip_validation_structure',
    'skip_validation_joint_ordering',
)  # fmt: skip


def used(
    method: str,
    given: Mapping[str, Any],
    known: Collection[str] = (),
    unused: Collection[str] = (),
) -> dict[str, Any]:
    """Return the keyword arguments that have an effect.

    Args:
        method: Name of the called method, for errors.
        given: Keyword arguments.
        known: Names with an effect.
        unused: Names that are accepted and ignored.

    Raises:
        TypeError: An unknown name.
    """
    for name in given:
        if name not in known and name not in unused:
            close = get_close_matches(name, [*known, *unused], 1)
            hint = f'; did you mean {close[0]!r}?' if close else ''
            raise TypeError(f'{method}() got an unexpected keyword argument {name!r}{hint}')
    return {name: value for name, value in given.items() if name not in unused}

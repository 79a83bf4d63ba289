# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Another configuration of a pose, or the reason why there is none.

The node receives it from the planners' process, and imports this module without the planners.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, eq=False)
class Reconfiguration:
    """Result of a search for a path to another configuration.

    Attributes:
        joint_names: Joints to move; empty without a result.
        positions: Goal positions [rad or m].
        message: Reason for a missing result, or ''.
    """

    joint_names: tuple[str, ...] = ()
    positions: tuple[float, ...] = ()
    message: str = ''

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control barrier functions."""

from ros_ik.barriers.barrier import Barrier
from ros_ik.barriers.position import PositionBarrier

__all__ = ['Barrier', 'PositionBarrier']

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control barrier functions."""

from ros_ik.barriers.barrier import Barrier
from ros_ik.barriers.body_pair_barrier import BodyPairBarrier
from ros_ik.barriers.collision_barrier import CollisionBarrier
from ros_ik.barriers.collision_scene import CollisionScene
from ros_ik.barriers.link_function import LinkFunctionBarrier
from ros_ik.barriers.pair_sampling import always_close
from ros_ik.barriers.pair_sampling import never_close
from ros_ik.barriers.position import PositionBarrier
from ros_ik.barriers.self_collision import SelfCollisionBarrier
from ros_ik.barriers.world_collision import WorldCollisionBarrier

__all__ = [
    'Barrier',
    'BodyPairBarrier',
    'CollisionBarrier',
    'CollisionScene',
    'LinkFunctionBarrier',
    'PositionBarrier',
    'SelfCollisionBarrier',
    'WorldCollisionBarrier',
    'always_close',
    'never_close',
]

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What a shape takes part in and what it weighs."""

from __future__ import annotations

import dataclasses

from ros_ik.model.flags import ShapeFlags


@dataclasses.dataclass
class ShapeConfig:
    """Settings of a shape under the names of ``newton.ModelBuilder.ShapeConfig``.

    Attributes:
        density: Density [kg/m^3]; the shape adds to mass, centre of mass and inertia of its body,
            0 for a shape without mass.
        margin: How far the surface for collisions lies outside the shape [m]; the thickness of
            the wall of a hollow shape.
        is_solid: Whether it is solid or hollow.
        collision_group: Shapes of one positive group collide with each other and with those of
            negative groups; those of a negative group with all but the same group; 0 with none.
        collision_filter_parent: Whether it never collides with shapes of bodies that a joint
            connects with its own.
        has_shape_collision: Whether it collides with shapes.
        has_particle_collision: Whether it collides with particles (held for Newton).
        is_visible: Whether it is drawn.
    """

    density: float = 1000.0
    margin: float = 0.0
    is_solid: bool = True
    collision_group: int = 1
    collision_filter_parent: bool = True
    has_shape_collision: bool = True
    has_particle_collision: bool = True
    is_visible: bool = True

    @property
    def flags(self) -> ShapeFlags:
        """The same as bits."""
        flags = ShapeFlags(0)
        for given, flag in (
            (self.is_visible, ShapeFlags.VISIBLE),
            (self.has_shape_collision, ShapeFlags.COLLIDE_SHAPES),
            (self.has_particle_collision, ShapeFlags.COLLIDE_PARTICLES),
        ):
            flags |= flag if given else ShapeFlags(0)
        return flags

    def copy(self) -> ShapeConfig:
        """Return a copy."""
        return dataclasses.replace(self)


# Shapes of a robot description: its links have masses of their own.
DESCRIBED_COLLISION = ShapeConfig(density=0.0)
DESCRIBED_VISUAL = ShapeConfig(
    density=0.0, collision_group=0, has_shape_collision=False, has_particle_collision=False
)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Configuration of a shape: flags, collision group and density."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from ros_ik.model.conventions.flags import ShapeFlags


@dataclasses.dataclass
class ShapeConfig:
    """Settings of a shape under the names of ``newton.ModelBuilder.ShapeConfig``.

    Materials, contact stiffnesses and distance fields are accepted and ignored.

    Attributes:
        density: Density [kg/m^3]; the shape adds to mass, centre of mass and inertia of its body,
            0 for a shape without mass.
        margin: Offset of the collision surface from the shape [m]; thickness of the wall of a
            hollow shape.
        is_solid: True if solid, False if hollow.
        collision_group: Shapes of one positive group collide with each other and with those of
            negative groups; those of a negative group with all but the same group; 0 with none.
        collision_filter_parent: True if it never collides with shapes of bodies that a joint
            connects with its own.
        has_shape_collision: True if it collides with shapes.
        has_particle_collision: True if it collides with particles (stored for Newton).
        is_visible: True if it is drawn.
        is_site: True for a marker without mass and collisions.
    """

    density: float = 1000.0
    margin: float = 0.0
    is_solid: bool = True
    collision_group: int = 1
    collision_filter_parent: bool = True
    has_shape_collision: bool = True
    has_particle_collision: bool = True
    is_visible: bool = True
    is_site: bool = False
    # Ignored.
    ke: float | None = None
    kd: float | None = None
    kf: float | None = None
    ka: float | None = None
    mu: float | None = None
    restitution: float | None = None
    mu_torsional: float | None = None
    mu_rolling: float | None = None
    gap: float | None = None
    sdf_narrow_band_range: Sequence[float] | None = None
    sdf_target_voxel_size: float | None = None
    sdf_max_resolution: int | None = None
    force_sdf: bool | None = None
    sdf_texture_format: str | None = None
    is_hydroelastic: bool | None = None
    kh: float | None = None
    sdf_padding: float | None = None

    def mark_as_site(self) -> None:
        """Turn it into a site: no mass, no collision group, no collisions."""
        self.is_site, self.density, self.collision_group = True, 0.0, 0
        self.has_shape_collision = self.has_particle_collision = False

    @property
    def flags(self) -> ShapeFlags:
        """The settings as ShapeFlags."""
        flags = ShapeFlags(0)
        for given, flag in (
            (self.is_visible, ShapeFlags.VISIBLE),
            (self.has_shape_collision, ShapeFlags.COLLIDE_SHAPES),
            (self.has_particle_collision, ShapeFlags.COLLIDE_PARTICLES),
            (self.is_site, ShapeFlags.SITE),
        ):
            flags |= flag if given else ShapeFlags(0)
        return flags

    def copy(self) -> ShapeConfig:
        """Return a copy."""
        return dataclasses.replace(self)


# Shapes of a robot description have no mass, because its links have one.
DESCRIBED_COLLISION = ShapeConfig(density=0.0)
DESCRIBED_VISUAL = ShapeConfig(
    density=0.0, collision_group=0, has_shape_collision=False, has_particle_collision=False
)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes of a ModelBuilder, under Newton's names.

Every ``add_shape_*`` takes these keyword arguments: ``xform`` (pose in the body, [7], identity if
None), ``cfg`` (a ShapeConfig), ``as_site`` (make it a marker without mass and collisions),
``label``, ``custom_attributes``; ``color`` and ``opacity`` are accepted and not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.links.link_methods import LinkMethods
from ros_ik.model.building.links.shape_config import DESCRIBED_COLLISION
from ros_ik.model.building.links.shape_config import DESCRIBED_VISUAL
from ros_ik.model.building.links.shape_config import ShapeConfig
from ros_ik.model.building.links.shape_properties import combine
from ros_ik.model.building.links.shape_properties import mass_properties
from ros_ik.model.building.links.shape_properties import shape_radius
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.checks import as_number
from ros_ik.model.conventions.checks import checked_amount
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import label_or
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.keywords import SHAPE
from ros_ik.model.conventions.keywords import UNUSED_SHAPE
from ros_ik.model.conventions.keywords import used
from ros_ik.model.conventions.rotations import matrix_from_quaternion

_MESHES = (GeoType.MESH, GeoType.CONVEX_MESH)


class ShapeMethods(LinkMethods):
    """Methods of ModelBuilder for shapes.

    Attributes:
        default_shape_cfg: Default settings of shapes.
        up_axis: Axis that points up: 0, 1 or 2.
    """

    def __init__(self) -> None:
        """Start without shapes."""
        super().__init__()
        self.default_shape_cfg = ShapeConfig()
        self.up_axis = 2

    def add_shape_plane(
        self,
        plane: Sequence[float] | None = (0.0, 0.0, 1.0, 0.0),
        *,
        xform: Any = None,
        width: float = 10.0,
        length: float = 10.0,
        body: int = -1,
        **shape: Any,
    ) -> int:
        """Add a plane without mass and return its index.

        Args:
            plane: a, b, c, d of a x + b y + c z + d = 0; ignored if ``xform`` is given.
            xform: Pose of the plane, whose normal is its z axis.
            width: Extent along x [m], 0 for an infinite plane.
            length: Extent along y [m], 0 for an infinite plane.
            body: Body that carries it, -1 for the world.
            **shape: Arguments of :meth:`add_shape`.

        Raises:
            ArgumentError: A normal of zero length, or as :meth:`add_shape`.
        """
        if xform is None:
            values = checked_array('plane', plane, (4,))
            norm = float(np.linalg.norm(values[:3]))
            if norm < 1e-9:
                raise ArgumentError(f'plane: the normal has zero length: {values.tolist()}')
            normal = values[:3] / norm
            turn = poses.quaternion_between(np.array([0.0, 0.0, 1.0]), normal)
            xform = np.concatenate([-values[3] / norm * normal, turn])
        return self.add_shape(
            body,
            GeoType.PLANE,
            xform=xform,
            scale=(width, length, 0.0),
            is_static=True,
            **_shape_keywords('plane', shape),
        )

    def add_ground_plane(
        self, height: float = 0.0, *, label: str | None = None, **shape: Any
    ) -> int:
        """Add an infinite plane perpendicular to the up axis, and return its index.

        Args:
            height: Position along that axis [m].
            label: Name; 'ground_plane' where empty.
            **shape: Arguments of :meth:`add_shape`.
        """
        return self.add_shape_plane(
            (*np.eye(3)[self.up_axis], -as_number('height', height)), width=0.0, length=0.0,
            label=label_or(label, 'ground_plane'), **shape,
        )  # fmt: skip

    def add_shape_sphere(self, body: int, *, radius: float = 1.0, **shape: Any) -> int:
        """Add a sphere of a radius [m]; see :meth:`add_shape`."""
        return self.add_shape(
            body, GeoType.SPHERE, scale=(radius, 0.0, 0.0), **_shape_keywords('sphere', shape)
        )

    def add_shape_ellipsoid(
        self, body: int, *, rx: float = 1.0, ry: float = 0.75, rz: float = 0.5, **shape: Any
    ) -> int:
        """Add an ellipsoid of three half axes [m]; see :meth:`add_shape`."""
        return self.add_shape(
            body, GeoType.ELLIPSOID, scale=(rx, ry, rz), **_shape_keywords('ellipsoid', shape)
        )

    def add_shape_box(
        self, body: int, *, hx: float = 0.5, hy: float = 0.5, hz: float = 0.5, **shape: Any
    ) -> int:
        """Add a box of three half extents [m]; see :meth:`add_shape`."""
        return self.add_shape(
            body, GeoType.BOX, scale=(hx, hy, hz), **_shape_keywords('box', shape)
        )

    def add_shape_capsule(
        self, body: int, *, radius: float = 1.0, half_height: float = 0.5, **shape: Any
    ) -> int:
        """Add a capsule along z; its straight part is 2 ``half_height`` [m] long."""
        return self.add_shape(
            body,
            GeoType.CAPSULE,
            scale=(radius, half_height, 0.0),
            **_shape_keywords('capsule', shape),
        )

    def add_shape_cylinder(
        self,
        body: int,
        *,
        radius: float = 1.0,
        half_height: float = 0.5,
        barrel_radius: float = 0.0,
        **shape: Any,
    ) -> int:
        """Add a cylinder along z; see :meth:`add_shape`.

        Args:
            body: Body that carries it.
            radius: Radius [m].
            half_height: Half of its length [m].
            barrel_radius: Bulge of its side [m]; only 0 is supported.
            **shape: Arguments of :meth:`add_shape`.
        """
        if as_number('barrel_radius', barrel_radius) != 0.0:
            raise ArgumentError(
                f'barrel_radius: only straight cylinders are supported, got {barrel_radius}'
            )
        keywords = _shape_keywords('cylinder', shape)
        return self.add_shape(body, GeoType.CYLINDER, scale=(radius, half_height, 0.0), **keywords)

    def add_shape_cone(
        self, body: int, *, radius: float = 1.0, half_height: float = 0.5, **shape: Any
    ) -> int:
        """Add a cone along z, from its base at -half_height to its tip; see :meth:`add_shape`."""
        return self.add_shape(
            body, GeoType.CONE, scale=(radius, half_height, 0.0), **_shape_keywords('cone', shape)
        )

    def add_shape_mesh(self, body: int, *, mesh: Any, **shape: Any) -> int:
        """Add a mesh; see :meth:`add_shape`.

        Args:
            body: Body that carries it.
            mesh: Any object; radius and mass need ``vertices`` [n, 3] and ``indices`` [3 m].
            **shape: Arguments of :meth:`add_shape`; ``scale`` are factors.
        """
        keywords = _shape_keywords('mesh', shape, 'scale')
        return self.add_shape(body, GeoType.MESH, src=mesh, **keywords)

    def add_shape_convex_hull(self, body: int, *, mesh: Any, **shape: Any) -> int:
        """Add a convex mesh; see :meth:`add_shape_mesh`."""
        keywords = _shape_keywords('convex_hull', shape, 'scale')
        return self.add_shape(body, GeoType.CONVEX_MESH, src=mesh, **keywords)

    def add_shape(
        self,
        body: int,
        type: int,
        *,
        xform: Any = None,
        cfg: ShapeConfig | None = None,
        scale: Any = None,
        src: Any = None,
        source: Any = None,
        is_static: bool = False,
        is_collision: bool | None = None,
        as_site: bool = False,
        label: str | None = None,
        custom_attributes: Mapping[str, Any] | None = None,
        **unused: Any,
    ) -> int:
        """Add a shape and return its index.

        Args:
            body: Body that carries it, -1 for the world.
            type: Kind of shape, a GeoType.
            xform: Pose in the body, shape [7].
            cfg: Density, groups and flags; ``default_shape_cfg`` where None.
            scale: Half extents of a box, radius of a sphere, radius and half height of a capsule,
                cylinder or cone, half axes of an ellipsoid, extents of a plane, factors of a mesh
                [m or 1], shape [3].
            src: The mesh of a MESH.
            source: Another name for ``src``.
            is_static: True for a shape without mass.
            is_collision: If given, the shape is from a robot description: without mass, and for
                collisions or visual only.
            as_site: True for a marker without mass and collisions.
            label: Name; made from the index where empty.
            custom_attributes: Values by ``namespace:name``.
            **unused: ``color`` and ``opacity``.

        Raises:
            ArgumentError: An unknown type, a body that does not exist or lies in another world, a
                size that is negative or not finite, or a mass that cannot be computed; the error
                names the shape.
        """
        used('add_shape', unused, (), UNUSED_SHAPE)
        label = label or f'shape_{self.shape_count}'
        where = f'shape {label!r}'
        checked_index(f'body of {where}', body, self.body_count, least=-1)
        if body >= 0 and self.body_world[body] != self.current_world:
            raise ArgumentError(
                f'body of {where}: {self.body_label[body]!r} is in world {self.body_world[body]}, '
                f'the current one is {self.current_world}'
            )
        if is_collision is not None:
            cfg = DESCRIBED_COLLISION if is_collision else DESCRIBED_VISUAL
        cfg = cfg or self.default_shape_cfg
        if as_site:
            cfg = cfg.copy()
            cfg.mark_as_site()
        kind = GeoType(checked_index(f'type of {where}', type, len(GeoType)))
        size = checked_array(f'{where} scale', (1, 1, 1) if scale is None else scale, (3,))
        if kind not in _MESHES and np.any(size < 0.0):
            raise ArgumentError(f'{where} scale: must not be negative, got {size.tolist()}')
        sizes = (float(size[0]), float(size[1]), float(size[2]))
        src = source if src is None else src
        pose = checked_pose(f'{where} xform', xform)
        margin = float(checked_array(f'{where} margin', cfg.margin, ()))
        self.checked_custom_values('shape', self.shape_count, custom_attributes)
        added = None
        weighs = body >= 0 and not is_static and not self.body_lock_inertia[body]
        if checked_amount(f'{where} density', cfg.density) > 0.0 and weighs:
            wall = None if cfg.is_solid else cfg.margin
            added = mass_properties(where, kind, sizes, src, cfg.density, wall)
        shape = self.append_row(
            'shape',
            shape_label=label,
            shape_type=int(kind),
            shape_body=int(body),
            shape_transform=pose,
            shape_scale=sizes,
            shape_source=src,
            shape_flags=int(cfg.flags),
            shape_margin=margin,
            shape_is_solid=bool(cfg.is_solid),
            shape_collision_group=int(cfg.collision_group),
            shape_collision_radius=shape_radius(kind, sizes, src),
            shape_world=self.current_world,
        )
        if added is not None:
            self.add_mass(body, pose, added)
        if cfg.collision_filter_parent and cfg.flags & ShapeFlags.COLLIDE_SHAPES:
            self.filter_shape(shape)
        self.set_custom_values('shape', shape, custom_attributes)
        return shape

    def add_mass(
        self, body: int, pose: np.ndarray, added: tuple[float, np.ndarray, np.ndarray]
    ) -> None:
        """Add a mass to a body.

        Args:
            body: The body.
            pose: Pose of the axes of the mass in the body, shape [7].
            added: Mass [kg], centre of mass [m], inertia about it [kg m^2], in its own axes.
        """
        mass, com, inertia = added
        turn = matrix_from_quaternion(pose[3:])
        own = self.body_mass[body], self.body_com[body], self.body_inertia[body]
        placed = mass, pose[:3] + turn @ com, turn @ inertia @ turn.T
        (self.body_mass[body], self.body_com[body], self.body_inertia[body]) = combine(own, placed)


def _shape_keywords(kind: str, given: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """Return the arguments of a shape method that :meth:`ShapeMethods.add_shape` takes."""
    return used(f'add_shape_{kind}', given, (*SHAPE, *more), UNUSED_SHAPE)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Centre of mass of the robot, or of some of its links, and its Jacobian, in world axes.

    c = sum_b m_b x_b / m,        x_b = p_b + R_b c_b
    dc/dq_i = sum over the bodies b that dof i moves of  m_b (v_i + omega_i x x_b) / m

(v_i, omega_i) is the twist of degree of freedom i, ``joint_S_s``.
"""

from collections.abc import Sequence
import dataclasses
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dofs_of_links
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import precise_array
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.numbers import integer_array


@dataclasses.dataclass(frozen=True)
class MassDistribution:
    """Masses of the bodies, on the model's device in one floating-point type.

    Attributes:
        scalar: ``wp.float32`` or ``wp.float64``.
        arrays: Instance of the struct ``MassArrays`` of :func:`center_of_mass_functions`.
        device: Device of the arrays.
        joint_dof_count: Degrees of freedom of the model.
        total_mass: Mass of the included bodies [kg].
    """

    scalar: type
    arrays: Any
    device: wp.Device
    joint_dof_count: int
    total_mass: float


@no_type_check
@functools.cache
def center_of_mass_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type, for use in other kernels.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        The struct ``MassArrays`` and the functions
        ``center_of_mass(masses, row, body_q) -> vec3`` [m],
        ``center_of_mass_velocity(masses, row, dof, body_q, joint_S_s) -> vec3``, the column of
        the Jacobian of one degree of freedom, and
        ``moved_mass_velocity(masses, row, dof, body_q, S) -> vec3``, the same with its twist S.
    """
    types = spatial_functions(scalar)
    vec3, transform, twist, point_velocity = (
        types.vec3, types.transform, types.twist, types.point_velocity
    )  # fmt: skip

    @wp.struct
    class MassArrays:
        body: wp.array(dtype=wp.int32)  # [n_bodies], included bodies with a mass
        com: wp.array(dtype=vec3)  # [n_bodies], centre of mass in the body
        fraction: wp.array(dtype=scalar)  # [n_bodies], of the total mass
        # Entries of the arrays above that degree of freedom i moves:
        # moved[moved_start[i] : moved_start[i + 1]].
        moved_start: wp.array(dtype=wp.int32)  # [joint_dof_count + 1]
        moved: wp.array(dtype=wp.int32)

    @wp.func
    def center_of_mass(masses: MassArrays, row: int, body_q: wp.array2d(dtype=transform)) -> vec3:
        center = vec3()
        for k in range(masses.body.shape[0]):
            center += masses.fraction[k] * wp.transform_point(
                body_q[row, masses.body[k]], masses.com[k]
            )
        return center

    @wp.func
    def moved_mass_velocity(
        masses: MassArrays, row: int, dof: int, body_q: wp.array2d(dtype=transform), S: twist
    ) -> vec3:
        velocity = vec3()
        for entry in range(masses.moved_start[dof], masses.moved_start[dof + 1]):
            k = masses.moved[entry]
            point = wp.transform_point(body_q[row, masses.body[k]], masses.com[k])
            velocity += masses.fraction[k] * point_velocity(S, point)
        return velocity

    @wp.func
    def center_of_mass_velocity(
        masses: MassArrays,
        row: int,
        dof: int,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ) -> vec3:
        return moved_mass_velocity(masses, row, dof, body_q, joint_S_s[row, dof])

    return SimpleNamespace(
        MassArrays=MassArrays,
        center_of_mass=center_of_mass,
        center_of_mass_velocity=center_of_mass_velocity,
        moved_mass_velocity=moved_mass_velocity,
    )


@no_type_check
@functools.cache
def _center_of_mass_kernel(scalar: type, differentiable: bool) -> wp.Kernel:
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform
    functions = center_of_mass_functions(scalar)
    MassArrays, center_of_mass = functions.MassArrays, functions.center_of_mass

    @compiled_kernel(differentiable=differentiable)
    def compute_center_of_mass(
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        com: wp.array(dtype=vec3),  # [n]
    ):
        row = wp.tid()
        com[row] = center_of_mass(masses, row, body_q)

    return compute_center_of_mass


@no_type_check
@functools.cache
def _center_of_mass_jacobian_kernel(scalar: type, differentiable: bool) -> wp.Kernel:
    types = spatial_functions(scalar)
    transform, twist = types.transform, types.twist
    functions = center_of_mass_functions(scalar)
    MassArrays, velocity_of = functions.MassArrays, functions.center_of_mass_velocity

    @compiled_kernel(differentiable=differentiable)
    def compute_center_of_mass_jacobian(
        masses: MassArrays,
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        jacobian: wp.array3d(dtype=scalar),  # [n, 3, joint_dof_count]
    ):
        row, dof = wp.tid()
        velocity = velocity_of(masses, row, dof, body_q, joint_S_s)
        for axis in range(3):
            jacobian[row, axis, dof] = velocity[axis]

    return compute_center_of_mass_jacobian


def has_mass(model: Any) -> bool:
    """Return True if any link has a mass."""
    return bool(precise_array(model, 'body_mass').sum() > 0.0)


def check_mass(model: Any) -> None:
    """Check that a robot has a mass, and therefore a centre of mass.

    Raises:
        ArgumentError: No link has a mass.
    """
    if not has_mass(model):
        raise ArgumentError('no link of the robot has a mass: it has no centre of mass')


@shares_launch_lock
def mass_distribution(
    model: Any, scalar: type, bodies: Sequence[int] | np.ndarray | None = None
) -> MassDistribution:
    """Collect the masses of the bodies.

    Args:
        model: A :class:`Model`, or any object with Newton's joint and body arrays. If it has
            ``body_mass64`` and ``body_com64``, these are used.
        scalar: ``wp.float32`` or ``wp.float64``.
        bodies: The bodies to include; None for all of them.

    Returns:
        The masses, on the model's device.

    Raises:
        ArgumentError: A body outside the model, a repeated body, or bodies without mass.
    """
    chosen = np.arange(model.body_count) if bodies is None else integer_array('bodies', bodies)
    outside = (chosen < 0) | (chosen >= model.body_count)
    if chosen.ndim != 1 or outside.any() or len(np.unique(chosen)) != len(chosen):
        raise ArgumentError(
            f'bodies must name bodies in [0, {model.body_count}), each once, got {bodies}'
        )
    mass, com = precise_array(model, 'body_mass'), precise_array(model, 'body_com')
    total = float(mass[chosen].sum())
    if not total > 0.0:
        raise ArgumentError(f'bodies must have a mass for their centre to exist, got {total} kg')
    massive = chosen[mass[chosen] > 0.0]
    start, moved = _moving_entries(model, massive)
    arrays = center_of_mass_functions(scalar).MassArrays()
    device = wp.get_device(model.device)
    arrays.body = wp.array(massive, dtype=wp.int32, device=device)
    arrays.com = wp.array(com[massive], dtype=spatial_functions(scalar).vec3, device=device)
    arrays.fraction = wp.array(mass[massive] / total, dtype=scalar, device=device)
    arrays.moved_start = wp.array(start, dtype=wp.int32, device=device)
    arrays.moved = wp.array(moved, dtype=wp.int32, device=device)
    return MassDistribution(scalar, arrays, device, model.joint_dof_count, total)


def launch_center_of_mass(
    masses: MassDistribution, body_q: wp.array, com: wp.array, *, differentiable: bool = False
) -> None:
    """Compute centres of mass; allocates nothing, so a graph can capture it.

    Args:
        masses: Masses of the included bodies.
        body_q: Link poses in the world, shape [n, body_count], in the type of ``masses``.
        com: Output: centre of mass in the world [m], vec3, shape [n].
        differentiable: Use the kernel with a backward pass, for a ``wp.Tape``.
    """
    launch(
        _center_of_mass_kernel(masses.scalar, differentiable),
        dim=body_q.shape[0],
        inputs=[masses.arrays, body_q],
        outputs=[com],
        device=masses.device,
    )


def launch_center_of_mass_jacobian(
    masses: MassDistribution,
    body_q: wp.array,
    joint_S_s: wp.array,
    jacobian: wp.array,
    *,
    differentiable: bool = False,
) -> None:
    """Compute Jacobians of the centre of mass; allocates nothing, so a graph can capture it.

    Args:
        masses: Masses of the included bodies.
        body_q: Link poses in the world, shape [n, body_count], in the type of ``masses``.
        joint_S_s: Motion subspaces, shape [n, joint_dof_count].
        jacobian: Output, every entry written: d com / d q, shape [n, 3, joint_dof_count].
        differentiable: Use the kernel with a backward pass, for a ``wp.Tape``.
    """
    launch(
        _center_of_mass_jacobian_kernel(masses.scalar, differentiable),
        dim=(body_q.shape[0], masses.joint_dof_count),
        inputs=[masses.arrays, body_q, joint_S_s],
        outputs=[jacobian],
        device=masses.device,
    )


def _moving_entries(model: Any, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices into ``bodies`` of the bodies that each degree of freedom moves."""
    entries: list[list[int]] = [[] for _ in range(model.joint_dof_count)]
    for position, dofs in enumerate(dofs_of_links(model, bodies.tolist())):
        for dof in dofs:
            entries[dof].append(position)
    start = np.cumsum([0] + [len(moved) for moved in entries])
    return start, np.array([k for moved in entries for k in moved], dtype=np.int32)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective: spheres on links keep a distance from each other.

    r = w max(0, d_min - d),   d = |c_i - c_j| - r_i - r_j     per pair (i, j)
    dr/dq_k = -w n . (dc_i/dq_k - dc_j/dq_k) while d < d_min,   n = (c_i - c_j) / |c_i - c_j|

r has a kink where d = d_min, its square, which solvers minimise, has none. Where two centres meet
there is no direction to part, and the row of the Jacobian is zero.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.numbers import host_array
from ros_ik.objectives.base.arguments import checked_links
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.record import make_record
from ros_ik.objectives.base.record import RecordKind
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _self_distance_kernels(scalar: type, differentiable: bool) -> SimpleNamespace:
    functions = objective_functions(scalar)
    vec3, transform, twist = functions.vec3, functions.transform, functions.twist
    read_vec3, link_pose = functions.read_vec3, functions.link_pose
    point_velocity = functions.point_velocity

    @wp.func
    def sphere_center(
        row: int,
        sphere: int,
        sphere_link: wp.array(dtype=wp.int32),
        spheres: wp.array2d(dtype=wp.float64),
        body_q: wp.array2d(dtype=transform),
    ) -> vec3:
        pose = link_pose(row, sphere_link[sphere], body_q)
        return wp.transform_point(pose, read_vec3(spheres, sphere))

    @compiled_kernel(differentiable=differentiable)
    def self_distance_residuals(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        sphere_link: wp.array(dtype=wp.int32),  # [n_spheres]
        spheres: wp.array2d(dtype=wp.float64),  # [n_spheres, 4], centre and radius
        pairs: wp.array2d(dtype=wp.int32),  # [n_pairs, 2]
        minimum: wp.array2d(dtype=wp.float64),  # [1, n_pairs]
        weight: wp.array2d(dtype=wp.float64),  # [1, n_pairs]
        start_idx: int,
        residuals: wp.array2d(dtype=scalar),  # [n_batch, total_residuals]
    ):
        row, pair = wp.tid()
        i = pairs[pair, 0]
        j = pairs[pair, 1]
        apart = sphere_center(row, i, sphere_link, spheres, body_q) - sphere_center(
            row, j, sphere_link, spheres, body_q
        )
        reach = scalar(minimum[0, pair] + spheres[i, 3] + spheres[j, 3])
        lack = wp.max(scalar(0.0), reach - wp.length(apart))
        residuals[row, start_idx + pair] = scalar(weight[0, pair]) * lack

    @compiled_kernel()
    def self_distance_jacobian(
        body_q: wp.array2d(dtype=transform),  # [n_batch, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n_batch, joint_dof_count]
        sphere_link: wp.array(dtype=wp.int32),  # [n_spheres]
        spheres: wp.array2d(dtype=wp.float64),  # [n_spheres, 4], centre and radius
        pairs: wp.array2d(dtype=wp.int32),  # [n_pairs, 2]
        moves: wp.array2d(dtype=wp.int32),  # [n_spheres, joint_dof_count], 1 or 0
        minimum: wp.array2d(dtype=wp.float64),  # [1, n_pairs]
        weight: wp.array2d(dtype=wp.float64),  # [1, n_pairs]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n_batch, total_residuals, joint_dof_count]
    ):
        row, pair = wp.tid()
        i = pairs[pair, 0]
        j = pairs[pair, 1]
        center_i = sphere_center(row, i, sphere_link, spheres, body_q)
        center_j = sphere_center(row, j, sphere_link, spheres, body_q)
        apart = center_i - center_j
        reach = scalar(minimum[0, pair] + spheres[i, 3] + spheres[j, 3])
        slope = scalar(0.0)
        if wp.length(apart) < reach:
            slope = -scalar(weight[0, pair])
        normal = wp.normalize(apart)
        for dof in range(moves.shape[1]):
            # A degree of freedom that moves both turns the pair as a whole.
            value = scalar(0.0)
            if moves[i, dof] > moves[j, dof]:
                value = slope * wp.dot(normal, point_velocity(joint_S_s[row, dof], center_i))
            elif moves[i, dof] < moves[j, dof]:
                value = -slope * wp.dot(normal, point_velocity(joint_S_s[row, dof], center_j))
            jacobian[row, start_idx + pair, dof] = value

    return SimpleNamespace(residuals=self_distance_residuals, jacobian=self_distance_jacobian)


class IKObjectiveSelfDistance(BuiltinObjective):
    """Pairs of spheres stay apart; one residual per pair.

    A penalty gives way to other objectives. What must hold is a barrier of the solvers.
    """

    construction_only = frozenset(('link_indices', 'centers', 'radii', 'pairs'))

    def __init__(
        self,
        link_indices: Sequence[int] | np.ndarray,
        centers: Any,
        radii: Any,
        pairs: Any,
        *,
        minimum_distance: float | Sequence[float] = 0.0,
        weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Create the objective.

        Args:
            link_indices: Link that carries each sphere, -1 for one fixed in the world, shape
                [n_spheres].
            centers: Centres in the links [m], shape [n_spheres, 3].
            radii: Radii [m], shape [n_spheres].
            pairs: Which two spheres stay apart, shape [n_pairs, 2].
            minimum_distance: Distance between the surfaces from which on a pair costs nothing [m],
                one or per pair.
            weight: Factor on the residuals [1/m], one or per pair.

        Raises:
            ArgumentError: A wrong shape, a negative radius, distance or weight, a pair of an
                unknown sphere or of two on one link.
        """
        self._links = checked_links('link_indices', link_indices, np.iinfo(np.int32).max, -1)
        count = len(self._links)
        self._pairs = _checked_pairs(pairs, self._links)
        super().__init__(checked_weight('weight', weight, len(self._pairs)))
        radius = checked_weight('radii', radii, count)
        center = np.asarray(host_array(centers), dtype=np.float64)
        if center.shape != (count, 3) or not np.all(np.isfinite(center)):
            raise ArgumentError(
                f'centers must be finite, of shape [{count}, 3], got shape {list(center.shape)}'
            )
        self._spheres = self._parameter('centers', np.column_stack([center, radius]), 4)
        minimum = checked_weight('minimum_distance', minimum_distance, len(self._pairs))
        self._minimum = self._parameter('minimum_distance', minimum[None], len(minimum))

    @property
    def minimum_distance(self) -> np.ndarray:
        """Distances from which on pairs cost nothing [m], shape [n_pairs]; may be set."""
        return read_only(self._minimum.read()[0])

    @minimum_distance.setter
    def minimum_distance(self, value: float | Sequence[float]) -> None:
        count = self.residual_dim()
        self._minimum.write(checked_weight('minimum_distance', value, count)[None])

    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Find the degrees of freedom that move each sphere.

        Raises:
            ArgumentError: A link outside the model.
        """
        checked_links('link_indices', self._links, model.body_count, -1)
        moves = np.zeros((len(self._links), model.joint_dof_count), dtype=np.int32)
        for sphere, link in enumerate(self._links):
            moves[sphere, link_dofs(model, int(link))] = 1
        self._moves, self._sphere_link, self._pair_spheres = (
            wp.array(table, dtype=wp.int32, device=self.device)
            for table in (moves, self._links, self._pairs)
        )

    def record(self) -> Any:
        """Return the record; see :meth:`IKObjective.record`."""
        moving = np.flatnonzero(np.any(self._moves.numpy() > 0, axis=0))
        return make_record(
            RecordKind.SELF_DISTANCE,
            self._weights.array,
            offset=self._spheres.array,
            axis=self._minimum.array,
            chain_dof=wp.array(moving, dtype=wp.int32, device=self.device),
            sphere_link=self._sphere_link,
            pairs=self._pair_spheres,
            moves=self._moves,
        )

    def compute_residuals(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: 'Model',
        residuals: wp.array,
        start_idx: int,
        problem_idx: wp.array | None = None,
    ) -> None:
        """Write one residual per pair; the spheres serve every problem."""
        self._launch(
            _self_distance_kernels(residuals.dtype, residuals.requires_grad).residuals,
            (body_q.shape[0], self.residual_dim()),
            [
                body_q, self._sphere_link, self._spheres.array, self._pair_spheres,
                self._minimum.array, self._weights.array, start_idx,
            ],
            residuals,
        )  # fmt: skip

    def compute_jacobian_analytic(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: 'Model',
        jacobian: wp.array,
        joint_S_s: wp.array,
        start_idx: int,
    ) -> None:
        """Write one row per pair; see :meth:`IKObjective.compute_jacobian_analytic`."""
        self._launch(
            _self_distance_kernels(jacobian.dtype, False).jacobian,
            (body_q.shape[0], self.residual_dim()),
            [
                body_q, joint_S_s, self._sphere_link, self._spheres.array, self._pair_spheres,
                self._moves, self._minimum.array, self._weights.array, start_idx,
            ],
            jacobian,
        )  # fmt: skip


def _checked_pairs(pairs: Any, links: np.ndarray) -> np.ndarray:
    """Return pairs of spheres as int32 [n, 2], or raise ArgumentError."""
    table = host_array(pairs)
    if table.ndim != 2 or table.shape[1] != 2 or not len(table):
        raise ArgumentError(f'pairs must have shape [n, 2], got {list(table.shape)}')
    if not np.issubdtype(table.dtype, np.integer) or np.any((table < 0) | (table >= len(links))):
        raise ArgumentError(f'pairs must name spheres in [0, {len(links)}), got {pairs}')
    same = links[table[:, 0]] == links[table[:, 1]]
    if np.any(same):
        raise ArgumentError(f'pairs must join spheres of two links, got {table[same].tolist()}')
    return table.astype(np.int32)

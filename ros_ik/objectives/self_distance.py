# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective that penalises small distances between spheres on links.

    r = w max(0, d_min - d),   d = |c_i - c_j| - r_i - r_j     per pair (i, j)
    dr/dq_k = -w n . (dc_i/dq_k - dc_j/dq_k) while d < d_min,   n = (c_i - c_j) / |c_i - c_j|

r has a kink at d = d_min, but its square, which solvers minimise, is smooth. If two centres
coincide, the direction n is undefined, and the row of the Jacobian is zero.
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
from ros_ik.kinematics.chain import dofs_of_links
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.numbers import host_array
from ros_ik.numbers import real_array
from ros_ik.objectives.base.arguments import checked_links
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.formula import block_functions
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _functions(scalar: type) -> SimpleNamespace:
    types = objective_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    read_vec3, link_pose, point_velocity = types.read_vec3, types.link_pose, types.point_velocity
    rows1 = block_functions(scalar).rows1

    @wp.struct
    class Parameters:
        sphere_link: wp.array(dtype=wp.int32)  # [n_spheres]
        spheres: wp.array2d(dtype=wp.float64)  # [n_spheres, 4], centre and radius
        pairs: wp.array2d(dtype=wp.int32)  # [n_pairs, 2]
        moves: wp.array2d(dtype=wp.int32)  # [n_spheres, joint_dof_count], 1 or 0
        minimum: wp.array2d(dtype=wp.float64)  # [1, n_pairs]

    @wp.struct
    class State:
        i: int
        j: int
        center_i: vec3
        center_j: vec3
        lack: scalar

    @wp.func
    def sphere_center(
        parameters: Parameters, row: int, sphere: int, body_q: wp.array2d(dtype=transform)
    ) -> vec3:
        pose = link_pose(row, parameters.sphere_link[sphere], body_q)
        return wp.transform_point(pose, read_vec3(parameters.spheres, sphere))

    @wp.func
    def prepare(
        parameters: Parameters,
        row: int,
        problem: int,
        block: int,
        body_q: wp.array2d(dtype=transform),
    ) -> State:
        state = State()
        i = parameters.pairs[block, 0]
        j = parameters.pairs[block, 1]
        center_i = sphere_center(parameters, row, i, body_q)
        center_j = sphere_center(parameters, row, j, body_q)
        reach = parameters.minimum[0, block] + parameters.spheres[i, 3] + parameters.spheres[j, 3]
        state.i = i
        state.j = j
        state.center_i = center_i
        state.center_j = center_j
        state.lack = wp.max(scalar(0.0), scalar(reach) - wp.length(center_i - center_j))
        return state

    @wp.func
    def residual(state: State) -> twist:
        return rows1(state.lack)

    @wp.func
    def column(
        state: State,
        parameters: Parameters,
        row: int,
        slot: int,
        dof: int,
        sign: scalar,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ) -> twist:
        # A degree of freedom that moves both spheres does not change their distance.
        by = parameters.moves[state.i, dof] - parameters.moves[state.j, dof]
        value = scalar(0.0)
        if state.lack > scalar(0.0) and by != 0:
            normal = wp.normalize(state.center_i - state.center_j)
            point = state.center_i
            if by < 0:
                point = state.center_j
            value = -scalar(by) * wp.dot(normal, point_velocity(joint_S_s[row, dof], point))
        return rows1(value)

    return SimpleNamespace(
        Parameters=Parameters, State=State, prepare=prepare, residual=residual, column=column
    )


SELF_DISTANCE = Formula('self_distance', _functions, rows=1, is_one_sided=True)


class IKObjectiveSelfDistance(BuiltinObjective):
    """Keep pairs of spheres apart; one residual per pair.

    This is a soft constraint, traded off against other objectives. Barriers are hard constraints.
    """

    formula = SELF_DISTANCE

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
            pairs: Indices of the two spheres of each pair, shape [n_pairs, 2].
            minimum_distance: Distance between the surfaces above which a pair has no cost [m], one
                or per pair.
            weight: Factor on the residuals [1/m], one or per pair.

        Raises:
            ArgumentError: A wrong shape, a negative radius, distance or weight, a pair of an
                unknown sphere or of two on one link.
        """
        self._link_of_sphere = checked_links(
            'link_indices', link_indices, np.iinfo(np.int32).max, -1
        )
        count = len(self._link_of_sphere)
        self._pairs = _checked_pairs(pairs, self._link_of_sphere)
        super().__init__(checked_weight('weight', weight, len(self._pairs)))
        radius = checked_weight('radii', radii, count)
        center = real_array('centers', centers)
        if center.shape != (count, 3) or not np.all(np.isfinite(center)):
            raise ArgumentError(
                f'centers must be finite, of shape [{count}, 3], got shape {list(center.shape)}'
            )
        self._spheres = self._parameter('centers', np.column_stack([center, radius]), 4)
        minimum = checked_weight('minimum_distance', minimum_distance, len(self._pairs))
        self._minimum = self._parameter('minimum_distance', minimum[None], len(minimum))

    @property
    def minimum_distance(self) -> np.ndarray:
        """Distances above which pairs have no cost [m], shape [n_pairs]; may be set."""
        return read_only(self._minimum.read()[0])

    @minimum_distance.setter
    def minimum_distance(self, value: float | Sequence[float]) -> None:
        count = self.residual_dim()
        self._minimum.write(checked_weight('minimum_distance', value, count)[None])

    @shares_launch_lock
    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Find the degrees of freedom that move each sphere.

        Raises:
            ArgumentError: A link outside the model.
        """
        checked_links('link_indices', self._link_of_sphere, model.body_count, -1)
        moves = np.zeros((len(self._link_of_sphere), model.joint_dof_count), dtype=np.int32)
        for sphere, dofs in enumerate(dofs_of_links(model, self._link_of_sphere.tolist())):
            moves[sphere, dofs] = 1
        moving = np.flatnonzero(np.any(moves > 0, axis=0))
        self._moves, self._sphere_link, self._pair_spheres = (
            wp.array(table, dtype=wp.int32, device=self.device)
            for table in (moves, self._link_of_sphere, self._pairs)
        )
        self._chain_dof, self._chain_sign = (
            wp.array(values, dtype=wp.int32, device=self.device)
            for values in (moving, np.ones(len(moving)))
        )

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.sphere_link, parameters.spheres = self._sphere_link, self._spheres.array
        parameters.pairs, parameters.moves = self._pair_spheres, self._moves
        parameters.minimum = self._minimum.array

    def _links(self) -> frozenset[int]:
        return frozenset(self._link_of_sphere.tolist())


def _checked_pairs(pairs: Any, links: np.ndarray) -> np.ndarray:
    """Return pairs of spheres as int32 [n, 2], or raise ArgumentError."""
    table = host_array(pairs, 'pairs')
    if table.ndim != 2 or table.shape[1] != 2 or not len(table):
        raise ArgumentError(f'pairs must have shape [n, 2], got {list(table.shape)}')
    if not np.issubdtype(table.dtype, np.integer) or np.any((table < 0) | (table >= len(links))):
        raise ArgumentError(f'pairs must name spheres in [0, {len(links)}), got {pairs}')
    same = links[table[:, 0]] == links[table[:, 1]]
    if np.any(same):
        raise ArgumentError(f'pairs must join spheres of two links, got {table[same].tolist()}')
    return table.astype(np.int32)

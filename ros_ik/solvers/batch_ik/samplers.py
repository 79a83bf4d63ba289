# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Seeds of a batch, from noise about the input, uniform draws or a low-discrepancy sequence.

A sample has a number for each degree of freedom that may move. Joints are sampled over the range
of their limits. Without limits, angles are sampled over a whole turn, and distances up to 1 m to
either side of the input. Three numbers make a uniform rotation (K. Shoemake, "Uniform Random
Rotations", Graphics Gems III, 1992). The sequence is M. Roberts' R_d, u_k = 1/2 + k / phi_d^(i +
1) mod 1, with the positive root phi_d of x^(d + 1) = x + 1. Its first point is the middle of the
ranges.
"""

import functools
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.kinematics.tree import tree_struct
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.sampling_range import sampling_range
from ros_ik.solvers.batch_ik.base.enums import IKSampler
from ros_ik.solvers.batch_ik.base.seed_kernels import confine_function
from ros_ik.solvers.least_squares.search_space import make_search_space
from ros_ik.solvers.least_squares.search_space import space_struct

# Range to either side of the input for a prismatic joint without limits [m].
_REACH = 1.0


@no_type_check
@functools.cache
def _sample_kernel(sampler: IKSampler) -> wp.Kernel:
    Space = space_struct()
    Tree = tree_struct(wp.float32)
    confine = confine_function()
    rotation_exp = spatial_functions(wp.float32).rotation_exp
    gauss = sampler is IKSampler.GAUSS
    roberts = sampler is IKSampler.ROBERTS
    copies = sampler is IKSampler.NONE

    @wp.func
    def draw(row: int, seed: int, dof: int, key: wp.uint32, basis: wp.array(dtype=float)) -> float:
        """Return a uniform number in [0, 1), or a normally distributed one for noise."""
        if wp.static(roberts):
            value = 0.5 + float(seed) * basis[dof]
            return value - wp.floor(value)
        state = wp.rand_init(wp.int32(key), row * basis.shape[0] + dof)
        if wp.static(gauss):
            return wp.randn(state)
        return wp.randf(state)

    @wp.func
    def any_rotation(u: wp.vec3) -> wp.quat:
        small = wp.sqrt(1.0 - u[0])
        large = wp.sqrt(u[0])
        first = 2.0 * wp.pi * u[1]
        second = 2.0 * wp.pi * u[2]
        return wp.quat(
            small * wp.sin(first), small * wp.cos(first),
            large * wp.sin(second), large * wp.cos(second),
        )  # fmt: skip

    @wp.func
    def turn(row: int, c: int, u: wp.vec3, noise_std: float, joint_q: wp.array2d(dtype=float)):
        rotation = any_rotation(u)
        if wp.static(gauss):
            rotation = rotation_exp(u * noise_std) * wp.quat(
                joint_q[row, c], joint_q[row, c + 1], joint_q[row, c + 2], joint_q[row, c + 3]
            )
        for k in range(4):
            joint_q[row, c + k] = rotation[k]

    @compiled_kernel()
    def sample(
        space: Space,
        tree: Tree,
        joint_q_in: wp.array2d(dtype=float),  # [n_problems, joint_coord_count]
        refused: wp.array(dtype=wp.int32),  # [n_problems]
        sample_lower: wp.array(dtype=float),  # [joint_coord_count]
        sample_upper: wp.array(dtype=float),  # [joint_coord_count]
        about_input: wp.array(dtype=wp.int32),  # [joint_coord_count], 1: range is about the input
        basis: wp.array(dtype=float),  # [joint_dof_count]
        key: wp.array(dtype=wp.uint32),  # [1]
        n_seeds: int,
        noise_std: float,
        joint_q: wp.array2d(dtype=float),  # [n_problems * n_seeds, joint_coord_count]
    ):
        row = wp.tid()
        problem = row // n_seeds
        seed = row % n_seeds
        for c in range(joint_q.shape[1]):
            joint_q[row, c] = joint_q_in[problem, c]
            if refused[problem] == 1:
                joint_q[row, c] = wp.nan
        if wp.static(copies) or refused[problem] == 1 or (wp.static(gauss) and seed == 0):
            return
        for joint in range(tree.joint_type.shape[0]):
            c = tree.joint_q_start[joint]
            dof = tree.joint_qd_start[joint]
            n_dofs = tree.joint_qd_start[joint + 1] - dof
            n_coords = tree.joint_q_start[joint + 1] - c
            for k in range(n_dofs):
                of_quaternion = n_coords > n_dofs and k >= n_dofs - 3
                if not of_quaternion and space.coord_frozen[c + k] == 0:
                    u = draw(row, seed, dof + k, key[0], basis)
                    value = joint_q[row, c + k]
                    if wp.static(gauss):
                        value += noise_std * u
                    else:
                        center = value * float(about_input[c + k])
                        lower = sample_lower[c + k]
                        value = center + lower + u * (sample_upper[c + k] - lower)
                    joint_q[row, c + k] = value
            if n_coords > n_dofs and space.coord_frozen[c] == 0:
                first = dof + n_dofs - 3
                angles = wp.vec3(
                    draw(row, seed, first, key[0], basis),
                    draw(row, seed, first + 1, key[0], basis),
                    draw(row, seed, first + 2, key[0], basis),
                )
                turn(row, c + n_coords - 4, angles, noise_std, joint_q)
        confine(space, row, joint_q)

    return sample


@no_type_check
@functools.cache
def _advance_kernel() -> wp.Kernel:
    @compiled_kernel()
    def advance(key: wp.array(dtype=wp.uint32)):
        key[0] = key[0] + wp.uint32(1)

    return advance


class Sampler:
    """Sampler of the seeds of problems; every call continues the sequence."""

    def __init__(
        self,
        model: Any,
        tree: KinematicTree,
        sampler: IKSampler,
        n_seeds: int,
        *,
        noise_std: float,
        rng_seed: int,
        joint_dof_mask: wp.array | np.ndarray | None,
    ) -> None:
        """Prepare the ranges.

        Args:
            model: Any object with Newton's joint arrays.
            tree: Its tree, float32.
            sampler: Source of the seeds.
            n_seeds: Number of seeds of each problem.
            noise_std: Standard deviation of the noise [rad or m].
            rng_seed: Seed of the random numbers.
            joint_dof_mask: Degrees of freedom that may move; None for all.
        """
        self._tree, self._n_seeds, self._noise_std = tree, n_seeds, float(noise_std)
        self._kernel = _sample_kernel(sampler)
        space = make_search_space(model, joint_dof_mask=joint_dof_mask)
        self._space = space.arrays
        device = tree.device
        lower, upper, about_input = _ranges(model, space.lower, space.upper)
        self._lower, self._upper, self._basis = (
            wp.array(values, dtype=wp.float32, device=device)
            for values in (lower, upper, _roberts_basis(space.dof_free))
        )
        self._about_input = wp.array(about_input, dtype=wp.int32, device=device)
        self._first_key = int(rng_seed) % 2**32
        self._key = wp.full(1, value=self._first_key, dtype=wp.uint32, device=device)

    def reset(self) -> None:
        """Restart the sequence."""
        self._key.fill_(self._first_key)

    def launch(self, joint_q_in: wp.array, refused: wp.array, joint_q: wp.array) -> None:
        """Fill the seeds.

        Args:
            joint_q_in: Input of each problem, float32 [n_problems, joint_coord_count].
            refused: 1 for a problem that is not to be solved, int32 [n_problems]; its seeds are
                NaN.
            joint_q: Output, float32 [n_problems * n_seeds, joint_coord_count].
        """
        device = self._tree.device
        launch(
            self._kernel,
            dim=joint_q.shape[0],
            inputs=[
                self._space, self._tree.arrays, joint_q_in, refused, self._lower, self._upper,
                self._about_input, self._basis, self._key, self._n_seeds, self._noise_std,
            ],
            outputs=[joint_q],
            device=device,
        )  # fmt: skip
        launch(_advance_kernel(), dim=1, outputs=[self._key], device=device)


def _ranges(
    model: Any, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the range of each coordinate, and whether it is relative to the input."""
    linear = np.zeros(model.joint_coord_count, dtype=bool)
    starts, dims = model.joint_q_start.numpy(), model.joint_dof_dim.numpy()
    for joint, kind in enumerate(model.joint_type.numpy().tolist()):
        count = 3 if kind in (JointType.FREE, JointType.DISTANCE) else int(dims[joint, 0])
        linear[starts[joint] : starts[joint] + count] = kind != JointType.BALL
    reach = np.where(linear, _REACH, np.pi)
    low, high = sampling_range(lower, upper, reach)
    return low, high, linear & ~(np.isfinite(lower) | np.isfinite(upper))


def _roberts_basis(dof_free: np.ndarray) -> np.ndarray:
    """Return the step of the sequence per degree of freedom, [joint_dof_count]; 0 for the rest."""
    d = int(np.count_nonzero(dof_free))
    root = 2.0
    for _ in range(64):  # x = (1 + x)^(1 / (d + 1)) is a contraction
        root = (1.0 + root) ** (1.0 / (d + 1))
    basis = np.zeros(len(dof_free))
    basis[dof_free] = root ** -np.arange(1.0, d + 1.0)
    return basis

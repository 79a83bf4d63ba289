# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tolerances by axis, judged by Pinocchio; their columns, by finite differences."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.robots.arms import ARMS
from support.robots.arms import reachable
from support.robots.arms import robot
from support.robots.arms import ROUNDING
from support.robots.collision_oracle import robot_with_meshes
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text
import warp as wp

from ros_ik import ChainIK
from ros_ik import inverse_kinematics
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.serial_chain import serial_chain
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_bounds_struct
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_error_functions
from ros_ik.solvers.pose_ik.kernels.functions import chain_functions
from ros_ik.solvers.pose_ik.search.setup import axis_bounds
from ros_ik.solvers.pose_ik.search.setup import make_chain

FREE = np.inf
EXACT = 1e-3, 1e-2
FRAMES = ('target', 'tool')
# An arm and a frame. Of the kernels of an arm, slides alone have other columns.
CASES = in_turn(either((ARMS[0], ARMS[5]), ARMS), FRAMES)


def moved(poses, shift=None, turn=None):
    """Return poses displaced in their own axes: by shifts [n, 3], then by rotation vectors."""
    out = poses.copy()
    for k, pose in enumerate(poses):
        place = pin.SE3(pin.Quaternion(pose[3:]), pose[:3])
        if shift is not None:
            place = place * pin.SE3(np.eye(3), shift[k])
        if turn is not None:
            place = place * pin.SE3(pin.exp3(turn[k]), np.zeros(3))
        out[k] = pin.SE3ToXYZQUAT(place)
    return out


def axis_errors(name, link, joint_q, poses, frame):
    """Return errors along and about the axes of the frame by Pinocchio, [n, 6]."""
    oracle = PinocchioRobot(urdf_text(name), robot(name))
    errors = np.empty((len(poses), 6))
    for k, (q, pose) in enumerate(zip(joint_q, poses, strict=True)):
        p, R = oracle.pose(q, link)
        R_t = pin.Quaternion(pose[3:]).toRotationMatrix()
        axes = (R_t if frame == 'target' else R).T
        errors[k] = *(axes @ (pose[:3] - p)), *pin.log3(R.T @ R_t)
    return errors


def assert_within(name, link, poses, seeds, position, rotation, frame='target'):
    """Solve; assert that every answer is inside the limits and the tolerances."""
    model = robot(name)
    result = inverse_kinematics(
        model, link, poses, seeds, position, rotation, tolerance_frame=frame
    )
    assert np.all(result.status == SolveStatus.CONVERGED), np.bincount(result.status)
    lower, upper = model.limits64()[:2]
    assert np.all(result.joint_q >= lower) and np.all(result.joint_q <= upper)
    errors = axis_errors(name, link, result.joint_q, poses, frame)
    for part, bound in ((errors[:, :3], position), (errors[:, 3:], rotation)):
        if np.ndim(bound):
            assert np.all(np.abs(part) <= np.asarray(bound) + ROUNDING)
        else:
            assert np.all(np.linalg.norm(part, axis=1) <= bound + ROUNDING)
    return result


@pytest.mark.parametrize(('arm', 'frame'), CASES)
def test_a_free_turn_about_an_axis(arm, frame):
    name, link = arm
    poses, seeds = reachable(robot(name), link, 60)
    angles = np.random.default_rng(1).uniform(-np.pi, np.pi, 60)
    for axis in range(3):
        turned = moved(poses, turn=angles[:, None] * np.eye(3)[axis])
        bound = np.where(np.arange(3) == axis, FREE, 1e-2)
        result = assert_within(name, link, turned, seeds, 1e-3, bound, frame)
        # Free axes have no error.
        assert np.all(result.rotation_error <= np.sqrt(2.0) * 1e-2 + ROUNDING)


@pytest.mark.parametrize(('arm', 'frame'), CASES)
def test_a_free_way_along_an_axis(arm, frame):
    name, link = arm
    poses, seeds = reachable(robot(name), link, 60)
    away = np.random.default_rng(2).uniform(-2.0, 2.0, 60)
    for axis in range(3):
        shifted = moved(poses, shift=away[:, None] * np.eye(3)[axis])
        bound = np.where(np.arange(3) == axis, FREE, 1e-3)
        result = assert_within(name, link, shifted, seeds, bound, 1e-2, frame)
        assert np.all(result.position_error <= np.sqrt(2.0) * 1e-3 + ROUNDING)


@pytest.mark.parametrize(('arm', 'frame'), CASES)
def test_a_box_around_a_pose(arm, frame):
    name, link = arm
    poses, seeds = reachable(robot(name), link, 60)
    rng = np.random.default_rng(3)
    position, rotation = np.array([0.05, 0.02, 0.2]), np.array([0.3, 0.05, 0.6])
    turn = rng.uniform(-0.8, 0.8, (60, 3)) * rotation
    # The frame of the tool turns with what is allowed to turn: there the box is that of the pose.
    shift = rng.uniform(-0.8, 0.8, (60, 3)) * position
    boxed = moved(poses, shift=shift)
    if frame == 'target':
        boxed = moved(moved(poses, turn=turn), shift=shift)
    else:
        boxed = moved(boxed, turn=turn)
    assert_within(name, link, boxed, seeds, position, rotation, frame)
    # By length alone most of them are out of reach.
    strict = inverse_kinematics(robot(name), link, boxed, seeds, *EXACT)
    assert np.mean(strict.status == SolveStatus.CONVERGED) < 1.0


def test_a_pose_outside_its_box_is_not_solved():
    poses, seeds = reachable(robot('panda'), 'panda_hand_tcp', 20)
    poses[:, :3] *= 4.0 / np.linalg.norm(poses[:, :3], axis=1, keepdims=True)
    result = inverse_kinematics(
        robot('panda'), 'panda_hand_tcp', poses, seeds, [0.5, 0.5, 0.5], [FREE, 0.1, 0.1]
    )
    assert not np.any(result.status == SolveStatus.CONVERGED) and not np.any(result.n_found)


def test_collisions_and_several_solutions_keep_to_the_axes():
    model = robot_with_meshes('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 30)
    bound = [1e-2, 1e-2, FREE]
    result = inverse_kinematics(model, 'panda_hand_tcp', poses, seeds, 1e-3, bound, 4, True)
    found = np.arange(4) < result.n_found[:, None]
    assert found.sum() > 60
    rows = np.nonzero(found)[0]
    errors = axis_errors('panda', 'panda_hand_tcp', result.joint_q[found], poses[rows], 'target')
    assert np.all(np.linalg.norm(errors[:, :3], axis=1) <= 1e-3 + ROUNDING)
    assert np.all(np.abs(errors[:, 3:]) <= np.array(bound) + ROUNDING)


@pytest.mark.parametrize('frame', FRAMES)
@pytest.mark.parametrize(('name', 'link'), [*either([], [ARMS[0]]), ARMS[5]])
def test_columns_are_those_of_finite_differences(name, link, frame):
    model = robot(name)
    chain = serial_chain(model, model.body_index(link))
    slides, variables = chain.slides, chain.variables
    assert chain.is_direct
    functions = chain_functions(wp.float64, slides, variables, True)
    errors = axis_error_functions(wp.float64, functions)
    forward, axis_columns, values = functions.forward, errors.axis_columns, errors.axis_errors
    Chain, vecm, n = functions.Chain, functions.vecm, len(slides)
    bounds = axis_bounds(PoseTolerance((1e-3,) * 3, (1e-3,) * 3, frame))
    AxisBounds = axis_bounds_struct(wp.float64)

    @wp.kernel(enable_backward=False)
    def evaluate(
        chain: Chain,
        bounds: AxisBounds,
        q: wp.array(dtype=vecm),
        target: wp.transformd,
        error: wp.array2d(dtype=wp.vec3d),
        column: wp.array3d(dtype=wp.vec3d),
    ):
        row = wp.tid()
        R_t = wp.quat_to_matrix(wp.transform_get_rotation(target))
        p_t = wp.transform_get_translation(target)
        axes, pivots, R, p = forward(chain, q[row])
        e_p, e_r = values(bounds, R, p, R_t, p_t)
        linear, angular = axis_columns(chain, bounds, axes, pivots, R, p, R_t, p_t, e_p, e_r)
        error[row, 0] = e_p
        error[row, 1] = e_r
        for i in range(n):
            column[row, i, 0] = wp.vec3d(linear[i, 0], linear[i, 1], linear[i, 2])
            column[row, i, 1] = wp.vec3d(angular[i, 0], angular[i, 1], angular[i, 2])

    def evaluated(q, target):
        rows = len(q)
        error = wp.zeros((rows, 2), dtype=wp.vec3d, device='cpu')
        column = wp.zeros((rows, n, 2), dtype=wp.vec3d, device='cpu')
        given = wp.array(q, dtype=vecm, device='cpu')
        wp.launch(
            evaluate, dim=rows, device='cpu',
            inputs=[make_chain(chain), bounds, given, wp.transformd(*target)],
            outputs=[error, column],
        )  # fmt: skip
        return error.numpy().reshape(rows, 6), column.numpy().reshape(rows, n, 6)

    poses, _ = reachable(model, link, 20)
    rng, step = np.random.default_rng(4), 1e-6
    low, high = chain.sampling_range()
    for pose in poses:
        q = rng.uniform(low, high)
        probes = np.concatenate([[q], q + step * np.eye(n), q - step * np.eye(n)])
        error, column = evaluated(probes, pose)
        if np.linalg.norm(error[0, 3:]) > 3.0:
            continue  # the rotation vector jumps at half a turn
        slopes = (error[1 : n + 1] - error[n + 1 :]) / (2.0 * step)
        # Central differences err by step^2 and by rounding over step, some 1e-10 each.
        np.testing.assert_allclose(column[0], -slopes, atol=1e-7)


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'position_tolerance': [1, 2]}, 'position_tolerance'),
        ({'rotation_tolerance': [1.0, 1.0, 0.0]}, r'rotation_tolerance\[2\]'),
        (
            {'rotation_tolerance': [1.0, np.nan, 1.0]},
            r'rotation_tolerance\[1\]|rotation_tolerance',
        ),
        ({'rotation_tolerance': [[1.0, 1.0, 1.0]]}, 'rotation_tolerance'),
        ({'rotation_tolerance': 'abc'}, 'rotation_tolerance'),
        ({'position_tolerance': [FREE] * 3, 'rotation_tolerance': [FREE] * 3}, 'both'),
        ({'position_tolerance': [FREE] * 3, 'rotation_tolerance': FREE}, 'both'),
        ({'tolerance_frame': 'link'}, 'tolerance_frame'),
        ({'tolerance_frame': None}, 'tolerance_frame'),
        ({'rotation_tolerance': [FREE, 1.0, 1.0], 'method': 'closed_form'}, 'by axis'),
    ],
)
def test_a_wrong_tolerance_is_named(given, words):
    poses, _ = reachable(robot('ur5_robot'), 'tool0', 1)
    with pytest.raises(ArgumentError, match=words):
        inverse_kinematics(robot('ur5_robot'), 'tool0', poses, **given)


def test_tolerances_of_one_call_are_not_those_of_another():
    poses, _ = reachable(robot(ARMS[0][0]), ARMS[0][1], 20)

    def answers(position, rotation=np.inf, frame='target'):
        result = inverse_kinematics(
            *(robot(ARMS[0][0]), ARMS[0][1], poses), None, position, rotation,
            tolerance_frame=frame,
        )  # fmt: skip
        return result.joint_q.tobytes()

    box = [1e-3, 1e-3, 0.3]
    alike = answers(box), answers(tuple(box)), answers(np.array(box))
    assert len(set(alike)) == 1
    box[2] = 1e-4
    others = (
        answers(box), answers(1e-4), answers(1e-4, 0.1), answers(1e-4, 1e-8),
        answers(1e-8, 1e-4),
    )  # fmt: skip
    assert len({*alike, *others}) == 6
    for _ in range(2):
        for wrong in (0.0, -1e-3, np.nan):
            with pytest.raises(ArgumentError, match='position_tolerance'):
                answers(wrong)
        with pytest.raises(ArgumentError, match='tolerance_frame'):
            answers(1e-3, frame=['target'])
        with pytest.raises(ArgumentError, match='both be inf'):
            answers(np.inf)


def test_a_solver_takes_them_too():
    model = robot('ur5_robot')
    poses, _ = reachable(model, 'tool0', 3)
    turned = moved(poses, turn=np.array([[0.0, 0.0, 1.0]] * 3))
    with_axes = ChainIK(model, 'tool0', 3, rotation_tolerance=[1e-2, 1e-2, FREE])
    assert np.all(with_axes.solve(turned).status == SolveStatus.CONVERGED)
    by_auto = inverse_kinematics(
        model, 'tool0', turned, rotation_tolerance=[1e-2, 1e-2, FREE], method='auto'
    )
    assert np.all(by_auto.status == SolveStatus.CONVERGED)

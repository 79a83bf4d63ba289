# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Each formula stands where docs/architecture.md says, nowhere else; twins on the host agree."""

from pathlib import Path
import re
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
from objectives import rig
import pytest
import warp as wp

from ros_ik.kinematics import eval_jacobian
from ros_ik.kinematics.row_bound import row_bound_functions
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.model.conventions.poses import multiply
from ros_ik.model.conventions.poses import pose_rows
from ros_ik.model.conventions.poses import rotate
from ros_ik.objectives import IKObjectiveManipulability
from ros_ik.servo.barriers.barrier_rows import BarrierRows
from ros_ik.servo.motion.manipulability_slope import manipulability_slope
from ros_ik.servo.motion.pose_math import float_difference
from ros_ik.servo.motion.pose_math import pose_multiply
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.motion.pose_math import rotation_exp
from ros_ik.servo.motion.pose_math import rotation_log
from ros_ik.solvers.pose_ik.search.problem_input import read_poses_kernel

ROOT = Path(__file__).resolve().parents[2]
# Code that only the places of a formula have, a regular expression.
MARKS = {
    'sine and cosine, inlined': r'2\.50507602534068634195e-08',
    'rotation of a vector by a quaternion': r'cross\(u, cross\(u|tx, ty, tz = 2\.0',
    'rotation matrix of a quaternion': r'quat2mat\(|_turned\(q, axis\)',
    'product of two quaternions': r'w \* v \+ s \* u|aw \* bw',
    'vector perpendicular to another one': r'np\.eye\(3\)\[(int\()?np\.argmin',
    'rotation vector of a quaternion': r'atan2\(sine, w\)',
    'rotation vector between two orientations': r'rotation_log\(target \*|ax \* qw - aw',
    'quaternion of a rotation vector': r'wp\.sin\(half\) / half|sin\(0\.5 \* angle\) / angle',
    'rotation vector of a matrix': r'\(wp\.trace\(E\) - ',
    'rotation vector up to a full turn': r'atan2\(sine, q\[3\]\)',
    'rotation between two directions': r'= s \* \(wp\.atan2\(sine, c\) / sine\)',
    'rate of the rotation between two directions': r'f = wp\.atan2\(sine, c\)',
    'rate of a rotation vector': r'wp\.cos\(half\) / wp\.sin\(half\)',
    'twist of an axis': r'wp\.cross\(pivot, axis\)',
    'motion of a joint, its columns': r'vec3\(joint_q\[row',
    'step of coordinates, q (+) dq': r'rotation_exp\(read3',
    'axes of joints in their children': r'reshape\(-1, 7\)\[joints\]',
    'valid poses, normalised': r'[<>]= (wp\.static\(wp\.float64\()?MIN_NORM',
    'folded chain in registers': r'pivots\[i, k\] = p\[k\]',
    "determinant of J J', its derivative": r'wp\.func_grad',
    'derivative of columns by joints': r'def column_derivative|cumsum\(moments',
    'Jacobian of a tool from axes': r'wp\.cross\(turned, end\)|\bcross\(lines, arms\)',
    'costs of preferences, the best of all solutions': r'follows = value > floor',
    'largest step from which braking ends in time': r'8\.0\)? \* (D\)|ratio\)|distance)',
    'default acceleration of a joint': r'velocity / _RISE_TIME',
    'limits of a driver, by those of its mimic joint': r'- (link\.)?coef0\) / ',
    'targets that are rejected as jumps': r"target_jump_policy == 'reject'",
    'position limits less a margin': r'\.lower(\[[^]]+\])? [+-] (\w*margin|\w*ROUNDING)',
    'velocity and acceleration limits with their scale': (
        r'(velocity|acceleration)\S* \* settings\.limits_|settings\.limits_\w+_scale \*'
    ),
    'measured coordinates, completed': r'apply_mimic\(np\.where\(known',
    'contact by design': r'<= margin \+',
    'least change of a barrier': r'gain \* inside|fall / \(gain|_gain \* self\._settings',
    'displacement along a stop': r'steps_to_stop\(size',
    'damping of Levenberg-Marquardt': r'miss \* miss \* miss',
    "J'J and J'r, from a Jacobian in memory": r'line\[j\] \+ value|value \+ value',
    'Cholesky factor in an envelope, in memory': r'factor\[other \+ q\]',
    'Cholesky factor of a dense matrix, row by row': (
        r'value -= (\w+)\[(?:i, )?\w+, (\w+)\] \* \1\[(?:i, )?\w+, \2\]'
    ),
    "L D L' of a small system, in registers": r'inverse\[i\] = one / pivot',
    'active bounds of the variables of a step': r'low == high:',
    'dual active-set method': r'Givens',
    'AT_LIMITS or UNREACHABLE': r'room <= close',
    'saturation of task errors': r'wp\.tanh',
    'next degree of freedom towards the root': r'start\[above \+ 1\]\)? - 1',
    'no barrier gets worse, in optimal control': r'minimum\([^()]*, (self\._)?floor\) - (?!np)',
    'order of joint paths, the furthest and shortest': r'len\(path\), -float',
}


def listed():
    """Return the files of each formula as the page has them."""
    text = (ROOT / 'docs' / 'architecture.md').read_text()
    section = text.split('## One place for each formula')[1].split('\n## ')[0]
    rows = re.findall(r'^\| (?!formula )(.+?) \| (.*?) ?\| (.*?) ?\|$', section, re.MULTILINE)
    return {name: set(re.findall(r'`(.+?)`', ' '.join(cells))) for name, *cells in rows}


def test_every_formula_of_the_page_has_a_mark():
    assert set(listed()) == set(MARKS)


@pytest.mark.parametrize('formula', MARKS)
def test_a_formula_stands_in_its_places_alone(formula):
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / 'ros_ik').rglob('*.py')
        if re.search(MARKS[formula], path.read_text())
    }
    assert found == listed()[formula]


@no_type_check
def on_device(name, given, scalar, result):
    """Apply a function of rotations to each value in a kernel."""
    function = getattr(spatial_functions(scalar), name)

    @wp.kernel(enable_backward=False, module='unique')
    def apply(values: wp.array(dtype=given.dtype), out: wp.array(dtype=result)):
        k = wp.tid()
        out[k] = function(values[k])

    out = wp.zeros(len(given), dtype=result, device='cpu')
    wp.launch(apply, len(given), [given], [out], device='cpu')
    return out.numpy()


def test_rotation_vectors_of_host_and_device_agree():
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(200, 3))
    turns *= (np.pi * rng.uniform(0.0, 0.999, 200) / np.linalg.norm(turns, axis=1))[:, None]
    turns[:3] = 0.0, 1e-14, 1e-9
    types = spatial_functions(wp.float64)
    quaternions = np.array([rotation_exp(turn) for turn in turns])
    given = wp.array(turns, dtype=types.vec3, device='cpu')
    found = on_device('rotation_exp', given, wp.float64, types.quat)
    np.testing.assert_allclose(found, quaternions, atol=1e-15)
    signs = rng.choice([-1.0, 1.0], size=(200, 1))
    given = wp.array(quaternions * signs, dtype=types.quat, device='cpu')
    logs = on_device('rotation_log', given, wp.float64, types.vec3)
    np.testing.assert_allclose(logs, [rotation_log(q) for q in quaternions * signs], atol=1e-14)
    np.testing.assert_allclose(logs, turns, atol=1e-13)


def test_rotations_between_orientations_of_host_and_device_agree():
    rng = np.random.default_rng(4)
    first, second = (pose_rows(rng.normal(size=(100, 7))) for _ in range(2))
    types = spatial_functions(wp.float64)
    difference = types.rotation_difference

    @wp.kernel(enable_backward=False, module='unique')
    def apply(
        targets: wp.array(dtype=types.quat),
        rotations: wp.array(dtype=types.quat),
        out: wp.array(dtype=types.vec3),
    ):
        k = wp.tid()
        out[k] = difference(targets[k], rotations[k])

    given = [wp.array(poses[:, 3:], dtype=types.quat, device='cpu') for poses in (first, second)]
    out = wp.zeros(100, dtype=types.vec3, device='cpu')
    wp.launch(apply, 100, given, [out], device='cpu')
    expected = [float_difference(*pair)[1] for pair in zip(first, second, strict=True)]
    np.testing.assert_allclose(out.numpy(), expected, atol=1e-14)


def test_products_of_many_poses_and_of_one_agree():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 100, 7))
    for poses in (first, second):
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    pairs = list(zip(first, second, strict=True))
    expected = [pose_multiply(a, b) for a, b in pairs]
    np.testing.assert_allclose(multiply(first, second), expected, atol=1e-14)
    expected = [quat_rotate(a[3:], b[:3]) for a, b in pairs]
    np.testing.assert_allclose(rotate(first[:, 3:], second[:, :3]), expected, atol=1e-14)


def test_valid_poses_on_host_and_device_are_the_same():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(400, 7))
    rows[:, 3:] /= np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)
    rows[:, 3:] *= rng.uniform(0.98, 1.02, (400, 1))
    rows[:20, :3] *= 10.0 ** rng.uniform(7.0, 11.0, (20, 1))
    rows[20:40] *= rng.choice([1.0, np.nan, np.inf], (20, 7))
    out = wp.zeros(len(rows), dtype=wp.transformd, device='cpu')
    given = wp.array(rows, dtype=wp.float64, device='cpu')
    wp.launch(read_poses_kernel(wp.float64), len(rows), [given], [out], device='cpu')
    expected = pose_rows(rows)
    counted = np.isfinite(expected).all(axis=1)
    assert 100 < counted.sum() < 300
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-15)


def test_the_report_requires_no_less_of_a_barrier_than_the_step_does():
    rng = np.random.default_rng(3)
    h, slope, margin, gain, dt = rng.normal(size=300), rng.uniform(0.0, 2.0, 300), 0.1, 5.0, 0.01
    row_bound = row_bound_functions(wp.float64).row_bound

    @no_type_check
    @wp.kernel(enable_backward=False, module='unique')
    def bounds(
        h: wp.array(dtype=wp.float64),
        slope: wp.array(dtype=wp.float64),
        recovery: wp.float64,
        out: wp.array(dtype=wp.float64),
    ):
        k = wp.tid()
        inside = h[k] - wp.float64(0.1)
        out[k] = row_bound(inside, slope[k], wp.float64(5.0), recovery, wp.float64(0.01))

    def in_step(recovery):
        out = wp.zeros(len(h), dtype=wp.float64, device='cpu')
        given = [wp.array(values, dtype=wp.float64, device='cpu') for values in (h, slope)]
        wp.launch(bounds, len(h), [*given, recovery], [out], device='cpu')
        return out.numpy()

    rows = SimpleNamespace(_margin=margin, _gain=gain, _settings=SimpleNamespace(period=dt))
    found = BarrierRows.least_change(rows, h)
    np.testing.assert_allclose(found, in_step(np.inf), rtol=1e-14)
    required = in_step(0.1)
    assert np.all(found >= required - 1e-15) and np.any(found > 2.0 * required)


@pytest.mark.parametrize('rows', [(0, 1, 2), (0, 1, 2, 3, 4, 5)])
def test_slopes_of_manipulability_of_host_and_objective_agree(rows):
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = model.random_joint_q(10, np.random.default_rng(2))
    threshold = 100.0
    objective = IKObjectiveManipulability(link, threshold, axes=rows)
    lack = rig.residuals(objective, model, joint_q)[:, 0]
    slopes = rig.analytic(objective, model, joint_q)[:, 0]
    jacobian = np.zeros((10, 6, model.joint_dof_count))
    eval_jacobian(model, joint_q, link, jacobian)
    for k, J in enumerate(jacobian):
        moves = np.flatnonzero(np.any(J != 0.0, axis=0))
        found = manipulability_slope(J[:3, moves].T, J[3:, moves].T, np.isin(np.arange(6), rows))
        # r = 1 - m / m_min, so that d log m = dr / (r - 1).
        np.testing.assert_allclose(found, slopes[k, moves] / (lack[k] - 1.0), rtol=1e-4, atol=1e-4)

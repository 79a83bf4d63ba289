# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arms made of directions and points of their axes; six revolute joints of every structure."""

import numpy as np
from scipy.spatial.transform import Rotation

from ros_ik.model import Model

# Roll, pitch and yaw of the tool in the last link [rad].
TOOL_TURN = (0.3, -0.2, 0.1)

# Conditions of each structure: ('meet', joints) and ('parallel', joints), counted from 0.
STRUCTURES = {
    'wrist': [('meet', (3, 4, 5))],
    'wrist, 2 parallel 3': [('meet', (3, 4, 5)), ('parallel', (1, 2))],
    'wrist, 1 parallel 2': [('meet', (3, 4, 5)), ('parallel', (0, 1))],
    'wrist, 1 meets 2': [('meet', (3, 4, 5)), ('meet', (0, 1))],
    'wrist, 2 meets 3': [('meet', (3, 4, 5)), ('meet', (1, 2))],
    'wrist, 1 meets 2 parallel 3': [
        ('meet', (3, 4, 5)), ('meet', (0, 1)), ('parallel', (1, 2)),
    ],
    'shoulder': [('meet', (0, 1, 2))],
    'shoulder, 4 parallel 5': [('meet', (0, 1, 2)), ('parallel', (3, 4))],
    '2, 3, 4 meet': [('meet', (1, 2, 3))],
    '3, 4, 5 meet': [('meet', (2, 3, 4))],
    '2, 3, 4 parallel': [('parallel', (1, 2, 3))],
    '2, 3, 4 parallel, 5 meets 6': [('parallel', (1, 2, 3)), ('meet', (4, 5))],
    '2, 3, 4 parallel, 5 parallel 6': [('parallel', (1, 2, 3)), ('parallel', (4, 5))],
    '3, 4, 5 parallel': [('parallel', (2, 3, 4))],
    '3, 4, 5 parallel, 1 meets 2': [('parallel', (2, 3, 4)), ('meet', (0, 1))],
    '1, 2, 3 parallel': [('parallel', (0, 1, 2))],
    '1, 2, 3 parallel, 5 meets 6': [('parallel', (0, 1, 2)), ('meet', (4, 5))],
    '1, 2, 3 parallel, 4 meets 5': [('parallel', (0, 1, 2)), ('meet', (3, 4))],
    '4, 5, 6 parallel': [('parallel', (3, 4, 5))],
}  # fmt: skip
# Each has a kernel of its own. In these each kind of equations, each order in which they are
# solved and each way of numbering the axes comes at least once.
SOME_STRUCTURES = [
    'wrist, 2 parallel 3', 'wrist, 1 meets 2', '2, 3, 4 meet', '2, 3, 4 parallel, 5 meets 6',
    '2, 3, 4 parallel, 5 parallel 6', '1, 2, 3 parallel, 5 meets 6', '4, 5, 6 parallel',
]  # fmt: skip


def random_axes(structure, rng, right_angles=False):
    """Return directions and points [6, 3] of axes and the tool [3] of a random arm.

    Args:
        structure: A key of STRUCTURES.
        rng: Random generator.
        right_angles: True if axes point along x, y or z, as those of real arms do.
    """
    while True:
        h = rng.normal(size=(6, 3))
        if right_angles:
            h = np.eye(3)[rng.integers(3, size=6)]
        h /= np.linalg.norm(h, axis=1, keepdims=True)
        p = np.cumsum(rng.uniform(-0.5, 0.5, size=(6, 3)), axis=0)
        for kind, joints in STRUCTURES[structure]:
            group = list(joints)
            if kind == 'meet':
                p[group] = p[group[-1]]
            else:
                h[group] = h[group[0]] * rng.choice([-1.0, 1.0], size=(len(group), 1))
        if _regular(structure, h):
            return h, p, p[5] + rng.uniform(-0.3, 0.3, size=3)


def _regular(structure, h):
    """Return True if neighbours are parallel only where the structure says so."""
    parallel = {
        pair
        for kind, joints in STRUCTURES[structure]
        if kind == 'parallel'
        for pair in zip(joints, joints[1:], strict=False)
    }
    return all(
        (k, k + 1) in parallel or np.linalg.norm(np.cross(h[k], h[k + 1])) > 0.2 for k in range(5)
    )


def arm(h, p, tool, limits=None, base=(0.0, 0.0, 0.0), scale=1.0, slides=()):
    """Return the model of :func:`arm_urdf` on the CPU."""
    return Model.from_urdf(arm_urdf(h, p, tool, limits, base, scale, slides), device='cpu')


def arm_urdf(h, p, tool, limits=None, base=(0.0, 0.0, 0.0), scale=1.0, slides=()):
    """Return the URDF of an arm with link 'tool'; turning joints have no limits unless given.

    Args:
        h: Directions of the axes with every joint at zero, shape [n, 3].
        p: Points on them [m], shape [n, 3].
        tool: Position of the tool [m], [3].
        limits: Lower and upper limits [rad or m], each [n]; slides without any move by 2 m to
            either side.
        base: Roll, pitch and yaw of the base [rad].
        scale: Factor on every length, not on limits.
        slides: Joints that slide, counted from 0.
    """
    parts = ['<robot name="arm"><link name="world"/><link name="l0"/>']
    roll, pitch, yaw = (repr(float(angle)) for angle in base)
    parts.append(
        f'<joint name="base" type="fixed"><origin rpy="{roll} {pitch} {yaw}"/>'
        '<parent link="world"/><child link="l0"/></joint>'
    )
    before = np.zeros(3)
    for k, (axis, point) in enumerate(zip(h, p, strict=True)):
        kind, limit = 'continuous', ''
        if limits is not None or k in slides:
            kind = 'prismatic' if k in slides else 'revolute'
            low, high = (repr(float(side[k])) for side in limits or ([-2.0] * 6, [2.0] * 6))
            limit = f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'
        parts.append(
            f'<link name="l{k + 1}"/><joint name="j{k + 1}" type="{kind}">'
            f'<origin xyz="{_numbers(scale * (point - before))}"/>'
            f'<axis xyz="{_numbers(axis)}"/>{limit}'
            f'<parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        )
        before = point
    parts.append(
        '<link name="tool"/><joint name="tip" type="fixed">'
        f'<origin xyz="{_numbers(scale * (tool - before))}" rpy="{_numbers(TOOL_TURN)}"/>'
        f'<parent link="l{len(h)}"/><child link="tool"/></joint></robot>'
    )
    return ''.join(parts)


def tool_poses(h, p, tool, q):
    """Return poses [n, 7] of the tool by a product of exponentials in NumPy, q [n, m]."""
    return _poses(_motions(h, p, q), tool)


def _poses(motions, tool):
    R, t, _, _ = motions
    turn = Rotation.from_euler('xyz', TOOL_TURN).as_matrix()
    position = R @ tool + t
    return np.hstack([position, Rotation.from_matrix(R @ turn).as_quat()])


def jacobians(h, p, tool, q):
    """Return Jacobians [n, 6, 6] of the tool, linear rows first."""
    return _jacobians(_motions(h, p, q), tool)


def _jacobians(motions, tool):
    R, t, axes, points = motions
    arms = (R @ tool + t)[:, None] - points
    return np.concatenate([np.cross(axes, arms), axes], axis=2).swapaxes(1, 2)


def newton(h, p, tool, pose, starts, iterations=60):
    """Return the configurations that solve a pose, of damped Newton steps from many starts.

    Args:
        h: Directions of the axes, shape [6, 3].
        p: Points on them, shape [6, 3].
        tool: Position of the tool, [3].
        pose: The pose, [7].
        starts: Configurations, shape [n, 6].
        iterations: Steps from each.

    Returns:
        Distinct solutions within half a turn of zero, shape [k, 6].
    """
    return newton_of_poses(h, p, tool, np.array([pose]), np.array([starts]), iterations)[0]


def newton_of_poses(h, p, tool, poses, starts, iterations=60):
    """Return the solutions of :func:`newton` for each pose [m, 7], from its own starts [m, n, 6].

    Several poses take much less time together.
    """
    count = starts.shape[1]
    q, poses = starts.reshape(-1, 6).copy(), np.repeat(poses, count, axis=0)
    goals, moving = Rotation.from_quat(poses[:, 3:]), np.arange(len(q))
    for _ in range(iterations):
        motions = _motions(h, p, q[moving])
        error = _errors(motions, tool, poses[moving], goals[moving])
        under_way = np.abs(error).max(axis=1) > 1e-13
        moving, error = moving[under_way], error[under_way]
        if not moving.size:
            break
        J = _jacobians([each[under_way] for each in motions], tool)
        damping = 1e-3 * np.sum(error**2, axis=1)[:, None, None] * np.eye(6) + 1e-14 * np.eye(6)
        step = np.linalg.solve(
            J.swapaxes(1, 2) @ J + damping, (J.swapaxes(1, 2) @ error[:, :, None])
        )[:, :, 0]
        length = np.maximum(np.abs(step).max(axis=1), 1e-9)
        q[moving] += step * np.minimum(1.0, 0.5 / length)[:, None]
    error = np.abs(_errors(_motions(h, p, q), tool, poses, goals)).max(axis=1)
    return [
        distinct(wrapped(part[is_solved]))
        for part, is_solved in zip(
            q.reshape(-1, count, 6), error.reshape(-1, count) < 1e-9, strict=True
        )
    ]


def distinct(q, separation=1e-4):
    """Return the rows of q [n, 6] that differ by more than whole turns."""
    found = np.zeros((0, 6))
    for row in q:
        if not has(found, row, separation):
            found = np.vstack([found, row])
    return found


def has(found, q, separation=1e-4):
    """Return True if a configuration is among others [n, 6], up to whole turns."""
    return bool(np.any(np.abs(wrapped(found - q)).max(axis=1, initial=0.0) < separation))


def wrapped(angle):
    """Return angles within half a turn of zero."""
    return angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))


def _errors(motions, tool, poses, goals):
    """Return errors [n, 6] of the tool, position [m] and rotation vector [rad] in the world."""
    reached = _poses(motions, tool)
    turn = goals * Rotation.from_quat(reached[:, 3:]).inv()
    return np.hstack([poses[:, :3] - reached[:, :3], turn.as_rotvec()])


def _motions(h, p, q):
    """Return R [n, 3, 3], t [n, 3] of E_1 .. E_m, axes and points of all joints, [n, m, 3]."""
    n, m = len(q), len(h)
    R, t = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
    axes, points = np.zeros((2, n, m, 3))
    turns = Rotation.from_rotvec((q[:, :, None] * h).reshape(-1, 3)).as_matrix()
    for k in range(m):
        axes[:, k], points[:, k] = R @ h[k], R @ p[k] + t
        turn = turns[k::m]
        t = t + np.einsum('nij,nj->ni', R, p[k] - turn @ p[k])
        R = R @ turn
    return R, t, axes, points


def _numbers(vector):
    return ' '.join(repr(float(value)) for value in vector)

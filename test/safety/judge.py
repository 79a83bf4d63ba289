# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Judge of a rest: a search for a local motion that comes nearer to the targets.

Three questions, each answered without the solver or its barriers:

1. To first order: a quadratic program (quadprog) over a step of at most REACH_LINEAR in which
   position limits hold and no distance that is at its margin shrinks. By what part does the
   error fall?
2. For real: such programs one after the other, each step looked at by forward kinematics and
   exact distances at three places, and taken only where limits, distances and the box hold and
   the sum that the robot minimises falls, within REACH of the rest.
3. By brute force: random directions, each tried straight on at several lengths; and random walks
   along the constraints on which that sum may rise by RISE before question 2 is asked again.
"""

import dataclasses

import numpy as np
import quadprog
from safety.contacts import near_contacts
from safety.drive import DISTANCE
from safety.drive import GAIN
from safety.drive import MARGIN
from safety.drive import POSTURE_WEIGHT
from safety.geometry import rotation_error

# How far a joint may go from the rest, and in the first-order program [rad].
REACH, REACH_LINEAR = 0.2, 0.02
# Permitted loss of a path below the margins [m]: steps along a curved boundary leave it a little.
SLACK = 5e-4
# A distance counts as at its margin when it is nearer than this [m], a joint at its limit [rad].
TOUCH = 1e-3
# Least relative and absolute [m, rad] decrease of the error: a robot at rest may creep by less.
MIN_PART, MIN_LENGTH = 0.02, 1e-3
# Part by which the sum may rise on a random walk.
RISE = 0.02


@dataclasses.dataclass
class Judgement:
    """Findings at a rest; errors are lengths of all position and rotation errors together.

    Attributes:
        error: At the rest.
        promised: Part by which it falls in the first-order program.
        descent: Error at the end of the best path of question 2.
        directions: Least error on any straight line that falls all along, of question 3.
        walks: Least error after random walks.
        holds: What holds the robot: 'limit', 'self', 'obstacle', 'box'; none where the targets
            and the posture balance.
    """

    error: float
    promised: float
    descent: float
    directions: float
    walks: float
    holds: frozenset

    def frees(self, error):
        """Return True if an error is lower than that of the rest by enough to count."""
        fall = self.error - error
        return bool(fall > MIN_LENGTH and fall > MIN_PART * self.error)

    @property
    def is_stuck(self):
        """True if a local motion lowers the error at every step."""
        return self.frees(min(self.descent, self.directions))

    @property
    def is_freed_by_walks(self):
        """True if only a detour on which the error rises first lowers it."""
        return not self.is_stuck and self.frees(self.walks)


class RestJudge:
    """Judges rests of a drive's robot."""

    def __init__(self, drive, seed=0):
        self.drive, self.rng = drive, np.random.default_rng(seed)

    def judge(self, joint_q, wanted, *, directions=2000, walks=3):
        """Return the judgement of a rest at one configuration with targets [tips, 7]."""
        promised, holds = self._first_order(joint_q, wanted)
        keep = self._keep(joint_q)
        after = self._descend(joint_q, wanted, joint_q, keep)
        return Judgement(
            self.error(joint_q[None], wanted)[0],
            promised,
            self.error(after[None], wanted)[0],
            self._straight(joint_q, wanted, keep, directions),
            self._walk(joint_q, wanted, keep, walks),
            holds,
        )

    def error(self, joint_q, wanted):
        """Return the length of the targets' errors [m and rad], [n]."""
        return np.linalg.norm(self._errors(joint_q, wanted), axis=1)

    def cost(self, joint_q, wanted):
        """Return the sum of squares that comes to rest where the step does, [n]."""
        return (self._residuals(joint_q, wanted) ** 2).sum(axis=1)

    def _errors(self, joint_q, wanted):
        poses = self.drive.poses(joint_q)[:, self.drive.tips]
        position = wanted[:, :3] - poses[..., :3]
        goal = np.broadcast_to(wanted[:, 3:], poses[..., 3:].shape)
        rotation = rotation_error(goal, poses[..., 3:])
        return np.concatenate([position, rotation], axis=-1).reshape(len(joint_q), -1)

    def _residuals(self, joint_q, wanted):
        """Return the terms squared; a step of gains g and 1 rests at g J_r' r + J_p' p = 0.
        """
        posture = (self.drive.base - joint_q)[:, self.drive.coords]
        errors = self._errors(joint_q, wanted)
        return np.concatenate([np.sqrt(GAIN) * errors, POSTURE_WEIGHT * posture], axis=1)

    def _around(self, joint_q, spacing=1e-6):
        """Return configurations on both sides of one along each joint, and the divisors."""
        coords = self.drive.coords
        count = len(coords)
        near = np.tile(joint_q, (2 * count, 1))
        near[np.arange(count), coords] += spacing
        near[count + np.arange(count), coords] -= spacing
        return near, 2.0 * spacing

    def _slope(self, values, width):
        """Return the derivative of values [2 count, k] by the joints, [k, count]."""
        count = len(values) // 2
        return ((values[:count] - values[count:]) / width).T

    def rows(self, joint_q, distance):
        """Return distances below a threshold that must stay positive, their slopes and kinds."""
        drive = self.drive
        contacts = near_contacts(drive, joint_q, DISTANCE + MARGIN + distance)
        near, width = self._around(joint_q)
        poses = drive.poses(np.concatenate([near, joint_q[None]]))
        tip = poses[:, drive.tips[0], :3]
        faces = np.concatenate([tip - drive.box.p_min, drive.box.p_max - tip], axis=1) - MARGIN
        values = np.concatenate([contacts.distances(poses) - DISTANCE - MARGIN, faces], axis=1)
        kind = np.concatenate([contacts.kind, np.full(6, 'box')])
        some = values[-1] < distance
        return values[-1, some], self._slope(values[:-1, some], width), kind[some]

    def _room(self, joint_q):
        """Return distances of each joint to its limits, downwards (negative) and upwards."""
        q = joint_q[self.drive.coords]
        return np.minimum(self.drive.low - q, 0.0), np.maximum(self.drive.high - q, 0.0)

    def _first_order(self, joint_q, wanted):
        """Return the relative decrease of the linear error, and the constraints that hold."""
        residual = self._residuals(joint_q[None], wanted)[0]
        near, width = self._around(joint_q)
        jacobian = self._slope(self._residuals(near, wanted), width)
        gradient = jacobian.T @ residual
        _, slope, kind = self.rows(joint_q, TOUCH)
        low, high = self._room(joint_q)
        still = np.zeros(len(kind))
        box = np.maximum(low, -REACH_LINEAR), np.minimum(high, REACH_LINEAR)
        step, _ = solve_qp(jacobian.T @ jacobian, gradient, *box, slope, still)
        of_targets = slice(0, 6 * len(self.drive.tips))
        left = np.linalg.norm((residual + jacobian @ step)[of_targets])
        # Along the steepest descent, with active constraints only: multipliers tell which ones
        # hold.
        box = np.where(low > -TOUCH, 0.0, -np.inf), np.where(high < TOUCH, 0.0, np.inf)
        _, force = solve_qp(np.eye(len(gradient)), gradient, *box, slope, still)
        count = len(gradient)
        kinds = np.concatenate([np.full(2 * count, 'limit', dtype='U8'), kind])
        holds = frozenset(kinds[force > 0.01 * np.abs(gradient).max()].tolist())
        return 1.0 - left / np.linalg.norm(residual[of_targets]), holds

    def _keep(self, joint_q):
        """Return the bounds of a path: margins less a little, or the distances at rest."""
        poses = self.drive.poses(joint_q[None])
        apart, inside = self.drive.clearance(poses)[0], self.drive.outside(poses)[0]
        return min(DISTANCE + MARGIN - SLACK, apart), min(MARGIN - SLACK, inside)

    def _holds(self, joint_q, keep):
        """Return True if limits, distances and the box hold, [n]."""
        drive, poses = self.drive, self.drive.poses(joint_q)
        q = joint_q[:, drive.coords]
        good = np.all((q <= drive.high + 1e-9) & (q >= drive.low - 1e-9), axis=1)
        good &= drive.outside(poses) >= keep[1]
        if good.any():
            good[good] = drive.clearance(poses[good]) >= keep[0]
        return good

    def _along(self, joint_q, steps, parts):
        """Return configurations at parts of the way of each step, [steps, parts, coords]."""
        path = np.tile(joint_q, (len(steps), len(parts), 1))
        path[..., self.drive.coords] += np.multiply.outer(parts, steps).swapaxes(0, 1)
        return path

    def _descend(self, start, wanted, center, keep, rounds=40):
        """Return the end of a path on which the cost falls at each step."""
        joint_q, cost = start, self.cost(start[None], wanted)[0]
        radius = 0.02
        for _ in range(rounds):
            near, width = self._around(joint_q)
            jacobian = self._slope(self._residuals(near, wanted), width)
            gradient = jacobian.T @ self._residuals(joint_q[None], wanted)[0]
            low, high = self._room(joint_q)
            off = (joint_q - center)[self.drive.coords]
            low = np.minimum(np.maximum.reduce([low, -REACH - off, 0 * off - radius]), 0.0)
            high = np.maximum(np.minimum.reduce([high, REACH - off, 0 * off + radius]), 0.0)
            value, slope, _ = self.rows(joint_q, 0.05)
            step, _ = solve_qp(jacobian.T @ jacobian, gradient, low, high, slope, -value)
            path = self._along(joint_q, step[None], np.array([1.0, 2.0, 3.0]) / 3.0)[0]
            fall = cost - self.cost(path[-1:], wanted)[0]
            if fall > 0.0 and self._holds(path, keep).all():
                joint_q, cost, radius = path[-1], cost - fall, min(1.5 * radius, 0.03)
                if fall < 1e-5 * cost:
                    break
            else:
                radius *= 0.4
                if radius < 2e-4:
                    break
        return joint_q

    def _straight(self, joint_q, wanted, keep, count):
        """Return the least error on random straight lines with a falling cost."""
        best = self.error(joint_q[None], wanted)[0]
        if not count:
            return best
        steps = self.rng.normal(size=(count, len(self.drive.coords)))
        # Sometimes only a part of the joints moves.
        steps *= self.rng.random(steps.shape) < self.rng.uniform(0.2, 1.0, (count, 1))
        steps *= REACH / np.maximum(np.abs(steps).max(axis=1, keepdims=True), 1e-12)
        parts = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])
        cost = np.full(count, self.cost(joint_q[None], wanted)[0])
        alive = np.arange(count)
        for part in parts:
            path = self._along(joint_q, steps[alive], np.array([part]))[:, 0]
            now = self.cost(path, wanted)
            good = now < cost[alive]
            good[good] = self._holds(path[good], keep)
            alive = alive[good]
            if not len(alive):
                break
            cost[alive] = now[good]
            best = min(best, self.error(path[good], wanted).min())
        return best

    def _walk(self, joint_q, wanted, keep, count, stride=0.03, strides=5):
        """Return the least error after random walks along the constraints."""
        best = self.error(joint_q[None], wanted)[0]
        most = (1.0 + RISE) * self.cost(joint_q[None], wanted)[0]
        for _ in range(count):
            here = joint_q
            way = self.rng.normal(size=len(self.drive.coords))
            way *= stride / np.abs(way).max()
            for _ in range(strides):
                low, high = self._room(here)
                low, high = np.maximum(low, -stride), np.minimum(high, stride)
                value, slope, _ = self.rows(here, 0.05)
                step, _ = solve_qp(np.eye(len(way)), -way, low, high, slope, -value)
                path = self._along(here, step[None], np.array([1.0, 2.0, 3.0]) / 3.0)[0]
                if (self.cost(path, wanted) > most).any() or not self._holds(path, keep).all():
                    break
                here = path[-1]
            if here is not joint_q:
                after = self._descend(here, wanted, joint_q, keep)
                best = min(best, self.error(after[None], wanted)[0])
        return best


def solve_qp(hessian, gradient, low, high, slope, least):
    """Minimise 1/2 x' H x + g' x, low <= x <= high, slope x >= least.

    Rows that ask for more than nothing are asked for half of it, and where that cannot be had
    for not less than nothing.

    Returns:
        x, and the multipliers of low, high and the rows.
    """
    count = len(gradient)
    rows = np.concatenate([np.eye(count), -np.eye(count), slope])
    finite = np.concatenate([np.isfinite(low), np.isfinite(high), np.ones(len(least), dtype=bool)])
    hessian = hessian + 1e-6 * np.eye(count)
    force = np.zeros(len(rows))
    if not finite.any():
        return np.linalg.solve(hessian, -gradient), force
    for pull in (0.5, 0.0):
        bound = np.concatenate([low, -high, np.where(least > 0.0, pull * least, least)])
        try:
            found = quadprog.solve_qp(hessian, -gradient, rows[finite].T, bound[finite])
        except ValueError:
            continue
        force[finite] = found[4]
        return found[0], force
    return np.zeros(count), force

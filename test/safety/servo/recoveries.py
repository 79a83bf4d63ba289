# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Recoveries: robots that start 5 mm beyond a margin, and how smoothly they come back.

    tools/run env PYTHONPATH=test:. python -m safety.servo.recoveries --robot ur5 --count 40

starts frames outside a box, with ``--obstacle`` robots beside a ball, and compares each motion
with the same one far from them. Distances are those of Pinocchio and coal, and the commands tell
how often accelerations change their sign.
"""

import argparse
import dataclasses

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from support.rigs.servo_rig import Rig
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import coal_distance
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import pin
from support.robots.collision_oracle import robot_with_meshes
from support.robots.collision_oracle import urdf_path
from support.robots.robots import PinocchioRobot

from ros_ik.servo import Obstacle

# How far outside the box recoveries start, and how far inside motions that meet no face [m].
OUTSIDE, FAR = 0.005, 5.0
# The ball that robots start beside, and its margin [m].
RADIUS, MARGIN = 0.1, 0.02
# Accelerations that have a sign, as a part of the limit.
FELT = 0.01
# Changes of sign of an acceleration a joint and second from which on a motion trembles.
MAX_CHANGES = 10.0


@dataclasses.dataclass(frozen=True)
class Case:
    """A robot: its description, its base, the frames of its tasks and where it starts."""

    urdf: str
    base: str
    frames: tuple[str, ...]
    home: dict[str, float]


def _both(left, right, **values):
    return {
        side + joint: sign * value
        for side, signs in ((left, (1.0, 1.0)), (right, (1.0, -1.0)))
        for joint, (value, mirrored) in values.items()
        for sign in (signs[mirrored],)
    }


CASES = {
    'ur5': Case(
        'ur5_robot', 'base_link', ('tool0',),
        {'shoulder_lift_joint': -1.2, 'elbow_joint': 1.6, 'wrist_1_joint': -1.9,
         'wrist_2_joint': -1.57},
    ),
    'panda': Case(
        'panda', 'panda_link0', ('panda_hand_tcp',),
        {'panda_joint2': -0.6, 'panda_joint4': -2.2, 'panda_joint6': 1.6, 'panda_joint7': 0.8},
    ),
    'baxter': Case(
        'baxter', 'base', ('left_gripper', 'right_gripper'),
        _both('left_', 'right_', s0=(0.3, 1), s1=(-0.5, 0), e1=(1.2, 0), w1=(0.8, 0)),
    ),
    'talos': Case(
        'talos_full_v2', 'base_link', ('arm_left_7_link', 'arm_right_7_link'),
        _both('arm_left_', 'arm_right_', **{
            '1_joint': (0.3, 1), '2_joint': (0.5, 1), '4_joint': (-1.4, 0),
        }),
    ),
}  # fmt: skip


class Place:
    """Return the position of a frame in a base, by Pinocchio."""

    def __init__(self, name, base, frame):
        self.robot = PinocchioRobot(urdf_path(name).read_text(), robot_with_meshes(name))
        self.ids = [self.robot.pin.getFrameId(link) for link in (base, frame)]

    def __call__(self, joint_q):
        """Return the position at model coordinates [m], shape [3]."""
        robot = self.robot
        pin.framesForwardKinematics(robot.pin, robot.data, robot.configuration(joint_q))
        base, frame = (robot.data.oMf[k] for k in self.ids)
        return base.actInv(frame).translation


class Gap:
    """Distance between a robot's hulls and a ball in its base."""

    def __init__(self, name, base, centre):
        self.oracle, self.centre = collision_oracle(name), np.asarray(centre)
        self.base = self.oracle.robot.pin.getFrameId(base)
        self.ball = coal.Sphere(RADIUS)

    def __call__(self, joint_q):
        """Return the least distance at model coordinates [m]."""
        oracle, robot = self.oracle, self.oracle.robot
        q = robot.configuration(joint_q)
        pin.framesForwardKinematics(robot.pin, robot.data, q)
        pin.updateGeometryPlacements(robot.pin, robot.data, oracle.geometry, oracle.data)
        base = robot.data.oMf[self.base]
        ball = coal.Transform3s(np.eye(3), base.act(self.centre))
        poses = [coal.Transform3s(pose.rotation, pose.translation) for pose in oracle.data.oMg]
        return min(
            coal_distance(hull, pose, self.ball, ball)[0]
            for hull, pose in zip(oracle.hulls, poses, strict=True)
        )


def _posture(case, rng):
    """Return positions by joint, at random."""
    return {joint: value + rng.uniform(-0.4, 0.4) for joint, value in case.home.items()}


def _rig(case, start, **settings):
    """Return a rig that starts at a posture, with no barriers but those of the settings."""
    given = {
        'frame_tasks': [f'task_{k}' for k in range(len(case.frames))],
        'barriers__self_collision__enabled': False,
        **settings,
    }
    for k, frame in enumerate(case.frames):
        given[f'task_{k}__frame'] = frame
    model = robot_with_meshes(case.urdf)
    return Rig.shared(
        str(urdf_path(case.urdf)), home=start, model=model, reports=False, base_frame=case.base,
        **given,
    )  # fmt: skip


def _go(rig, rng, ticks, value):
    """Return the value at each tick of a motion to a random target."""
    target = rig.moved(rng.uniform(-0.4, 0.4, 3))
    turned = Rotation.from_rotvec(rng.uniform(-0.3, 0.3, 3)) * Rotation.from_quat(target[3:])
    target[3:] = turned.as_quat()
    rig.aim(target)
    values = []
    for _ in range(ticks):
        rig.tick()
        values.append(value(rig.q))
    return np.array(values)


def recovery(name, seed, ticks, outside=OUTSIDE, **settings):
    """Return the distance inside a face at each tick [m], and the rig that went there.

    The first frame starts that far outside a face of a box, and its target is up to 0.4 m and
    0.3 rad away along each axis; ``outside`` below zero starts it inside.
    """
    case = CASES[name]
    rng = np.random.default_rng(seed)
    start, place = _posture(case, rng), Place(case.urdf, case.base, case.frames[0])
    q = robot_with_meshes(case.urdf).neutral_joint_q(positions=start)
    axis, sign = rng.integers(3), rng.choice([-1.0, 1.0])
    face = place(q)[axis] + sign * outside
    corners = [np.full(3, -10.0), np.full(3, 10.0)]
    corners[0 if sign > 0.0 else 1][axis] = face
    rig = _rig(
        case, start, **settings, barriers__world__enabled=False,
        barriers__position__room__frame=case.frames[0],
        barriers__position__room__min=corners[0].tolist(),
        barriers__position__room__max=corners[1].tolist(),
    )  # fmt: skip
    values = _go(rig, rng, ticks, lambda q: sign * (place(q)[axis] - face))
    return values, rig


def recovery_from_ball(name, seed, ticks, outside=OUTSIDE, **settings):
    """Return the distance beyond the margin of a ball at each tick [m], and the rig.

    The ball stands beside the first frame; the target is that of :func:`recovery`. With
    ``outside`` below zero there is no ball, and distances are endless.
    """
    case = CASES[name]
    rng = np.random.default_rng(seed)
    rig = _rig(case, _posture(case, rng), barriers__world__margin=MARGIN, **settings)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    tool = Place(case.urdf, case.base, case.frames[0])(rig.q)

    def beyond(away, joint_q):
        return Gap(case.urdf, case.base, tool + away * direction)(joint_q) - MARGIN

    away = FAR
    if outside > 0.0:
        away = brentq(lambda away: beyond(away, rig.q) + outside, 0.0, 2.0)
        pose = np.array([*(tool + away * direction), 0.0, 0.0, 0.0, 1.0])
        rig.change(obstacles=(Obstacle('ball', 'sphere', (RADIUS,), pose, rig.robot.base_link),))
    return _go(rig, rng, ticks, lambda q: beyond(away, q) if outside > 0.0 else np.inf), rig


def roughness(rig, ticks):
    """Return the most changes of sign of a joint's acceleration [1/s], and RMS jerk [rad/s^3]."""
    velocity = np.vstack([np.zeros((2, len(rig.robot.coords))), rig.speeds()[-ticks:]])
    acceleration = np.diff(velocity, axis=0) / rig.dt
    felt = np.abs(acceleration) > FELT * rig.robot.acceleration[rig.robot.group.variable_dof]
    changes = [
        np.count_nonzero(np.diff(np.sign(values[has_sign])))
        for values, has_sign in zip(acceleration.T, felt.T, strict=True)
    ]
    jerk = np.diff(acceleration, axis=0) / rig.dt
    return max(changes) / (ticks * rig.dt), np.sqrt((jerk**2).mean())


def compare(name, seeds, ticks, outside=OUTSIDE, recover=recovery, **settings):
    """Compare what ``recover`` does with the same motions far away.

    Returns:
        Roughness of each and of the same far away, [n, 2, 2]; ticks to get out, [n]; the least
        change of the distance in a tick until then [m], [n].
    """
    rough, out, back = [], [], []
    for seed in seeds:
        values, rig = recover(name, seed, ticks, outside, **settings)
        first = int(np.argmax(values >= 0.0)) if values.max() >= 0.0 else ticks
        out.append(first)
        back.append(np.diff(values[: first + 1]).min(initial=0.0))
        other = recover(name, seed, ticks, -FAR, **settings)[1]
        rough.append([roughness(rig, ticks), roughness(other, ticks)])
    return np.array(rough), np.array(out), np.array(back)


def main():
    """Compare as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', nargs='*', default=sorted(CASES))
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--first', type=int, default=1)
    parser.add_argument('--ticks', type=int, default=80)
    parser.add_argument('--rate', type=float, default=100.0)
    parser.add_argument('--outside', type=float, default=OUTSIDE)
    parser.add_argument('--obstacle', action='store_true')
    parser.add_argument('--each', action='store_true')
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.count)
    for name in given.robot:
        rough, out, back = compare(
            name, seeds, given.ticks, given.outside,
            recovery_from_ball if given.obstacle else recovery, control_rate=given.rate,
        )  # fmt: skip
        changes, jerk = rough[..., 0], rough[..., 1]
        if given.each:
            for seed, row, ticks in zip(seeds, rough, out, strict=True):
                print(seed, row.round(1).tolist(), ticks)
        share = (changes > MAX_CHANGES).mean(axis=0)
        print(f'{name}: trembling {share[0]:.0%}, far {share[1]:.0%}; most changes '
              f'{changes[:, 0].max():.0f}/s, far {changes[:, 1].max():.0f}/s; median RMS jerk '
              f'{np.median(jerk[:, 0]):.0f}, far {np.median(jerk[:, 1]):.0f}; median ratio '
              f'{np.median(jerk[:, 0] / jerk[:, 1]):.2f}, largest {jerk[:, 0].max():.0f}; '
              f'out after {np.median(out):.0f} ticks, at most {out.max()}; '
              f'back {back.min() * 1e3:.6f} mm', flush=True)  # fmt: skip


if __name__ == '__main__':
    main()

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions of a robot with mass, each with its figures.

    tools/run env PYTHONPATH=test:. python -m support.motions.mass_scenarios

prints the table of docs/motion_quality.md.
"""

import math

import numpy as np

from examples.library.simulated_robot.loop import eight
from examples.library.simulated_robot.loop import ServoLoop
from ros_ik.demo.controller.trajectory_rules import NANOSECONDS
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_rules import TrajectoryPoint

PAYLOAD = 3.0
SOFT = 10.0  # Hz, bandwidth of drives that sag


def shifted(pose, x=0.0, y=0.0, z=0.0):
    """Return a pose displaced [m]."""
    return pose + [x, y, z, 0.0, 0.0, 0.0, 0.0]


def begun(name, rate, **settings):
    """Return a loop whose robot has settled, and the position of its tool."""
    loop = ServoLoop(name, rate, **settings)
    loop.run(0.2)
    return loop, loop.frame()


def ahead(loop, start, axis=1):
    """Return the displacement of the tool from a position along an axis at each step [m]."""
    return np.array(loop.record.frame)[:, axis] - start[axis]


def now(loop):
    """Return the time of the record [s]."""
    return loop.record.time[-1]


def follow(name, rate, **settings):
    """Follow a figure of eight; return distances to the target [mm] and peaks."""
    loop, home = begun(name, rate, **settings)
    begin = now(loop)
    loop.run(4.0, lambda time: shifted(home, *eight(time)))
    away = np.array(loop.record.frame)[:, :3] - np.array(loop.record.target)[:, :3]
    away = 1e3 * np.linalg.norm(away[round(1e3 * (begin + 1.0)) :], axis=1)
    return away.mean(), away.max(), loop.peaks(begin)


def step(name, rate, **settings):
    """Jump 0.1 m aside; return the overshoot of the tool and its final error [mm]."""
    loop, home = begun(name, rate, **settings)
    loop.run(1.5, lambda time: shifted(home, y=0.1))
    way = 1e3 * (ahead(loop, home) - 0.1)
    return way.max(), way[-1]


def halt(name, rate, **settings):
    """Pause at 0.25 m/s; return the stopping distance of the tool [mm] and its time [s]."""
    loop, home = begun(name, rate, **settings)
    loop.run(0.8, lambda time: shifted(home, y=0.25 * time))
    begin = len(loop.record.time)
    loop.change(paused=True)
    loop.run(0.6)
    way = 1e3 * (ahead(loop, home)[begin:] - ahead(loop, home)[begin])
    return way.max(), 1e-3 * np.flatnonzero(np.abs(way - way[-1]) > 0.5)[-1]


def wall(name, rate, **settings):
    """Run against a wall 0.15 m aside at 0.5 m/s; return the least distance of the tool [mm]."""
    free = ServoLoop(name, rate)
    frame, tip = free.frame(), free._tip
    high = [float(frame[0] + 2.0), float(frame[1] + 0.15), float(frame[2] + 2.0)]
    loop, home = begun(
        name, rate, barriers__position__wall__frame=tip, barriers__position__wall__max=high,
        barriers__position__wall__min=[-3.0, -3.0, -3.0], **settings,
    )  # fmt: skip
    loop.run(1.5, lambda time: shifted(home, y=0.4))
    return 1e3 * (0.15 - ahead(loop, home).max())


def bursts(name, rate, count=20, **settings):
    """Jog to and fro until velocities are stale; return the sag of the tool [mm], and peaks."""
    loop, home = begun(name, rate, bandwidth=SOFT, payload=PAYLOAD, **settings)
    for k in range(count):
        loop.run(0.2, twist=(0.0, 0.05 if k % 2 else -0.05, 0.0))
        loop.change(twists=(None,))
        loop.run(0.55)
    return 1e3 * (loop.frame() - home)[2], loop.peaks()


def resume(name, rate, **settings):
    """Resume as soon as a pause has stopped the command; return the peaks from then on."""
    loop, home = begun(name, rate, bandwidth=SOFT, payload=PAYLOAD, **settings)
    loop.run(0.6, lambda time: shifted(home, y=0.1 * time))
    loop.change(paused=True)
    loop.run(0.02)
    while not loop.outputs[-1].still:
        loop.run(loop.period)
    begin = now(loop)
    loop.change(paused=False)
    loop.run(0.6, lambda time: shifted(home, y=0.1))
    return loop.peaks(begin)


def activate_beside(name, rate, sag=0.05, **settings):
    """Activate while encoders differ from the positions of the drives; return the peaks."""
    loop, home = begun(name, rate, active=False, **settings)
    loop.robot.sag[:] = sag
    loop.run(0.2)
    begin = now(loop)
    loop.change(active=True)
    loop.run(0.4, lambda time: shifted(home, z=0.02))
    return loop.peaks(begin)


def activate_moving(name, rate, speed=0.3, **settings):
    """Activate while another trajectory turns the first joint, and continue in that direction.

    Returns:
        The least speed of that joint [rad/s] until it is near the end, and the peaks.
    """
    loop, home = begun(name, rate, active=False, **settings)
    names, begin = loop.robot.joints, loop.robot.positions
    far = begin + 3.0 * speed * (np.arange(len(names)) == 0)
    loop.robot.send(Trajectory(names, (TrajectoryPoint(3 * NANOSECONDS, far),)))
    loop.run(0.8)
    since = now(loop)
    loop.change(active=True)
    turned = loop.robot.positions[0] - begin[0] + 0.5
    cos, sin = math.cos(turned), math.sin(turned)
    x, y = home[0] * cos - home[1] * sin, home[0] * sin + home[1] * cos
    turn = np.array([0.0, 0.0, math.sin(0.5 * turned), math.cos(0.5 * turned)])
    a, b = turn[2:]
    qx, qy, qz, qw = home[3:]
    # The turn about z times the orientation.
    pose = np.array([x, y, home[2], b * qx - a * qy, b * qy + a * qx, b * qz + a * qw,
                     b * qw - a * qz])  # fmt: skip
    loop.run(0.3, lambda time: pose)
    return np.array(loop.record.velocity)[round(1e3 * since) :, 0].min(), loop.peaks(since)


def push(name, rate, force=50.0, **settings):
    """Push a tool that holds its target aside for 0.5 s.

    Returns:
        Deflection, final error [mm], and motion of the command [rad].
    """
    loop, home = begun(name, rate, **settings)
    loop.run(0.3, lambda time: home)
    begin, place = len(loop.record.time), loop.servo.joint_q.copy()
    loop.run(
        1.2, lambda time: home,
        push=lambda time: np.array([0.0, force if time < 0.5 else 0.0, 0.0]),
    )  # fmt: skip
    way = 1e3 * np.linalg.norm(np.array(loop.record.frame)[begin:, :3] - home[:3], axis=1)
    return way.max(), way[-1], float(np.abs(loop.servo.joint_q - place).max())


def main():
    """Print the table, as rows of robot, rate and figures."""
    for name in ('panda', 'ur5'):
        for rate in (100.0, 250.0, 500.0):
            mean, most, (_, torque, change) = follow(name, rate)
            loaded = follow(name, rate, payload=PAYLOAD)[0]
            beyond, off = step(name, rate)
            way, after = halt(name, rate)
            given, rest, _ = push(name, rate)
            row = (
                f'{mean:.1f} / {most:.1f}', f'{loaded:.1f}', f'{100 * torque:.0f}',
                f'{change / 1e3:.1f}', f'{beyond:.2f} / {off:.2f}', f'{way:.0f} / {after:.2f}',
                f'{wall(name, rate):.1f}', f'{given:.1f} / {rest:.2f}',
            )  # fmt: skip
            print(f'| {name} | {rate:.0f} |', ' | '.join(row), '|', flush=True)
            for settings in ({'tells_reference': True}, {}):
                sunk, burst_peaks = bursts(name, rate, **settings)
                least, moving = activate_moving(name, rate, **settings)
                rows = (
                    burst_peaks, resume(name, rate, **settings),
                    activate_beside(name, rate, **settings), moving,
                )  # fmt: skip
                peaks = ' | '.join(
                    f'{v:.2f} / {100 * t:.0f} / {c / 1e3:.1f}' for v, t, c in rows
                )
                print(f'    {sunk:.2f} | {least:.2f} | {peaks}', flush=True)


if __name__ == '__main__':
    main()

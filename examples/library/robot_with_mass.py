# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The servo in a loop with a robot with mass: drives, delay and noise, simulated by MuJoCo.

    pip install mujoco
    tools/run python examples/library/robot_with_mass.py --robot panda --rate 100

It uses neither ROS nor a clock, so a run is reproducible and faster than real time.
"""

import argparse

import numpy as np
from simulated_robot.loop import eight
from simulated_robot.loop import ServoLoop


def main() -> None:
    """Follow a figure of eight and print the tracking errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--rate', type=float, default=100.0, help='of the loop [Hz]')
    parser.add_argument('--payload', type=float, default=0.0, help='that no drive knows [kg]')
    parser.add_argument('--bandwidth', type=float, default=20.0, help='of the drives [Hz]')
    args = parser.parse_args()
    loop = ServoLoop(args.robot, args.rate, args.bandwidth, args.payload, tells_reference=True)
    loop.run(0.2)
    home = loop.frame()
    loop.run(6.0, lambda time: home + [*eight(time), 0.0, 0.0, 0.0, 0.0])
    way = np.array(loop.record.frame)[-5000:, :3] - np.array(loop.record.target)[-5000:, :3]
    print(f'the tool is {1e3 * np.linalg.norm(way, axis=1).mean():.1f} mm behind its target')
    speed, torque, rate = loop.peaks()
    print(f'at most {100 * torque:.0f} % of torque, {rate / 1e3:.1f} kNm/s, {speed:.2f} of speed')


if __name__ == '__main__':
    main()

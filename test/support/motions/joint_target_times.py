# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times to joint targets compared with Ruckig, which finds the shortest ones.

    tools/run env PYTHONPATH=test:. python -m support.motions.joint_target_times

prints the table of docs/motion_quality.md.
"""

import functools
import re

import numpy as np
import ruckig
from safety.servo import franka_drive
from support.rigs.servo_rig import Rig

from benchmarks.harness.robots import load_robot
from benchmarks.motion.joint_targets import arrival
from benchmarks.motion.joint_targets import within
from benchmarks.motion.ticked_servo import motion_limits
from ros_ik.demo.robots import find_robot
from ros_ik.model import Model

# Acceleration limits [rad/s^2]; FR3 is a Panda with the limits of that robot.
ACCELERATIONS = {'Panda': 5.0, 'UR5': 5.0, 'FR3': franka_drive.ACCELERATION}
# Rates of the loop [Hz], and jerk limits as multiples of the acceleration limits per second.
LOOPS = {100.0: 10.0, 250.0: 30.0, 500.0: 100.0, 1000.0: 500.0}
# Positions are drawn within these [rad].
REACH = 3.0


@functools.cache
def fr3_model():
    """Return the model of a Panda with the velocity limits of an FR3."""
    text = find_robot('panda').urdf_path.read_text()
    for joint, speed in enumerate(franka_drive.VELOCITY, 1):
        text = re.sub(rf'(name="panda_joint{joint}".*?velocity=)"[^"]*"', rf'\1"{speed}"', text,
                      count=1, flags=re.DOTALL)  # fmt: skip
    return Model.from_urdf(text, device='cpu')


class JointTargets:
    """Random joint targets of one robot, each compared with Ruckig's motion from the same state.

    Attributes:
        rows: Positions of the joints at rest at the start, and after each tick.
        limits: Velocity, acceleration and jerk of each joint.
    """

    def __init__(self, name, rate, ratio, several, seed):
        self.several, self.rng = several, np.random.default_rng(seed)
        robot = 'ur5' if name == 'UR5' else 'panda'
        self.joints, acceleration = load_robot(robot).joints, ACCELERATIONS[name]
        self.rig = Rig.shared(
            robot, reports=False, model=fr3_model() if name == 'FR3' else None, control_rate=rate,
            limits__jerk='strict', barriers__self_collision__enabled=False,
            **motion_limits(self.joints, acceleration, ratio),
        )  # fmt: skip
        dofs, count = self.rig.robot.group.variable_dof, len(self.joints)
        self.limits = {
            'velocity': self.rig.robot.velocity[dofs],
            'acceleration': np.full(count, acceleration),
            'jerk': np.full(count, ratio * acceleration),
        }
        margin = self.rig.settings.limits_position_margin[0] + 1e-3
        self.low = np.maximum(self.rig.robot.lower[dofs] + margin, -REACH)
        self.high = np.minimum(self.rig.robot.upper[dofs] - margin, REACH)
        self.rows = [self.rig.q[self.rig.robot.coords]] * 3
        self.joint = 0

    def draw(self):
        """Return a target: of every joint, or of the one that moves."""
        target = self.rng.uniform(self.low, self.high)
        if not self.several:
            one, target = target[self.joint], self.rows[-1].copy()
            target[self.joint] = one
        return target

    def from_rest(self):
        """Go to a target; return the time it took as a part of Ruckig's."""
        self.joint = int(self.rng.integers(len(self.joints)))
        return self._compared(self.draw())

    def in_motion(self):
        """Go to a target from somewhere on the way to another one; return the same."""
        self.joint = int(self.rng.integers(len(self.joints)))
        first = self.draw()
        seconds = self.rng.uniform(0.1, 0.9) * self._least(first)
        self._go(first, seconds)
        return self._compared(self.draw())

    def is_within(self):
        """Return True if every tick kept the limits."""
        rows = np.array(self.rows)
        return bool(within(rows[3:], rows[0], self.limits, self.rig.dt).all())

    def _compared(self, target):
        least, before = self._least(target), len(self.rows)
        self._go(target, 1.2 * least + 20.0 * self.rig.dt)
        return arrival(np.array(self.rows[before:]), target, self.rig.dt) / least

    def _least(self, target):
        """Return the time of Ruckig's motion from the present state [s]."""
        count, (before, last, now) = len(self.joints), self.rows[-3:]
        given, trajectory = ruckig.InputParameter(count), ruckig.Trajectory(count)
        velocity, acceleration, jerk = self.limits.values()
        speeds = np.clip((now - last) / self.rig.dt, -velocity, velocity)
        changes = (now - 2.0 * last + before) / self.rig.dt**2
        given.current_position, given.current_velocity = now.tolist(), speeds.tolist()
        given.current_acceleration = np.clip(changes, -acceleration, acceleration).tolist()
        given.target_position = target.tolist()
        given.max_velocity, given.max_acceleration = velocity.tolist(), acceleration.tolist()
        given.max_jerk = jerk.tolist()
        assert ruckig.Ruckig(count).calculate(given, trajectory) == ruckig.Result.Working
        return trajectory.duration

    def _go(self, target, seconds):
        self.rig.aim_joints(**dict(zip(self.joints, target.tolist(), strict=True)))
        for _ in range(round(seconds / self.rig.dt)):
            self.rig.tick()
            self.rows.append(self.rig.q[self.rig.robot.coords])


def main():
    """Print the table."""
    for name in ACCELERATIONS:
        for rate, ratio in LOOPS.items():
            parts = []
            for several in (False, True):
                targets = JointTargets(name, rate, ratio, several, 0)
                found = np.array([(targets.from_rest(), targets.in_motion()) for _ in range(20)])
                assert targets.is_within()
                parts += [f'{np.median(one):.3f} / {one.max():.3f}' for one in found.T]
            jerk = ratio * ACCELERATIONS[name]
            print(f'| {name} | {rate:.0f} | {jerk:.0f} |', ' | '.join(parts), '|', flush=True)


if __name__ == '__main__':
    main()

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A servo with a robot that follows exactly, and a clock that the test advances."""

import copy

import numpy as np

from benchmarks.motion.ticked_servo import TickedServo
from ros_ik.servo import Command
from ros_ik.servo import ControllerReference
from ros_ik.servo import Measurement
from ros_ik.settings import expand_parameters
from ros_ik.settings import read_settings


def moving_rig():
    """Return a rig in full motion towards a pose."""
    rig = Rig.shared()
    rig.aim(rig.moved((0.0, 0.4, -0.2)))
    rig.tick(40)
    assert np.abs(rig.speeds()[-1]).max() > 0.2
    return rig


# The robots whose servos are shared, the newest last, and how many there are at most.
_SHARED = {}
_MOST = 16


def _dotted(key):
    """Return the name of a parameter."""
    return key.replace('__', '.')


class Rig(TickedServo):
    """Ticks a servo; a target given with :meth:`aim` is repeated each tick until :meth:`quiet`.

    The robot is one of the demo, or RobotFiles with the model beside them.
    """

    def __init__(
        self, name='panda', activate=True, home=None, model=None, reports=True, **values
    ):
        super().__init__(name, activate, home, model, **values)
        self.reports = reports
        self.received = None
        # References of the controllers: positions and velocities of the controlled joints.
        self.reference = None
        # Measured less commanded coordinates.
        self.offset = np.zeros(len(self.q))
        self._streams = {}
        self.outputs = []
        self.published = []
        # Of those that share the servo.
        self._newest = [self]
        self.tick()

    @classmethod
    def shared(
        cls, name='panda', activate=True, home=None, model=None, reports=True, **values
    ):
        """Return a robot at home with a servo that others used before, active or not.

        A new one takes as long to set up as 250 ticks, and moves the same. Of the robots that
        share a servo, only the newest may move.
        """
        entries = expand_parameters({_dotted(key): value for key, value in values.items()})
        at_start = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in values.items()
            if _dotted(key) not in entries or entries[_dotted(key)].read_only
        }
        key = repr((cls, name, id(model), sorted(at_start.items())))
        rig = _SHARED.pop(key, None) or cls(
            name, activate=False, model=model, reports=False, **at_start
        )
        _SHARED[key] = rig
        if len(_SHARED) > _MOST:
            del _SHARED[next(iter(_SHARED))]
        others = {key: value for key, value in values.items() if key not in at_start}
        return rig.renewed(activate, home or {}, reports, **others)

    def renewed(self, activate, home, reports, **values):
        """Return a robot at home that has this one's servo, and other parameters."""
        other = copy.copy(self)
        other._newest[0] = other
        other.given, other.reports = {**self.given}, reports
        other.servo.interrupt()
        other.servo.joint_q = self.model.neutral_joint_q()
        other.servo._held[:] = other.servo.joint_q
        other.q, other.offset = self.q.copy(), np.zeros(len(self.q))
        for joint, position in home.items():
            other.q[self.robot.coord_of[joint]] = position
        other.q = self.model.apply_mimic(other.q)
        other.command = Command(active=False, poses=(None,) * len(self.settings.tasks))
        other._streams, other.outputs, other.published = {}, [], []
        other.set(**values)
        # The clock of the servo never goes back.
        other.now = self.servo._events._last_now + 10.0
        other.tick(2)
        other.change(active=activate)
        other.outputs, other.published = [], []
        other.tick()
        return other

    def aim(self, pose, task=0, frame=''):
        """Stream a pose from the next tick on."""
        self._streams[task] = lambda: self.reader.pose(task, frame, pose[:3], pose[3:], self.now)

    def aim_joints(self, **positions):
        """Stream a joint target from the next tick on."""
        names, values = list(positions), list(positions.values())
        self._streams['joints'] = lambda: self.reader.joints(names, values, self.now)

    def aim_joint_velocities(self, **velocities):
        """Stream velocities of joints from the next tick on."""
        names, values = list(velocities), list(velocities.values())
        self._streams['joints'] = lambda: self.reader.joint_velocities(names, values, self.now)

    def aim_twist(self, linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0), task=0, frame=''):
        """Stream a velocity from the next tick on."""
        self._streams['twist', task] = lambda: self.reader.twist(
            task, frame, linear, angular, self.now
        )

    def aim_center(self, point, frame=''):
        """Stream a target of the centre of mass from the next tick on."""
        self._streams['center'] = lambda: self.reader.center_of_mass(frame, point, self.now)

    def quiet(self):
        """Stop streaming targets."""
        self._streams.clear()

    def set(self, **values):
        """Change dynamic parameters."""
        self.given.update({_dotted(key): value for key, value in values.items()})
        self.settings = read_settings(self.given)
        self.servo.apply(self.settings)

    def tick(self, count=1, seconds=None):
        """Make ticks; return the last output."""
        assert self._newest[0] is self, 'another robot has this servo'
        for _ in range(count if seconds is None else round(seconds / self.dt)):
            self.now += self.dt
            for task, make in self._streams.items():
                target = make()
                if task == 'joints':
                    self.change(joints=target)
                elif task == 'center':
                    self.change(center_of_mass=target)
                elif isinstance(task, tuple):
                    twists = list(self.command.twists or (None,) * len(self.settings.tasks))
                    twists[task[1]] = target
                    self.change(twists=tuple(twists))
                else:
                    poses = list(self.command.poses)
                    poses[task] = target
                    self.change(poses=tuple(poses))
            received = self.now if self.received is None else self.received
            measured = Measurement(
                self.q + self.offset, np.full(len(self.q), received), self._heard
            )
            output = self.step(measured)
            self.outputs.append(output)
            if output.publish:
                self.published.append(output)
        return output

    def watch(self, seconds, measure, slowest=1e-3, span=0.3):
        """Return a measure after each tick of some time; once the robot rests, it stays.

        Args:
            seconds: Duration, of which the ticks at rest are left out.
            measure: Returns the measure.
            slowest: Speed of the fastest joint below which the robot rests [rad/s or m/s].
            span: Duration of a rest [s].
        """
        rows, count, needed = [], round(seconds / self.dt), round(span / self.dt)
        resting = 0
        while len(rows) < count and resting < needed:
            before = self.q
            self.tick()
            rows.append(measure())
            rests = np.abs(self.q - before).max() < slowest * self.dt
            resting = resting + 1 if rests else 0
        return np.array([*rows, *[rows[-1]] * (count - len(rows))])

    def settle(self, seconds, **rest):
        """Make ticks until the robot rests, at most for some time, as in :meth:`watch`."""
        self.watch(seconds, lambda: 0.0, **rest)

    def _heard(self):
        """Return the last references of the controllers."""
        if self.reference is None:
            return None
        return ControllerReference(*self.reference, np.full(len(self.robot.coords), self.now))

    def pose(self, q=None, task=0):
        """Return the pose of a task's frame in its reference link."""
        poses = self.servo._solver.diff.body_poses(self.q if q is None else q)
        return self.servo.targets.trackers[task].frame_pose(poses)

    def reachable(self, seed=1, spread=0.5):
        """Return a pose that the robot has at a configuration near its home."""
        rng, q, coords = np.random.default_rng(seed), self.q.copy(), self.robot.coords
        dofs = self.robot.group.variable_dof
        low, high = self.robot.lower[dofs] + 0.1, self.robot.upper[dofs] - 0.1
        q[coords] = np.clip(q[coords] + rng.uniform(-spread, spread, len(coords)), low, high)
        return self.pose(self.model.apply_mimic(q))

    def moved(self, xyz=(0.0, 0.0, 0.0)):
        """Return the present pose displaced."""
        pose = self.pose()
        pose[:3] += xyz
        return pose

    def speeds(self):
        """Return the velocities of the controlled joints at each published tick."""
        return np.array(
            [output.joint_qd[self.robot.group.variable_dof] for output in self.published]
        )

    def assert_within_limits(self):
        """Check position, velocity and acceleration of everything published since the start."""
        dofs = self.robot.group.variable_dof
        q = np.array([output.joint_q[self.robot.coords] for output in self.published])
        assert np.all(q >= self.robot.lower[dofs] - 1e-9) and np.all(
            q <= self.robot.upper[dofs] + 1e-9
        )
        velocity = self.speeds()
        assert np.all(np.abs(velocity) <= self.robot.velocity[dofs] * (1.0 + 1e-9))
        change = np.abs(np.diff(velocity, axis=0)) / self.dt
        assert np.all(change <= self.robot.acceleration[dofs] * (1.0 + 1e-6))

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A whole servo under every input that users can give, and a log of its commands.

The robot lags behind, trembles, freezes and is moved elsewhere while it rests.
"""

import collections
import dataclasses
import functools
from unittest import mock

import numpy as np
from safety.servo.bodies import Kinematics
from safety.servo.bodies import matrix
from safety.servo.cases import SERVO_CASES

from ros_ik.model.conventions.poses import unit_pose
from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik.servo import Mode
from ros_ik.servo import Obstacle
from ros_ik.servo import Servo
from ros_ik.servo import TargetReader
from ros_ik.servo.robot import controlled_robot as servo_robot
from ros_ik.settings import read_settings

# Obstacles that may be there at a time, and how often they move on [Hz].
SLOTS, MOVES = 10, 50.0
# Mean time between two events [s], and its largest number of ticks at high rates.
PAUSE, PAUSE_TICKS = 0.3, 120
_KINDS = {'sphere': 1, 'box': 3, 'cylinder': 2, 'capsule': 2}
_original = servo_robot.robot_shapes
_found: dict = {}


@dataclasses.dataclass(eq=False)
class Log:
    """Log of n ticks: commands, and the conditions under which they were made.

    Attributes:
        tick: Number of the tick since the start of the drive, [n].
        before: Positions from which the step began, [n, joints].
        q: Commanded positions of the controlled joints, [n, joints].
        qd: Commanded velocities, [n, joints].
        last: Velocities commanded in the previous tick, [n, joints]. Where motion began, that of
            the robot in the last 0.02 s, or zero, whichever is nearer to the command.
        jump: How far the step began from where it had to [rad or m], [n].
        velocity_scale: Largest since the motion began, [n].
        acceleration_scale: Largest since the motion began, [n].
        least_scale: Least scale of acceleration since the motion began, [n].
        margins: Between links and around obstacles [m], [n, 2].
        obstacles: Poses in the base, NaN if there is none, [n, SLOTS, 7].
        excused: True if a margin between links grew or an obstacle changed since the motion
            began: the robot may be found too near and has to brake, [n, 1 + SLOTS].
        codes: Status codes, [n].
        shapes: The collision shapes in the slots.
        first: Positions at the first tick, [joints].
    """

    tick: np.ndarray
    before: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    last: np.ndarray
    jump: np.ndarray
    velocity_scale: np.ndarray
    acceleration_scale: np.ndarray
    least_scale: np.ndarray
    margins: np.ndarray
    obstacles: np.ndarray
    excused: np.ndarray
    codes: np.ndarray
    shapes: list


class ServoDrive:
    """One servo and everything around it."""

    def __init__(self, name, rate, seed):
        self.case, self.rng = SERVO_CASES[name], np.random.default_rng([seed, int(rate)])
        self.given = {'control_rate': float(rate), **self.case.settings, **self.more()}
        self.settings = read_settings(self.given)
        # Shapes are fitted once for all rates.
        with mock.patch.object(servo_robot, 'robot_shapes', _shapes_of):
            self.servo = Servo(self.case.model, self.settings)
            _ = self.servo.robot.shapes
        self.robot, self.dt = self.servo.robot, self.settings.period
        self.reader = TargetReader(self.robot)
        self.kinematics = Kinematics(self.case.text)
        self.names = list(self.robot.group.joint_names)
        self.coords = self.robot.coords
        self.others = {
            joint: self.case.start.get(joint, 0.0)
            for joint in self.robot.coord_of
            if joint not in self.names
        }
        model, dofs = self.case.model, self.robot.group.variable_dof
        self.low = np.where(np.isfinite(self.robot.lower[dofs]), self.robot.lower[dofs], -3.0)
        self.high = np.where(np.isfinite(self.robot.upper[dofs]), self.robot.upper[dofs], 3.0)
        self.full = model.neutral_joint_q()
        for joint, position in {**self.others, **self.case.start}.items():
            self.full[self.robot.coord_of[joint]] = position
        self.full = model.apply_mimic(self.full)
        for joint in self.others:
            self.others[joint] = float(self.full[self.robot.coord_of[joint]])
        self.tips = [model.body_label[link] for link in self.robot.task_links]
        self.base = model.body_label[self.robot.base_link]
        self.measured = self.full[self.coords].copy()
        self.home = self.measured.copy()
        self.now, self.ticks = 100.0, 0
        self.tasks = len(self.settings.tasks)
        self.command = Command(poses=(None,) * self.tasks, twists=(None,) * self.tasks)
        self.targets, self.slots = {}, [None] * SLOTS
        self.speed = np.zeros((SLOTS, 3))
        self.mute = self.frozen = 0
        # Joint states of the last 0.1 s, and velocities of the robot of the last 0.02 s.
        self._seen = collections.deque(maxlen=2 + round(0.1 / self.dt))
        self._moved = collections.deque([np.zeros(len(self.names))], 1 + round(0.02 / self.dt))
        self.sent, self.sent_speed = self.measured.copy(), np.zeros(len(self.names))
        self.is_still = True
        self.lag = 0.0
        self.has_center = self.settings.com_weight > 0.0
        self._begin_motion()
        self._changed = np.zeros(SLOTS, dtype=bool)

    def more(self):
        """Return settings beside those of the case."""
        return {}

    def run(self, ticks):
        """Make ticks; return the log of those with a command, None where there was none."""
        rows, self._kinds = [], self._new_kinds()
        for _ in range(ticks):
            self._disturb()
            row = self.tick()
            if row is not None:
                rows.append(row)
        if not rows:
            return None
        fields = [field.name for field in dataclasses.fields(Log)][:-1]
        columns = {name: np.array([row[k] for row in rows]) for k, name in enumerate(fields)}
        return Log(shapes=[one and one[2] for one in self._kinds], **columns)

    def tick(self):
        """Make one tick; return its row of the log, None for silence."""
        self.ticks += 1
        self.now += self.dt
        if self.is_still:
            self._begin_motion()
        self._note_settings()
        self._move_obstacles()
        if not self.is_still:
            self._excused[1:] |= self._changed
        self._changed[:] = False
        self._stream()
        measured = self._measure()
        self._seen.append(measured.joint_q[self.coords])
        output = self.servo.step(
            self.now, measured, self.command, reports=self.ticks % 20 == 0
        )
        q, speed = output.joint_q[self.coords], output.joint_qd[self.robot.group.variable_dof]
        row = None
        if output.publish:
            before = q - speed * self.dt
            jump = np.abs(before - self.sent).max()
            if self.is_still:
                # A robot that trembles is anywhere between its measurements.
                low, high = np.min(self._seen, axis=0), np.max(self._seen, axis=0)
                jump = min(jump, np.maximum(low - before, before - high).max(initial=0.0))
                slowest, fastest = np.min(self._moved, axis=0), np.max(self._moved, axis=0)
                self.sent_speed = np.clip(
                    speed, np.minimum(slowest, 0.0), np.maximum(fastest, 0.0)
                )
            row = (
                self.ticks, before, q.copy(), speed.copy(), self.sent_speed, jump, self._fastest,
                self._hardest, self._softest, self._margins, self._poses(), self._excused.copy(),
                int(output.code),
            )  # fmt: skip
            self.sent = q.copy()
        else:
            assert output.still, 'silent in motion'
        self.sent_speed = speed.copy() if output.publish else np.zeros_like(speed)
        self.is_still = output.still
        before = self.measured
        if not self.frozen:
            part = 1.0 if self.lag == 0.0 else 1.0 - np.exp(-self.dt / self.lag)
            self.measured = before + part * (self.sent - before)
        self._moved.append((self.measured - before) / self.dt)
        return row

    def _begin_motion(self):
        """Reset the records at the start of a motion from rest."""
        settings = self.settings
        self._fastest = settings.limits_velocity_scale
        self._hardest = self._softest = settings.limits_acceleration_scale
        self._excused = np.zeros(1 + SLOTS, dtype=bool)
        self._margins = (
            settings.barriers_self_collision_margin, settings.barriers_world_margin
        )  # fmt: skip

    def _note_settings(self):
        settings = self.settings
        self._fastest = max(self._fastest, settings.limits_velocity_scale)
        self._hardest = max(self._hardest, settings.limits_acceleration_scale)
        self._softest = min(self._softest, settings.limits_acceleration_scale)
        margins = settings.barriers_self_collision_margin, settings.barriers_world_margin
        self._excused[0] |= margins[0] > self._margins[0]
        self._excused[1:] |= margins[1] > self._margins[1]
        self._margins = margins

    def _measure(self):
        """Return the joint states of the robot's driver."""
        full = self.full.copy()
        noise = 1e-5 * self.rng.normal(size=len(self.names)) if self.lag else 0.0
        full[self.coords] = self.measured + noise
        full = self.case.model.apply_mimic(full)
        if self.mute:
            self.mute -= 1
        else:
            self._heard = self.now
        self.frozen = max(self.frozen - 1, 0)
        return Measurement(full, np.full(len(full), self._heard))

    def _stream(self):
        """Repeat each target, as a sender does."""
        for kind, make in self.targets.items():
            target = make()
            if kind == 'joints':
                self.command = self.command.with_changes(joints=target)
            elif kind == 'center':
                self.command = self.command.with_changes(center_of_mass=target)
            elif kind[0] == 'twist':
                self.command = self.command.with_twist(kind[1], target)
            else:
                self.command = self.command.with_pose(kind[1], target)

    # Events.

    def _disturb(self):
        """Make a random event at random times."""
        rng = self.rng
        if rng.random() > max(self.dt / PAUSE, 1.0 / PAUSE_TICKS):
            return
        happens = rng.choice(
            ['pose', 'twist', 'joints', 'center', 'quiet', 'obstacle', 'settings', 'hold', 'go',
             'mute', 'freeze', 'clock', 'reset', 'away'],
            p=[.26, .07, .11, .02, .03, .2, .09, .03, .11, .01, .01, .01, .02, .03],
        )  # fmt: skip
        getattr(self, f'_do_{happens}')()

    def _do_pose(self):
        rng, placed = self.rng, self._placed(self._random_q())
        task, kind = int(rng.integers(self.tasks)), rng.integers(6)
        base_rotation, base_position = placed[self.base]
        rotation, position = placed[self.tips[task]]
        if kind == 0:  # inside the body
            position = base_position + rng.uniform(-0.2, 0.2, (1, 3))
        elif kind == 1:  # out of reach
            position = position + 2.0 * rng.normal(size=(1, 3))
        elif kind == 2:  # through what is nearest
            position = self._placed(self.sent)[self.tips[task]][1] + rng.normal(0, 0.2, (1, 3))
        elif kind == 3 and any(self.slots):  # inside an obstacle
            one = rng.choice([one for one in self.slots if one is not None])
            position = base_position + one.pose[:3] @ base_rotation[0].T
        point = base_rotation[0].T @ (position - base_position)[0]
        turn = rng.normal(size=4)
        pose = unit_pose((*point, *turn / np.linalg.norm(turn)))
        for old in [key for key in self.targets if key == 'joints' or key == ('twist', task)]:
            del self.targets[old]
        self.targets['pose', task] = lambda: self.reader.pose(
            task, '', pose[:3].tolist(), pose[3:].tolist(), self.now
        )

    def _do_twist(self):
        task, rng = int(self.rng.integers(self.tasks)), self.rng
        linear, angular = rng.normal(0.0, 0.5, 3), rng.normal(0.0, 1.0, 3)
        self.targets = {
            ('twist', task): lambda: self.reader.twist(task, '', linear, angular, self.now)
        }

    def _do_joints(self):
        values = self._random_q(0.2).tolist()
        self.targets = {'joints': lambda: self.reader.joints(self.names, values, self.now)}

    def _do_center(self):
        if self.has_center:
            point = self.rng.normal([0.0, 0.0, 0.0], [0.1, 0.1, 0.1]).tolist()
            self.targets['center'] = lambda: self.reader.center_of_mass('', point, self.now)

    def _do_quiet(self):
        self.targets.clear()

    def _do_settings(self):
        rng = self.rng
        self.given |= {
            'limits.velocity_scale': float(rng.choice([0.1, 0.5, 1.0, 1.0])),
            'limits.acceleration_scale': float(rng.choice([0.05, 0.1, 0.3, 1.0])),
            'barriers.self_collision.margin': float(rng.choice([0.005, 0.01, 0.02])),
            'barriers.world.margin': float(rng.choice([0.005, 0.02, 0.05])),
            'barriers.self_collision.gain': float(rng.choice([2.0, 5.0, 20.0])),
            'barriers.world.gain': float(rng.choice([2.0, 5.0, 20.0])),
            'limits.position_margin': [float(rng.choice([0.0, 0.02, 0.02, 0.1]))],
            'halt_mode': str(rng.choice(['decelerate', 'hold'])),
        }
        if self.has_center:
            self.given['com.weight'] = float(rng.choice([0.0, 0.5]))
        self.lag = float(rng.choice([0.0, 0.01, 0.03]))
        self.settings = read_settings(self.given)
        self.servo.apply(self.settings)

    def _do_hold(self):
        match self.rng.integers(4):
            case 0:
                self.command = self.command.with_pause(True)
            case 1:
                self.command = self.command.with_stop()
            case 2:
                self.command = self.command.with_activation(False)
            case 3:
                mode = Mode(int(self.rng.choice([0, 2, 3, 4])))
                self.command = self.command.with_changes(mode=mode)

    def _do_go(self):
        command = self.command
        if command.paused:
            command = command.with_pause(False)
        if command.stopped:
            command = command.with_reset()
        if not command.active:
            command = command.with_activation(True)
        self.command = command.with_changes(mode=Mode.AUTO)

    def _do_reset(self):
        self.command = self.command.with_reset()

    def _do_mute(self):
        self.mute = round(0.3 / self.dt)

    def _do_freeze(self):
        self.frozen = round(self.rng.uniform(0.05, 0.6) / self.dt)

    def _do_clock(self):
        self.now -= self.rng.uniform(0.1, 3.0)

    def _do_away(self):
        """Move the robot elsewhere while it rests, some of its joints outside their limits."""
        if self.is_still:
            self.measured = self._random_q()
            if self.rng.random() < 0.5:
                self.measured = self.home + 0.3 * (self.measured - self.home)
            if self.rng.random() < 0.5:
                joint = int(self.rng.integers(len(self.names)))
                beyond = self.rng.uniform(0.0, 0.3)
                self.measured[joint] = self.rng.choice(
                    [self.low[joint] - beyond, self.high[joint] + beyond]
                )
            self._do_reset()

    # Obstacles.

    def _new_kinds(self):
        """Return the next obstacle of each slot: kind, size and shape."""
        rng, found = self.rng, []
        for slot in range(SLOTS):
            kind = str(rng.choice(list(_KINDS)))
            size = tuple(rng.uniform(0.02, 0.12, _KINDS[kind]).tolist())
            if kind == 'box' and slot == 0:
                size = (0.6, 0.6, 0.02)
            if kind == 'cylinder' and slot == 1:
                size = (0.03, 0.8)
            probe = Obstacle('', kind, size, np.array([0.0] * 6 + [1.0]), 0)
            found.append((kind, size, probe.shape))
        self.slots = [None] * SLOTS
        self.command = self.command.with_changes(obstacles=())
        return found

    def _do_obstacle(self):
        rng, slot = self.rng, int(self.rng.integers(SLOTS))
        if self.slots[slot] is not None and rng.random() < 0.3:
            self.slots[slot] = None
        else:
            self._put(slot)
            if rng.random() < 0.15:  # a ring, or a heap
                for other in range(SLOTS):
                    self._put(other)
        self._tell()

    def _put(self, slot):
        rng, placed = self.rng, self._placed(self.sent)
        turned, origin = placed[self.base]
        links = [link for link in self.kinematics.order if self._moves(link)]
        tip = placed[self.tips[int(rng.integers(self.tasks))]][1][0]
        match rng.integers(5):
            case 0:  # in a link
                point = placed[str(rng.choice(links))][1][0] + rng.normal(0.0, 0.04, 3)
            case 1:  # close to the hand
                away = rng.normal(size=3)
                point = tip + away / np.linalg.norm(away) * rng.uniform(0.05, 0.35)
            case 2:  # around the base
                angle = rng.uniform(-np.pi, np.pi)
                around = [0.25 * np.cos(angle), 0.25 * np.sin(angle), rng.uniform(0.0, 0.5)]
                point = origin[0] + around
            case 3:
                point = tip + rng.normal(0.0, 0.4, 3)
            case 4:  # beside a link
                away = rng.normal(size=3)
                link = placed[str(rng.choice(links))][1][0]
                point = link + away / np.linalg.norm(away) * rng.uniform(0.1, 0.3)
        kind, size, _ = self._kinds[slot]
        turn = rng.normal(size=4)
        at = turned[0].T @ (point - origin[0])
        pose = unit_pose((*at, *turn / np.linalg.norm(turn)))
        self.slots[slot] = Obstacle(f'slot {slot}', kind, size, pose, self.robot.base_link)
        self.speed[slot] = 0.0
        if rng.random() < 0.25:
            self.speed[slot] = rng.normal(0.0, 0.15, 3)
        self._changed[slot] = True

    def _move_obstacles(self):
        if not self.speed.any() or self.ticks % max(1, round(1.0 / MOVES / self.dt)):
            return
        moved = False
        for slot in np.flatnonzero(self.speed.any(axis=1)):
            one = self.slots[slot]
            if one is not None:
                pose = one.pose.copy()
                pose[:3] += self.speed[slot] * max(1.0 / MOVES, self.dt)
                self.slots[slot] = dataclasses.replace(one, pose=pose)
                self._changed[slot] = moved = True
                if np.abs(pose[:3]).max() > 2.0 or self.rng.random() < 0.01:
                    self.speed[slot] = 0.0
        if moved:
            self._tell()

    def _tell(self):
        there = tuple(one for one in self.slots if one is not None)
        self.command = self.command.with_changes(obstacles=there)

    def _poses(self):
        poses = np.full((SLOTS, 7), np.nan)
        for slot, one in enumerate(self.slots):
            if one is not None:
                poses[slot] = one.pose
        return poses

    # Positions and poses.

    def _random_q(self, beyond=0.0):
        spread = self.high - self.low
        return self.rng.uniform(self.low - beyond * spread, self.high + beyond * spread)

    def _placed(self, q):
        return self.kinematics.poses(self.values(q[None]))

    def values(self, q):
        """Return positions of joints by name, from those of the controlled joints [n, joints]."""
        fixed = {joint: np.full(len(q), value) for joint, value in self.others.items()}
        return {**fixed, **{name: q[:, k] for k, name in enumerate(self.names)}}

    @functools.cache  # noqa: B019 drives are few
    def _moves(self, link):
        return bool(self.kinematics.path(link) & set(self.names))

    def obstacle_frames(self, poses):
        """Return rotations and positions in the root of poses [n, SLOTS, 7] in the base."""
        turned, origin = (part[0] for part in self._placed(self.home)[self.base])
        there = np.isfinite(poses[..., 0])
        poses = np.where(there[..., None], poses, [0.0, 0.0, 1e3, 0.0, 0.0, 0.0, 1.0])
        return turned @ matrix(poses[..., 3:]), poses[..., :3] @ turned.T + origin, there


def _shapes_of(model, settings):
    """Return the shapes of a robot; they are computed once per model and settings."""
    key = id(model), settings.barriers_self_collision_margin, settings.collision_padding
    if key not in _found:
        _found[key] = _original(model, settings), model
    return _found[key][0]

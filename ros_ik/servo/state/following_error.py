# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Following errors: lag of the robot behind its command, and the reaction to it.

While the robot follows, :class:`LeadLimit` keeps the command near it. If the command has moved
away from a joint that stands still, it comes to rest and returns to the measured position. It
moves that joint, and those that did not move meanwhile, only slightly until they have moved. With
``following_error.action: stop`` a command that would get too far ahead also comes to rest and
returns.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.interface.measurement import Measurement
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.state.following_state import FOLLOWING_TRANSITIONS
from ros_ik.servo.state.following_state import FollowingEvent
from ros_ik.servo.state.following_state import FollowingState
from ros_ik.servo.state.lead_limit import LeadLimit
from ros_ik.servo.state.lead_limit import SLACK_TIME
from ros_ik.servo.state.motion_history import MotionHistory
from ros_ik.servo.state.motion_history import SPEED_SPAN
from ros_ik.servo.state.resting_joints import RestingJoints
from ros_ik.settings import Settings
from ros_ik.state_machine import StateMachine

# Displacement after which a joint at rest has moved; encoder noise is smaller [rad].
_MOVED_DISTANCE = 8e-4
# Additional displacement after which the command has left a joint at rest [rad].
_LEFT_DISTANCE = 0.03
# Time, beyond the accepted lag, after which a joint counts as not following [s].
_STALL_TIME = 0.1
# Initial and maximum command for a joint that did not follow [rad], and its growth [rad/s],
# because small joints do not react to small commands.
_TRIAL, _LARGEST_TRIAL, _TRIAL_GROWTH = 0.002, 0.01, 0.001
# Longest wait for a robot at rest [s]; encoder noise may look like motion.
_LONGEST_WAIT = 2.0
# Time between two checks of joints that follow [s].
_CHECK_PERIOD = 0.01
# Number of past commands kept for the delay.
_MAX_COMMANDS = 12
# Tolerance within which the command has arrived [rad or m].
_ARRIVED = 1e-9


class FollowingError:
    """Comparison of command and measurement per joint; owned by the control thread.

    Attributes:
        return_position: Positions to which the command returns [n_variables].
        left: Direction in which the command has left each joint that stood still longer than the
            accepted lag, until it is back [n_variables]; 0 for all others.
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start without a command."""
        self._coords, self._names = robot.coords, robot.group.joint_names
        self._lead = LeadLimit(robot, settings)
        count = len(self._names)
        self._machine = StateMachine(FollowingState.UNKNOWN, FOLLOWING_TRANSITIONS)
        self.return_position = np.zeros(count)
        self.left = np.zeros(count)
        self._unknown = np.full(count, np.nan)
        # Joints that have not moved since they, or others with them, failed to follow.
        self._on_trial = np.zeros(count, dtype=bool)
        # Joints because of which the command halted last.
        self._stalled = np.zeros(count, dtype=bool)
        # Joints at rest near the command since it last returned. A sagging robot is not among
        # them, because the command must not follow it down.
        self._settled = np.ones(count, dtype=bool)
        self._trial_start = 0.0
        # History of the motion, None without a command.
        self._history: MotionHistory | None = None
        # Age of the measured state, and times of the last check and of the last halt [s].
        self._age, self._checked, self._halted = 0.0, -math.inf, -math.inf
        # Time since which a halting command rests [s].
        self._rested = -math.inf
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._lead.apply(settings)
        self._is_on = bool(self._lead.watched.any())
        self._stops = settings.following_error_action == 'stop'
        self._delay, self._timeout = settings.following_error_delay, settings.joint_state_timeout
        self._spacing = max(settings.period, self._delay / _MAX_COMMANDS)
        # The measured speed lags by half the time span.
        self._lag = self._delay + 0.5 * SPEED_SPAN + settings.period
        self._period, self._slack_until = settings.period, -math.inf
        # Tolerance for periods a little longer than requested, to not skip every other tick.
        self._check_period = _CHECK_PERIOD - 0.5 * settings.period
        self._away = np.minimum(_LEFT_DISTANCE * self._lead.unit, self._lead.floor)
        self._on_trial = self._on_trial & self._lead.watched
        self._has_trials = bool(self._on_trial.any())
        self._lead.trial = np.where(self._on_trial, self._lead.trial, np.inf)

    @property
    def state(self) -> FollowingState:
        """State of the command."""
        return self._machine.state

    @property
    def holds(self) -> bool:
        """True if targets have to wait."""
        return self._machine.state in (FollowingState.HALTS, FollowingState.RETURNS)

    @property
    def stalled_joints(self) -> str:
        """Names of the joints for which targets wait, as text."""
        return ', '.join(self._names[k] for k in np.flatnonzero(self._stalled))

    @property
    def slowed_by(self) -> str:
        """Name of the joint that limits the speed of the command, or ''."""
        joint = self._lead.joint
        if joint < 0 and self._history is not None and self._has_trials:
            ahead = self._history.ahead()
            joint = int(np.argmax(np.abs(ahead) / self._lead.trial))
            if abs(ahead[joint]) < 0.5 * self._lead.trial[joint]:
                return ''
        return self._names[joint] if joint >= 0 else ''

    def forget(self) -> None:
        """Drop the command and the state of all joints."""
        self._machine.handle(FollowingEvent.FORGET)
        self._history = None
        self._lead.joint = -1
        self._set_trial_joints(np.zeros_like(self._on_trial), 0.0)
        self._settled[:] = True

    def restart(self, now: float, measurement: Measurement, joint_q: np.ndarray) -> None:
        """Start with the first command of a motion, at rest or not.

        Args:
            now: Current time [s].
            measurement: The measured state.
            joint_q: Commanded coordinates [joint_coord_count].
        """
        self._machine.handle(FollowingEvent.RESTART)
        self._history = MotionHistory(self._coords, now, measurement, joint_q)
        self._checked, self._slack_until, self._age = -math.inf, -math.inf, 0.0
        self.left = np.zeros_like(self.left)
        self._restart_standstill(self._history)

    def observe(
        self,
        now: float,
        measurement: Measurement,
        joint_q: np.ndarray,
        *,
        pursues: bool,
        still: bool,
    ) -> None:
        """Update from the measured state and the last command, and decide whether targets wait.

        A state older than ``joint_state_timeout`` is unusable: the history is dropped.

        Args:
            now: Current time [s].
            measurement: The measured state.
            joint_q: Commanded coordinates [joint_coord_count].
            pursues: True if targets are followed. Otherwise, the robot may be moved by hand and
                the command does not return it.
            still: True if the command is at rest.
        """
        history = self._history
        if history is None:
            return
        age = abs(now - min(measurement.received.take(self._coords).tolist()))
        if age > self._timeout:
            self.forget()
            return
        history.update(now, measurement, joint_q)
        if self.holds or now - self._checked >= self._check_period:
            self._checked = now
            history.record(self._delay, self._spacing)
            # A halt ends as any other if the joint is not watched any more.
            if self._is_on or self.holds:
                self._find_stalled_joints(history, age, pursues=pursues, still=still)

    def errors(self) -> np.ndarray:
        """Return the distance of each joint from the commands of the last ``delay`` seconds.

        Returns:
            Measured less commanded positions [n_variables], rad or m; NaN without a command.
        """
        return self._unknown if self._history is None else self._history.errors()

    def limit(self, step: np.ndarray, last: np.ndarray, acceleration: np.ndarray) -> bool:
        """Slow a step if the command would get too far ahead; return True if it changed.

        Args:
            step: The step [joint_dof_count], changed in place.
            last: The step before it.
            acceleration: Acceleration limits of the controlled joints [rad/s^2 or m/s^2].
        """
        history = self._history
        if history is None or not self._is_on or history.now < self._slack_until:
            self._lead.joint = -1
            return False
        ahead = history.ahead()
        lag = self._lag + self._age
        slowed = self._lead.limit(step, last, ahead, history.speed, acceleration, lag)
        if self._lead.has_slack:
            self._slack_until = history.now + SLACK_TIME - 0.5 * self._period
        joint = self._lead.joint
        if self._stops and joint >= 0 and not self._on_trial[joint]:
            self._halt(np.arange(len(ahead)) == joint)
        return slowed

    def _restart_standstill(self, history: MotionHistory) -> None:
        """Restart the detection of joints at rest."""
        moved = _MOVED_DISTANCE * self._lead.unit
        self._joints = RestingJoints(history.now, history.measured, history.commanded, moved)

    def _find_stalled_joints(
        self, history: MotionHistory, age: float, *, pursues: bool, still: bool
    ) -> None:
        """Find joints that do not follow, and continue a halt."""
        # Quantised, so that the limits are not recomputed each time.
        self._age = round(age, 2)
        joints, lead, now = self._joints, self._lead, history.now
        moved = joints.update(now, history.measured, history.commanded, self._away)
        ahead = np.abs(history.commanded - history.measured)
        # A joint may have moved since the state was measured.
        patience = self._delay + _STALL_TIME + age
        stands = now - joints.since > patience
        self._settled |= stands & (ahead <= lead.floor)
        self._find_left_joints(history, now - joints.since > self._delay + age)
        if self.state is FollowingState.TRACKS:
            if self._has_trials:
                self._set_trial_joints(self._on_trial & ~moved, now)
            stalls = ~self._on_trial & (now - joints.away_since > patience)
            if pursues:
                # Moved by hand, or by another program, far from the command.
                far = np.where(self._on_trial, lead.floor, lead.lead_at_rest)
                stalls |= stands & self._settled & (ahead > 1.05 * far)
            stalls &= lead.watched
            if stalls.any():
                self._halt(stalls)
        elif not still:
            self._rested = now
        elif not stands.all() and now - self._rested < _LONGEST_WAIT:
            pass
        elif self.state is FollowingState.HALTS:
            self._machine.handle(FollowingEvent.REST)
            self.return_position, self._rested = history.measured.copy(), now
        elif self._has_returned(history):
            self._machine.handle(FollowingEvent.ARRIVE)
            self._trial_start = now
            # A joint that did not move with the command while it braked and returned may stand
            # still, too.
            doubtful = self._on_trial | self._stalled | (joints.since <= self._halted)
            self._set_trial_joints(doubtful & lead.watched, now)
            self._settled[:] = False
            self._restart_standstill(history)

    def _find_left_joints(self, history: MotionHistory, stands: np.ndarray) -> None:
        """Find joints that the command has left, and those to which it is back.

        All commands of the accepted lag count, so that a robot that lags is never left.
        """
        ahead, near = -history.errors(), _MOVED_DISTANCE * self._lead.unit
        found = np.where(stands & (np.abs(ahead) > near), np.sign(ahead), 0.0)
        self.left = np.where(self.left * ahead > near, self.left, found)

    def _halt(self, joints: np.ndarray) -> None:
        """Brake the command because of some joints."""
        self._machine.handle(FollowingEvent.STALL)
        self._stalled = joints
        self._slack_until = -math.inf
        self._halted = self._rested = self._checked

    def _has_returned(self, history: MotionHistory) -> bool:
        """Return True if a command at rest has returned, or is blocked on its way."""
        left = float(np.abs(history.commanded - self.return_position).max())
        return left < _ARRIVED or history.now - self._rested > _STALL_TIME

    def _set_trial_joints(self, on_trial: np.ndarray, now: float) -> None:
        """Set the joints that must first prove that they follow."""
        self._on_trial, self._slack_until = on_trial, -math.inf
        self._has_trials = bool(on_trial.any())
        trial = min(_TRIAL + _TRIAL_GROWTH * (now - self._trial_start), _LARGEST_TRIAL)
        self._lead.trial = np.where(on_trial, trial * self._lead.unit, np.inf)

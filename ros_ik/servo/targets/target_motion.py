# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion of one pose target between its messages: position, velocity and acceleration.

Between two messages, T apart, the target goes on as it was last known to move, and each message
corrects that by what it was off (alpha-beta-gamma filter with the gains of a fading memory,
Morrison 1969):

    e = z - p,    p <- p + alpha e,    v <- v + beta e / T,    a <- a + 2 gamma e / T^2
    alpha = 1 - f^3,    beta = 3/2 (1 - f)^2 (1 + f),    gamma = (1 - f)^3 / 2

So that nobody sees a message come, its correction fades in: what is followed is p less an offset o
that takes up the jumps of p, v and a, and decays by (d/dt + w)^3 o = 0.

An error e that no acceleration within the limits explains, nor the noise so far, is a manoeuvre: a
start, a stop or a step. The filter then begins anew there, without an offset; a target that leaves
its rest, or moves faster than it may, has no velocity until the next message, and one that repeats
itself rests.

Times of messages are their stamps where these grow, on whatever clock, less the mean difference to
the times of receipt; else the times of receipt on a line through those so far, for ticks and
networks make them jitter.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

from ros_ik.servo.motion.pose_math import float_difference
from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import float_less
from ros_ik.servo.motion.pose_math import float_moved
from ros_ik.servo.motion.pose_math import float_scaled
from ros_ik.servo.motion.pose_math import float_sum
from ros_ik.servo.motion.pose_math import float_unit
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO

# Time over which the filter forgets [s]: f = exp(-T / _FORGETS).
_FORGETS = 0.02
# w T, at least and at most, and the period from which on it grows, as its square root [s].
_FADES, _FADES_AT_MOST, _SLOW = 0.5, 1.0, 0.033
# Messages over which times of receipt are averaged, and differences of clocks.
_MEMORY, _CLOCK_MEMORY = 300, 1000
# Messages from which the period is known well enough to count those that were lost.
_FIRST = 10
# Periods for which a silent sender is followed, after which it begins anew, and those with its
# acceleration.
_SILENCE, _CURVED = 6.0, 2.0
# Shift of the clock of stamps that is a jump [s], and how many stamps in a row may run back.
_CLOCK_JUMP, _MOST_OLD = 0.25, 3
# Part of the period within which the same pose again is the same message.
_TWICE = 0.5
# Errors, in means of those before, that noise makes.
_NOISE = 3.0
# Distance [m or rad] up to which a pose is the same.
_SAME = 1e-9


class MessageTimes:
    """Times at which the messages of one sender were made, on the clock of their receipt.

    Attributes:
        period: Mean time between two messages [s], 0 before the second.
    """

    def __init__(self) -> None:
        """Start before the first message."""
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.period = 0.0
        self._time = self._stamp = math.nan
        self._received = -math.inf
        self._offset = 0.0
        self._count = self._old = 0

    def add(self, received: float, stamp: float | None) -> float | None:
        """Return the time of a message [s]; None where it is older than the one before.

        Args:
            received: Time of receipt [s].
            stamp: Time on the clock of the sender [s], None for none.
        """
        if (stamp is None) != math.isnan(self._stamp):
            self.reset()  # another sender speaks
        if stamp is None:
            return self._from_receipt(received)
        return self._from_stamp(received, stamp)

    def _from_stamp(self, received: float, stamp: float) -> float | None:
        if self._count and not stamp > self._stamp:
            self._old += 1
            if self._old < _MOST_OLD:
                return None
            self.reset()
        offset = received - stamp
        if self._count and abs(offset - self._offset) > _CLOCK_JUMP:
            self.reset()
        self._old = 0
        self._count = min(self._count + 1, _CLOCK_MEMORY)
        self._offset += (offset - self._offset) / self._count
        if self._count > 1:
            self._renew_period(stamp - self._stamp)
        self._stamp = stamp
        return stamp + self._offset

    def _renew_period(self, interval: float) -> None:
        # A message that was lost leaves a multiple of the period.
        steps = max(round(interval / self.period), 1) if self._count > _FIRST else 1
        mean = interval / steps
        self.period += (mean - self.period) / (self._count - 1)

    def _from_receipt(self, received: float) -> float:
        interval = received - self._time
        silent = self._count > 1 and interval > _SILENCE * self.period
        if silent or not received > self._received:
            self.reset()
        self._received = received
        self._count = n = min(self._count + 1, _MEMORY)
        if n == 1:
            self._time = received
            return received
        if n == 2:
            self.period, self._time = max(interval, 0.0), received
            return received
        # A line through all times of receipt, then through the last ones (alpha-beta filter).
        steps, error = 1, interval - self.period
        if n > _FIRST:
            # Others were lost in between.
            steps = max(round(interval / self.period), 1)
            error = interval - steps * self.period
            error = min(max(error, -0.5 * self.period), 0.5 * self.period)
        self._time += steps * self.period + error * 2.0 * (2.0 * n - 1.0) / (n * (n + 1.0))
        self.period += error * 6.0 / (n * (n + 1.0)) / steps
        return self._time


class _Gains:
    """Gains of the filter at one period."""

    def __init__(self, period: float) -> None:
        """Compute the gains for a period [s]."""
        f = math.exp(-period / _FORGETS)
        self.position = 1.0 - f**3
        self.velocity = 1.5 * (1.0 - f) ** 2 * (1.0 + f) / period
        self.acceleration = (1.0 - f) ** 3 / (period * period)
        faded = _FADES * math.sqrt(period / _SLOW)
        self.rate = min(max(faded, _FADES), _FADES_AT_MOST) / period


class _VectorMotion:
    """Motion of a position or of an orientation.

    Attributes:
        velocity: [m/s or rad/s], three numbers.
        acceleration: [m/s^2 or rad/s^2], three numbers.
    """

    def __init__(self) -> None:
        self.velocity = self.acceleration = ZERO
        # The offset, its velocity and its acceleration.
        self._offset = self._offset_velocity = self._offset_acceleration = ZERO
        self._usual, self._was_manoeuvre = 0.0, False

    @property
    def rests(self) -> bool:
        """True once nothing moves any more."""
        return self.velocity == ZERO == self._offset

    def way(self, time: float, curved: float) -> Vector:
        """Return the way within a time [s], accelerated for the first ``curved`` s."""
        bent = min(time, curved)
        part = bent * (time - 0.5 * bent)
        (u, v, w), (a, b, c) = self.velocity, self.acceleration
        return u * time + a * part, v * time + b * part, w * time + c * part

    def offset(self, time: float, rate: float) -> Vector:
        """Return the offset after a time [s] of decay at a rate [1/s]."""
        x, y, z = (row[0] for row in self._decayed(time, rate))
        return x, y, z

    def pass_time(self, time: float, curved: float, rate: float) -> None:
        """Move velocity and offset on by a time [s]."""
        bent = min(time, curved)
        (u, v, w), (a, b, c) = self.velocity, self.acceleration
        self.velocity = u + a * bent, v + b * bent, w + c * bent
        rows = self._decayed(time, rate)
        self._offset, self._offset_velocity, self._offset_acceleration = zip(*rows, strict=True)

    def correct(
        self,
        error: Vector,
        moved: Vector,
        interval: float,
        gains: _Gains,
        speed: float,
        hardest: float,
    ) -> Vector:
        """Correct the motion by an error; return by how much the position is corrected.

        Args:
            error: What the message is off [m or rad].
            moved: Its way since the message before.
            interval: Time since the message before [s].
            gains: Gains of the filter.
            speed: Largest speed [m/s or rad/s].
            hardest: Largest acceleration [m/s^2 or rad/s^2].
        """
        size = float_length(error)
        expected = 0.5 * hardest * interval * interval + _NOISE * self._usual
        self._usual += 0.2 * (min(size, expected) - self._usual)
        rests = float_length(moved) <= _SAME
        is_manoeuvre = size > expected
        if rests or is_manoeuvre:
            began = self.velocity == ZERO and not self._was_manoeuvre
            velocity = float_scaled(moved, 1.0 / interval)
            if rests or began or float_length(velocity) > speed:
                velocity = ZERO
            self.velocity, self.acceleration = velocity, ZERO
            self._offset = self._offset_velocity = self._offset_acceleration = ZERO
            self._was_manoeuvre = is_manoeuvre
            return error
        self._was_manoeuvre = False
        shift = float_scaled(error, gains.position)
        velocity = _bounded(float_sum(self.velocity, float_scaled(error, gains.velocity)), speed)
        acceleration = _bounded(
            float_sum(self.acceleration, float_scaled(error, gains.acceleration)), hardest
        )
        self._offset = float_sum(self._offset, shift)
        self._offset_velocity = float_sum(
            self._offset_velocity, float_less(velocity, self.velocity)
        )
        self._offset_acceleration = float_sum(
            self._offset_acceleration, float_less(acceleration, self.acceleration)
        )
        self.velocity, self.acceleration = velocity, acceleration
        return shift

    def _decayed(self, time: float, rate: float) -> list[tuple[float, float, float]]:
        """Return offset, its velocity and its acceleration after a time, for each part."""
        part, rows = math.exp(-rate * time), []
        for o, v, a in zip(
            self._offset, self._offset_velocity, self._offset_acceleration, strict=True
        ):
            # (o + b t + c t^2) exp(-w t) and its derivatives.
            b, c = v + rate * o, 0.5 * (a + rate * (2.0 * v + rate * o))
            p, q = o + time * (b + time * c), b + 2.0 * time * c
            rows.append((
                part * p, part * (q - rate * p), part * (2.0 * (c - rate * q) + rate * rate * p)
            ))  # fmt: skip
        return rows


class TargetMotion:
    """Motion of the pose targets of one frame task."""

    def __init__(self) -> None:
        """Start without a target."""
        self._times = MessageTimes()
        self.reset()

    @property
    def moves(self) -> bool:
        """True where the target is known to move."""
        return not all(part.rests for part in self._parts)

    def reset(self) -> None:
        """Forget every target."""
        self._times.reset()
        self._parts = _VectorMotion(), _VectorMotion()
        self._rate = 0.0
        self._pose: Sequence[float] | None = None
        self._last: Sequence[float] = ()
        self._time = self._heard = -math.inf

    def add(
        self,
        pose: Sequence[float],
        received: float,
        stamp: float | None,
        speeds: tuple[float, float],
        accelerations: tuple[float, float],
    ) -> bool:
        """Take the pose of a message; return whether it is newer than the one before.

        Args:
            pose: Seven numbers.
            received: Time of receipt [s].
            stamp: Time on the clock of the sender [s], None for none.
            speeds: Largest linear and angular speed [m/s, rad/s].
            accelerations: Largest linear and angular acceleration [m/s^2, rad/s^2].
        """
        if stamp is None and self._is_twice(pose, received):
            return True
        self._heard = received
        time = self._times.add(received, stamp)
        if time is None:
            return False
        interval, period = time - self._time, self._times.period
        if self._pose is None or not 0.0 < interval <= _SILENCE * period:
            self._parts = _VectorMotion(), _VectorMotion()
            self._pose = pose
        else:
            moved = float_difference(pose, self._last)
            curved, gains = _CURVED * period, _Gains(period)
            ways = (part.way(interval, curved) for part in self._parts)
            predicted = float_moved(self._pose, *ways)
            errors = float_difference(pose, predicted)
            shifts = []
            for part, error, way, *most in zip(
                self._parts, errors, moved, speeds, accelerations, strict=True
            ):
                part.pass_time(interval, curved, self._rate)
                shifts.append(part.correct(error, way, interval, gains, *most))
            self._rate = gains.rate
            self._pose = float_unit(float_moved(predicted, *shifts)) if self.moves else pose
        self._last, self._time = pose, time
        return True

    def at(self, now: float) -> Sequence[float]:
        """Return the pose at a time, seven numbers."""
        assert self._pose is not None
        if not self.moves:
            return self._pose
        period = self._times.period
        # Clocks differ by a mean: a message may seem to be of the time after this one.
        since = min(max(now - self._time, -period), _SILENCE * period)
        curved = _CURVED * period
        ways = (
            float_less(part.way(since, curved), part.offset(since, self._rate))
            for part in self._parts
        )
        return float_unit(float_moved(self._pose, *ways))

    def _is_twice(self, pose: Sequence[float], received: float) -> bool:
        """Return whether a message without a stamp is the one before once more."""
        if self._pose is None or received - self._heard >= _TWICE * self._times.period:
            return False
        return max(map(float_length, float_difference(pose, self._last))) <= _SAME


def _bounded(vector: Vector, most: float) -> Vector:
    """Return a vector shortened to a length."""
    length = float_length(vector)
    return vector if length <= most else float_scaled(vector, most / length)

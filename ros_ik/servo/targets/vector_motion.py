# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Estimated motion of a position or an orientation from noisy messages.

Between two messages, T apart, an estimate is extrapolated. Each message z corrects position p,
velocity v and acceleration a by the prediction error e (fading-memory filters, Morrison 1969):

    e = z - p,    p <- p + alpha e,    v <- v + beta e / T,    a <- a + 2 gamma e / T^2
    alpha = 1 - f^3,    beta = 3/2 (1 - f)^2 (1 + f),    gamma = (1 - f)^3 / 2

with f = exp(-T / m) for a memory m. Several estimates run in parallel: with different memories,
and one for a target at rest, with v = a = 0 and alpha = 1 - f. The one with the smallest recent
errors is used: one with a short memory for a target that moves without noise, one with a longer
memory, or the one at rest, for noisy targets.

Corrections are blended in, because otherwise each message would cause a jerk. The output is p - o,
where the offset o compensates the jumps of p, v and a and decays by (d/dt + w)^3 o = 0, from the
time of the last output on, which may be before or after the time of the message.

An error is a manoeuvre (a start, a stop or a step) if neither an acceleration within the limits
nor the noise so far explains it, or if the target stayed where it was although it was predicted to
move. The estimates then restart at the message, without an offset. They restart with zero velocity
if the target stayed where it was, started from rest, or moves faster than the speed limit.

After a stop between two messages, the first one looks like that of a target that slows down, which
is no manoeuvre. The offset of a target that suddenly slows down decays faster. If that message is
the first one after a start, it switches to no other estimate. The one at rest would have the
smallest error so far, and its offset would decay slowly.

In the mean of earlier errors, the noise, starts from rest do not count. If a message repeats the
pose of the one before, neither does the error of that one, because a stop may have caused it.

A target that comes to rest gently is no manoeuvre: an offset is left, which decays while it rests.
If it starts again before that, the offset includes its first displacement.
"""

from __future__ import annotations

from collections.abc import Callable
import enum
import math
from typing import NamedTuple

from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import float_less
from ros_ik.servo.motion.pose_math import float_scaled
from ros_ik.servo.motion.pose_math import float_sum
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO

# Position [m or rad], velocity and acceleration.
State = tuple[Vector, Vector, Vector]

# Memory of each estimate [s] and factor on the decay rate of its offset. The last is for a target
# at rest.
_ESTIMATES = (0.02, 1.0), (0.06, 2.0), (0.12, 3.0), (0.4, 1.0)
# Decay per message of the sum of squared errors. Ratios of these sums below which the output
# switches to an estimate with a shorter or a longer memory.
_ERROR_DECAY, _SWITCH_TO_SHORTER, _SWITCH_TO_LONGER = 0.85, 0.7, 0.95
# Minimum and maximum of w T, and the period above which it grows with the square root of the
# period [s]. Maximum of w m, because a faster decay would pass on the noise that the memory
# filters.
_DECAY, _MAX_DECAY, _SLOW_PERIOD = 0.5, 1.0, 0.033
_MAX_DECAY_OF_MEMORY = 4.0
# Largest error due to noise, relative to the mean of earlier errors, and weight of an error in
# that mean. Manoeuvres have a smaller weight, because one would otherwise hide the next.
_NOISE, _NOISE_WEIGHT, _NOISE_WEIGHT_OF_MANOEUVRES = 4.0, 0.2, 0.05
# A target suddenly slows down if it is behind the prediction by more than this part of the way
# since the previous message, and by more than this multiple of the noise so far. Factor
# on w then: the overshoot at a stop stays below the way of a period, at 10 messages a second too.
_SLOWED, _UNUSUAL, _SLOWING_DECAY = 0.15, 3.0, 2.5
# Number of periods for which the acceleration is extrapolated; it decreases to zero in as many.
_ACCELERATION_PERIODS = 2.0
# Distance [m or rad] up to which poses are equal.
SAME = 1e-9
# Step of differences [s].
_STEP = 1e-3
# State of a target at rest at its last message, and an offset that has decayed.
_AT_REST: State = ZERO, ZERO, ZERO


class _Phase(enum.Enum):
    """Meaning of the last message."""

    # It repeated the one before.
    REST = enum.auto()
    # It restarted the estimates with a motion.
    START = enum.auto()
    # It corrected the estimates, or came from a target that stayed where it was.
    MOTION = enum.auto()


class Gains:
    """Gains of the estimates for one period.

    Attributes:
        period: The period [s].
        acceleration_time: Time for which the acceleration is extrapolated [s].
        rows: alpha, beta / T [1/s], 2 gamma / T^2 [1/s^2] and w [1/s] of each estimate.
    """

    def __init__(self, period: float) -> None:
        """Compute the gains for a period [s]."""
        self.period, self.acceleration_time = period, _ACCELERATION_PERIODS * period
        fades = min(max(_DECAY * math.sqrt(period / _SLOW_PERIOD), _DECAY), _MAX_DECAY) / period
        self.rows = []
        for memory, faster in _ESTIMATES:
            f = math.exp(-period / memory)
            beta = 1.5 * (1.0 - f) ** 2 * (1.0 + f)
            gamma = 0.5 * (1.0 - f) ** 3
            rate = min(faster * fades, _MAX_DECAY_OF_MEMORY / memory)
            self.rows.append((
                1.0 - f**3, beta / period, 2.0 * gamma / (period * period), rate
            ))  # fmt: skip
        self.rows[-1] = 1.0 - f, 0.0, 0.0, rate


class _Estimate:
    """One estimate of the motion, as displacements from the last message.

    Attributes:
        state: Position [m or rad], velocity and acceleration, three numbers each.
        acceleration_time: Time for which this acceleration is extrapolated [s].
        offset: Offset of the output from the state, of the estimate in use.
        offset_start: Time after the last message from which the offset decays [s].
        squares: Decaying sum of its squared errors [m^2 or rad^2].
    """

    def __init__(self) -> None:
        self.begin(ZERO)

    def begin(self, velocity: Vector) -> None:
        """Restart at the last message, with a velocity."""
        self.state: State = ZERO, velocity, ZERO
        self.offset: State = _AT_REST
        self._rate = self.squares = self.offset_start = 0.0
        self.acceleration_time = math.inf

    @property
    def is_settled(self) -> bool:
        """True if the target is at rest at its last message, and no offset is left."""
        return self.state == _AT_REST and self.offset[0] == ZERO

    def position_at(self, time: float) -> Vector:
        """Return the position after a time [s]."""
        constant = self.acceleration_time
        part = 0.5 * time * time if time <= constant else _accelerated(time, constant)[0]
        (x, y, z), (u, v, w), (a, b, c) = self.state
        return x + u * time + a * part, y + v * time + b * part, z + w * time + c * part

    def output_at(self, time: float) -> Vector:
        """Return the output after a time."""
        # Same as the position of :meth:`_offset_at`, rearranged for speed because it runs in each
        # tick.
        rate, since = self._rate, time - self.offset_start
        passed = rate * since
        # An early tick asks for a time slightly before the offset starts; after a jump of the
        # clock, the time may have any value.
        part = math.exp(min(-passed, 1.0))
        of_v = part * since
        of_p, of_a = part + of_v * rate * (1.0 + 0.5 * passed), 0.5 * of_v * since
        of_v *= 1.0 + passed
        (x, y, z), (u, v, w), (a, b, c) = self.offset
        p, q, r = self.position_at(time)
        return (
            p - of_p * x - of_v * u - of_a * a,
            q - of_p * y - of_v * v - of_a * b,
            r - of_p * z - of_v * w - of_a * c,
        )

    def correct(
        self,
        moved: Vector,
        interval: float,
        acceleration_time: float,
        gains: tuple[float, float, float, float],
        limits: tuple[float, float],
    ) -> None:
        """Correct the estimate by a message; see :meth:`VectorMotion.add` and :class:`Gains`."""
        # Written out, because a message corrects up to eight estimates within a tick.
        alpha, beta, gamma, _ = gains
        (x, y, z), (u, v, w), (a, b, c) = self.state
        d, e, f = moved
        of_p, of_v, of_a = _accelerated(interval, self.acceleration_time)
        x = d - x - u * interval - a * of_p
        y = e - y - v * interval - b * of_p
        z = f - z - w * interval - c * of_p
        self.squares = _ERROR_DECAY * self.squares + x * x + y * y + z * z
        alpha -= 1.0
        speed, hardest = limits
        self.state = (
            (alpha * x, alpha * y, alpha * z),
            _bounded(
                u + a * of_v + beta * x, v + b * of_v + beta * y, w + c * of_v + beta * z, speed
            ),
            _bounded(a * of_a + gamma * x, b * of_a + gamma * y, c * of_a + gamma * z, hardest),
        )
        self.acceleration_time = acceleration_time

    def correct_used(
        self,
        moved: Vector,
        interval: float,
        acceleration_time: float,
        gains: tuple[float, float, float, float],
        limits: tuple[float, float],
        seen: float,
    ) -> None:
        """Correct the estimate in use; its offset compensates the correction.

        Args:
            moved: As in :meth:`VectorMotion.add`.
            interval: As there.
            acceleration_time: Time for which the new acceleration is extrapolated [s].
            gains: Gains of this estimate.
            limits: As in :meth:`VectorMotion.add`.
            seen: As there.
        """
        position, velocity, acceleration = self._state_at(interval + seen)
        before = float_less(position, moved), velocity, acceleration
        offset = self._offset_at(interval + seen - self.offset_start)
        self.correct(moved, interval, acceleration_time, gains, limits)
        self.offset = _offset_after_jump(offset, before, self._state_at(seen))
        self._rate, self.offset_start = gains[3], seen

    def offset_from_rest(self, moved: Vector, interval: float, seen: float) -> State:
        """Return the offset of the output from a target at rest at a message.

        See :meth:`VectorMotion.add` for the arguments.
        """
        offset = self._offset_at(interval + seen - self.offset_start)
        position, velocity, acceleration = self._state_at(interval + seen)
        before = float_less(position, moved), velocity, acceleration
        return _offset_after_jump(offset, before, _AT_REST)

    def set_offset(self, offset: State, rate: float, offset_start: float) -> None:
        """Set the offset, with its rate of decay [1/s], and the time from which it decays [s]."""
        self.offset, self._rate, self.offset_start = offset, rate, offset_start

    def continue_from(self, other: _Estimate, rate: float) -> None:
        """Continue from the output of another estimate, with a rate of decay [1/s]."""
        self._rate, self.offset_start = rate, other.offset_start
        before, after = (one._state_at(self.offset_start) for one in (other, self))
        self.offset = _offset_after_jump(other.offset, before, after)

    def transform(self, change: Callable[[Vector], Vector], seen: float) -> None:
        """Express state and offset in other coordinates; see :meth:`VectorMotion.transform`."""
        output = _derivatives(lambda time: change(self.output_at(time)), seen)
        position, velocity, acceleration = self.state
        if velocity == ZERO == acceleration:
            self.state = change(position), ZERO, ZERO
        else:
            self.state = _derivatives(lambda time: change(self.position_at(time)), 0.0)
        if self.offset != _AT_REST:
            self.offset_start = seen
            self.offset = _offset_after_jump(_AT_REST, output, self._state_at(seen))

    def _state_at(self, time: float) -> State:
        """Return the state after a time."""
        _, velocity, acceleration = self.state
        _, of_v, of_a = _accelerated(time, self.acceleration_time)
        return (
            self.position_at(time),
            float_sum(velocity, float_scaled(acceleration, of_v)),
            float_scaled(acceleration, of_a),
        )

    def _offset_at(self, time: float) -> State:
        """Return the offset a time after it began [s]."""
        rate, rows = self._rate, []
        part = math.exp(-rate * time)
        for o, v, a in zip(*self.offset, strict=True):
            # (o + b t + c t^2) exp(-w t) and its derivatives.
            b, c = v + rate * o, 0.5 * (a + rate * (2.0 * v + rate * o))
            p, q = o + time * (b + time * c), b + 2.0 * time * c
            rows.append((
                part * p, part * (q - rate * p), part * (2.0 * (c - rate * q) + rate * rate * p)
            ))  # fmt: skip
        x, y, z = rows
        return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


class _Message(NamedTuple):
    """Arguments of :meth:`VectorMotion.add`."""

    moved: Vector
    interval: float
    gains: Gains
    limits: tuple[float, float]
    seen: float


class VectorMotion:
    """Motion of a position or an orientation, as displacements from the last message.

    Attributes:
        is_new: True if it has been at rest since the start.
    """

    def __init__(self) -> None:
        """Start at rest."""
        self.is_new = True
        self._estimates = [_Estimate() for _ in _ESTIMATES]
        self._used = 0
        self._mean_error, self._phase = 0.0, _Phase.REST
        # Mean error without those of starts from rest, and the same a message earlier.
        self._noise = self._earlier_noise = 0.0

    @property
    def rests(self) -> bool:
        """True if the target is at rest."""
        used = self._estimates[self._used]
        return used.state[1] == ZERO == used.offset[0]

    def at(self, time: float) -> Vector:
        """Return the displacement from the last message [m or rad], a time after it [s]."""
        return self._estimates[self._used].output_at(time)

    def add(
        self,
        moved: Vector,
        interval: float,
        gains: Gains,
        limits: tuple[float, float],
        seen: float,
    ) -> None:
        """Add a message.

        Args:
            moved: Displacement since the previous message [m or rad].
            interval: Time since the previous message [s].
            gains: Gains of the estimates.
            limits: Largest speed [m/s or rad/s] and acceleration [m/s^2 or rad/s^2].
            seen: Time for which the motion was asked last, after that of this message [s].
        """
        used, usual = self._estimates[self._used], self._mean_error
        if moved == ZERO and self._phase is _Phase.REST and used.is_settled:
            # Usual for poses that are sent repeatedly: nothing else would change.
            self._mean_error -= _NOISE_WEIGHT * usual
            self._noise -= _NOISE_WEIGHT * self._noise
            return
        self.is_new = False
        message = _Message(moved, interval, gains, limits, seen)
        missed = float_less(moved, used.position_at(interval))
        error = float_length(missed)
        possible = 0.5 * limits[1] * interval * interval
        length, predicted = float_length(moved), float_length(used.state[1]) * interval
        # A start, and the first message after a stop, must not pass as noise, and so hide a stop.
        noise, earlier = min(usual, self._noise), self._earlier_noise
        most = possible + _NOISE * usual
        is_manoeuvre = error > most
        learnt = _NOISE_WEIGHT_OF_MANOEUVRES if is_manoeuvre else _NOISE_WEIGHT
        self._mean_error += learnt * (min(error, most) - usual)
        self._earlier_noise = self._noise
        if not (self._phase is _Phase.REST and used.is_settled):
            self._noise += learnt * (min(error, most) - self._noise)
        if length <= SAME:
            is_manoeuvre = error > possible + _NOISE * min(noise, earlier)
        # It was predicted to move by more than it did.
        stays = error > max(possible + usual, 2.0 * length) and error < 2.0 * predicted
        stays = stays or length <= SAME
        if stays or is_manoeuvre or self._phase is _Phase.REST:
            self._restart(message, stays, is_manoeuvre)
        else:
            slows = error > _UNUSUAL * noise and _opposes(
                missed, used.state[1], _SLOWED * interval
            )
            self._correct(message, slows)

    def _restart(self, message: _Message, stays: bool, is_manoeuvre: bool) -> None:
        """Restart the estimates at a message.

        Args:
            message: The message.
            stays: True if the target stayed where it was.
            is_manoeuvre: True if neither an acceleration nor noise explains the message.
        """
        moved, interval, gains, (speed, _), seen = message
        used, repeats = self._estimates[self._used], float_length(moved) <= SAME
        rested = self._phase is _Phase.REST
        leaves = rested or (used.state[1] == ZERO and self._phase is not _Phase.START)
        velocity = float_scaled(moved, 1.0 / interval)
        if stays or leaves or float_length(velocity) > speed:
            velocity = ZERO
        offset: State = _AT_REST
        if (used.offset[0] != ZERO if rested else repeats) and not is_manoeuvre:
            offset = used.offset_from_rest(moved, interval, seen)
        *moving, resting = self._estimates
        for estimate in moving:
            estimate.begin(velocity)
        resting.begin(ZERO)
        # The one with the shortest memory.
        self._used = 0
        if float_length(offset[0]) > SAME:
            self._estimates[0].set_offset(offset, gains.rows[0][3], seen)
        if repeats:
            self._phase = _Phase.REST
        else:
            self._phase = _Phase.MOTION if stays else _Phase.START

    def _correct(self, message: _Message, slows: bool) -> None:
        """Correct the estimates by a message, and select one.

        ``slows`` is True if the target suddenly slows down. If it has just started, and still
        moves on, the estimate in use is kept.
        """
        moved, interval, gains, limits, seen = message
        used = self._estimates[self._used]
        keeps = slows and self._phase is _Phase.START and not _opposes(moved, used.state[1], 0.0)
        self._phase = _Phase.MOTION
        for estimate, row in zip(self._estimates, gains.rows, strict=True):
            if estimate is used:
                if slows:
                    row = (*row[:3], _SLOWING_DECAY * row[3])
                estimate.correct_used(moved, interval, gains.acceleration_time, row, limits, seen)
            else:
                estimate.correct(moved, interval, gains.acceleration_time, row, limits)
        if not keeps:
            self._choose(gains)

    def transform(self, change: Callable[[Vector], Vector], seen: float) -> None:
        """Express the motion in other coordinates, without a step of its acceleration.

        Args:
            change: Function of a displacement from the last message that returns it in the other
                coordinates.
            seen: As in :meth:`add`.
        """
        self.is_new = False
        for estimate in self._estimates:
            estimate.transform(change, seen)

    def _choose(self, gains: Gains) -> None:
        """Select the estimate to use."""
        squares = [estimate.squares for estimate in self._estimates]
        best, used = squares.index(min(squares)), self._used
        switch = _SWITCH_TO_LONGER if best > used else _SWITCH_TO_SHORTER
        if squares[best] < switch * squares[used]:
            rate = gains.rows[best][3]
            self._estimates[best].continue_from(self._estimates[used], rate)
            self._used = best


def _accelerated(time: float, constant: float) -> tuple[float, float, float]:
    """Return the distance, speed and acceleration that result from an acceleration of 1.

    It is constant for a time, and then decreases to zero in the same time: if it ended at once,
    each lost message would cause a jerk.

    Args:
        time: Time since it began [s].
        constant: Time for which it is constant [s].
    """
    if time <= constant:
        return 0.5 * time * time, time, 1.0
    late = min(time, 2.0 * constant) - constant
    of_a = 1.0 - late / constant
    of_v = constant + late - 0.5 * late * late / constant
    of_p = 0.5 * constant * constant
    of_p += late * (constant + 0.5 * late - late * late / (6.0 * constant))
    return of_p + of_v * max(time - 2.0 * constant, 0.0), of_v, of_a


def _opposes(missed: Vector, velocity: Vector, time: float) -> bool:
    """Return True if a vector is opposite to a velocity, and longer than its way in a time."""
    (x, y, z), (u, v, w) = missed, velocity
    return -(x * u + y * v + z * w) > time * (u * u + v * v + w * w)


def _derivatives(position: Callable[[float], Vector], time: float) -> State:
    """Return the position at a time, and its first two derivatives by differences."""
    before, at, after = (position(time + step) for step in (-_STEP, 0.0, _STEP))
    change = float_less(float_sum(before, after), float_scaled(at, 2.0))
    velocity = float_scaled(float_less(after, before), 0.5 / _STEP)
    return at, velocity, float_scaled(change, 1.0 / _STEP**2)


def _bounded(x: float, y: float, z: float, most: float) -> Vector:
    """Return a vector limited to a length."""
    length = math.sqrt(x * x + y * y + z * z)
    if length <= most:
        return x, y, z
    part = most / length
    return x * part, y * part, z * part


def _offset_after_jump(offset: State, before: State, after: State) -> State:
    """Return the offset that compensates a jump from one state to another."""
    (p, v, a), (old_p, old_v, old_a), (new_p, new_v, new_a) = offset, before, after
    return (
        float_sum(p, float_less(new_p, old_p)),
        float_sum(v, float_less(new_v, old_v)),
        float_sum(a, float_less(new_a, old_a)),
    )

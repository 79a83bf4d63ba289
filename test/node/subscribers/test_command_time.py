# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ages of commands by their receipt or their stamps, on a clock other than that of the servo."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from ros_ik.node.subscribers.command_time import CommandTime  # noqa: E402
from ros_ik.node.transport.cdr_readers import Stamp  # noqa: E402
from ros_ik.node.transport.mailbox import Mailbox  # noqa: E402
from ros_ik.settings import read_settings  # noqa: E402

# Clock of the servo [s], that of the stamps, and the timeout [s].
NOW, SECONDS, NANOSECONDS, TIMEOUT = 1000.0, 1_700_000_000, 250_000_000, 0.5


def time_of(stamp, source='header'):
    """Return the time from which the age of a command with a stamp is counted."""
    settings = source and read_settings(
        {'ee.frame': 'x', 'command_time_source': source, 'command_timeout': TIMEOUT}
    )
    clock = SimpleNamespace(
        now=lambda: SimpleNamespace(nanoseconds=SECONDS * 1_000_000_000 + NANOSECONDS)
    )
    return CommandTime(lambda: NOW, clock, Mailbox(settings)).time(stamp)


def test_the_age_is_that_of_the_stamp():
    # A quarter of a second lies between the nanoseconds, or beyond a second.
    assert time_of(Stamp(SECONDS, 0)) == pytest.approx(NOW - 0.25, abs=1e-9)
    assert time_of(Stamp(SECONDS - 1, 999_999_999)) == pytest.approx(NOW - 0.25, abs=2e-9)
    assert time_of(Stamp(SECONDS, NANOSECONDS)) == NOW


def test_a_command_older_than_the_timeout_has_no_time():
    assert time_of(Stamp(SECONDS - 1, 750_000_000)) == NOW - TIMEOUT
    assert time_of(Stamp(SECONDS - 1, 749_999_999)) is None
    assert time_of(Stamp(1, 0)) is None


def test_a_stamp_of_the_future_counts_as_now():
    assert time_of(Stamp(SECONDS, NANOSECONDS + 1)) == NOW
    assert time_of(Stamp(SECONDS + 1000, 0)) == NOW


@pytest.mark.parametrize('stamp', [Stamp(1, 0), Stamp(SECONDS + 9, 0), Stamp(0, 0)])
def test_without_stamps_the_receipt_counts(stamp):
    assert time_of(stamp, 'receive') == NOW
    # Before there are settings, too.
    assert time_of(stamp, None) == NOW


def test_a_stamp_of_zero_is_no_stamp():
    assert time_of(Stamp(0, 0)) == NOW
    # A nanosecond after it is one, from long ago.
    assert time_of(Stamp(0, 1)) is None

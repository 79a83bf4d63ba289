# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of ticks: five in a row release the servo, and the text names the device."""

from ros_ik.node.control.tick_faults import TickFaults


def test_the_fifth_failed_tick_in_a_row_releases_the_servo():
    faults = TickFaults()
    for failed in (4, 4, 5):
        faults.note_success()
        assert faults.failures == 0
        for count in range(1, failed + 1):
            assert faults.to_release is None
            faults.note_tick('servo', 'cuda:0', ValueError('lost'))
            assert faults.failures == count
    assert faults.to_release == 'servo'
    faults.begin_tick('servo')
    assert faults.to_release == 'servo'
    for other in (None, 'another one'):
        faults.note_tick('servo', 'cuda:0', ValueError('lost'))
        faults.begin_tick(other)
        assert faults.to_release is None
    assert faults.latest == (15, 'a tick failed on cuda:0: ValueError: lost')


def test_a_topic_that_cannot_be_read_without_a_servo_releases_nothing():
    faults = TickFaults()
    assert faults.latest == (0, '')
    for _ in range(10):
        faults.note_reading(KeyError('unforeseen'))
    assert faults.latest == (10, "reading a topic failed: KeyError: 'unforeseen'")
    assert (faults.failures, faults.to_release) == (0, None)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mailboxes: no change of another thread is lost, and readers do not wait."""

import threading

import pytest

from ros_ik.node.transport.mailbox import Mailbox

# Time in which a writer that does not wait has written [s], and longest wait of the test.
SHORT, LONG = 0.05, 30.0


@pytest.mark.parametrize(
    ('write', 'expected'),
    [
        (lambda box: box.update(lambda value: (*value, 'second')), ('first', 'second')),
        (lambda box: box.put(('put',)), ('put',)),
    ],
    ids=['update', 'put'],
)
def test_a_writer_waits_for_the_change_of_another_and_a_reader_does_not(write, expected):
    box, begun, may_end = Mailbox(()), threading.Event(), threading.Event()

    def change(value):
        begun.set()
        assert may_end.wait(LONG)
        return (*value, 'first')

    writers = [
        threading.Thread(target=box.update, args=(change,)),
        threading.Thread(target=write, args=(box,)),
    ]
    writers[0].start()
    assert begun.wait(LONG)
    writers[1].start()
    writers[1].join(SHORT)
    seen = box.get()
    may_end.set()
    for writer in writers:
        writer.join(LONG)
    assert seen == ()
    assert box.get() == expected


def test_an_update_returns_the_new_value():
    box = Mailbox(1)
    assert box.update(lambda value: value + 1) == box.get() == 2

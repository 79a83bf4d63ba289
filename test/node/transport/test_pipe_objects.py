# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objects on a pipe whose other end may close at any byte."""

import io
import os

from ros_ik.node.transport.pipe_objects import is_closed
from ros_ik.node.transport.pipe_objects import read_object
from ros_ik.node.transport.pipe_objects import write_object


def test_objects_are_read_up_to_the_last_whole_one():
    pipe, ends = io.BytesIO(), []
    for value in ({'a': (1, 2.0)}, b'x' * 100):
        write_object(pipe, value)
        ends.append(pipe.tell())
    for end in range(ends[1] + 1):
        cut = io.BytesIO(pipe.getvalue()[:end])
        found = [read_object(cut), read_object(cut)]
        assert found[0] == ({'a': (1, 2.0)} if end >= ends[0] else None)
        assert found[1] == (b'x' * 100 if end == ends[1] else None)
        assert read_object(cut) is None


def test_a_pipe_is_closed_even_if_objects_wait_on_it():
    end, other = os.pipe()
    with open(end, 'rb') as pipe:
        with open(other, 'wb') as sink:
            assert not is_closed(pipe)
            write_object(sink, 'something')
            assert not is_closed(pipe)
        assert is_closed(pipe)
        assert read_object(pipe) == 'something' and read_object(pipe) is None

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The process that forks programs for the tests ends with the program that asks it."""

import json
import socket

import pytest
from support.processes import process_forks

QUESTION = json.dumps({'poll': 1}).encode()


@pytest.mark.timeout(20)
@pytest.mark.parametrize('sent', [b'', QUESTION[:3]], ids=['no question', 'part of one'])
def test_it_ends_where_the_other_end_was_killed_while_it_asked(sent):
    link, other = socket.socketpair()
    other.sendall(len(QUESTION).to_bytes(4, 'little') + sent)
    other.close()
    with link:
        assert process_forks._serve(link) is None

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A connection while the server of the page is made, as of a browser that was left open."""

import threading

import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.rigs.viewer_rig import free_port
import viser
from viser.infra import WebsockServer
from websockets.sync.client import connect

from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.page import Page


@pytest.mark.timeout(60)
def test_it_waits_and_gets_the_page(monkeypatch):
    port, received = free_port(), []
    start, is_connected = WebsockServer.start, threading.Event()

    def visit():
        address, protocol = f'ws://127.0.0.1:{port}', f'viser-v{viser.__version__}'
        with connect(address, subprotocols=[protocol], max_size=None) as connection:
            is_connected.set()
            received.append(connection.recv(timeout=20.0))

    visitor = threading.Thread(target=visit)

    def start_late(server):
        start(server)
        visitor.start()
        assert is_connected.wait(10.0)
        # The server is not made yet; without waiting, it would fail now.
        visitor.join(0.5)
        assert not received

    monkeypatch.setattr(WebsockServer, 'start', start_late)
    page = Page('127.0.0.1', port, Requests())
    try:
        visitor.join(20.0)
        assert len(received) == 1
    finally:
        page.close()

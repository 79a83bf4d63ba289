# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The page: its server, its panels, and content that does not depend on the robot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import io
import re
import socket
import threading
from typing import Any

import viser
import websockets.asyncio.server

from ros_ik.viewer.client.service_calls import MODES
from ros_ik.viewer.gui.focus import return_keys
from ros_ik.viewer.gui.jog import Jog
from ros_ik.viewer.gui.parameter_panel import ParameterPanel
from ros_ik.viewer.gui.plots import Plots
from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.gui.show_controls import ShowControls
from ros_ik.viewer.obstacles.obstacles import Obstacles
from ros_ik.viewer.scene.lights_and_floor import LightsAndFloor

_LOCAL_HOSTS = ('127.0.0.1', 'localhost', '::1')
# Longest wait of a connection for the server, in steps of so many seconds.
_WAITS, _WAIT = 1000, 0.01
_LOCAL_ORIGIN = re.compile(r'http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?')
HELP = """\
| mouse | does |
|---|---|
| drag an arrow, square or ring | move or turn the target; hold it until the robot arrives |
| drag anywhere else | turn the view |
| drag with the right button | shift the view |
| wheel | zoom |

| key | does |
|---|---|
| S | stop |
| P, O | pause, resume |
| R | reset |
| I, K | move along + x, - x |
| J, L | move along + y, - y |
| U, M | move along + z, - z |
| Shift with these | turn about that axis |
| Ctrl-K | list of every command |

Keys do nothing while the cursor is in an input; click the scene first.
A key moves while it is held and for 0.25 s after you let go. Speeds and task are those under
*Velocity*.
"""
# Mode in which nodes start.
_FIRST_MODE = 'auto'
_STOP_COLOR = (200, 30, 0)
# Widths of the panel with the stop button, and of the other one [pixels].
_STOP_WIDTH, _PANEL_WIDTH, _GAP = 230, 340, 12


@contextlib.contextmanager
def _guarded_connections(host: str) -> Iterator[None]:
    """Make a server created within this context reject pages of other sites, and others wait.

    Any page open in a browser of this machine may connect to the server. viser does not check the
    origin of a connection, but the library below it can. viser also accepts connections before it
    can serve them, such as those of pages that were left open; they wait for the end of this
    context.

    Args:
        host: Address to listen on. Names are checked only for addresses of this machine.
    """
    serve, is_made = websockets.asyncio.server.serve, threading.Event()

    def guarded(
        handler: Callable[[Any], Awaitable[None]], *args: Any, **options: Any
    ) -> websockets.asyncio.server.serve:
        async def serve_once_made(connection: Any) -> None:
            for _ in range(_WAITS):
                if is_made.is_set():
                    await handler(connection)
                    return
                await asyncio.sleep(_WAIT)

        if host in _LOCAL_HOSTS:
            # Programs other than browsers send no origin.
            options['origins'] = [None, _LOCAL_ORIGIN]
        return serve(serve_once_made, *args, **options)

    websockets.asyncio.server.serve = guarded  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # type: ignore[misc]
        is_made.set()


def _check_host(host: str) -> None:
    """Raise the OSError of an address that cannot be bound, for which viser would wait forever."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.bind(address)


class _LocalServer(viser.ViserServer):
    """A server without public share URLs."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse to create a public URL, because the page moves a robot."""
        return None


class Page:
    """The page of one viewer.

    Attributes:
        server: Server of the scene and the panels.
        requests: Requests of users.
        address: URL of the page.
        lights_and_floor: Light and floor.
        mode: Kind of targets that the node follows.
        show: Switches of drawn elements.
        jog: Joint targets and velocities of users.
        obstacles: Obstacles placed by users.
        plots: Plots of the last seconds.
        parameters: Inputs for parameters of the node.
    """

    def __init__(self, host: str, port: int, requests: Requests) -> None:
        """Start the server.

        Args:
            host: Address to listen on.
            port: The port, or the first free one above it.
            requests: Queue for the requests of users.

        Raises:
            OSError: The host is not an address of this machine, or no port is free.
        """
        _check_host(host)
        # Suppress the greeting of viser; the viewer prints the address itself.
        with contextlib.redirect_stdout(io.StringIO()):
            with _guarded_connections(host):
                self.server = _LocalServer(host=host, port=port, label='ros_ik', verbose=False)
        self.requests = requests
        name = self.server.get_host()
        name = f'[{name}]' if ':' in name else name
        self.address = f'http://{name}:{self.server.get_port()}'
        self.server.on_client_disconnect(self._on_disconnect)
        self.lights_and_floor = LightsAndFloor(self.server)
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.float(x=-_GAP, y=_GAP, width=_PANEL_WIDTH)
        panel = gui.add_panel()
        # Messages of the library appear above it.
        panel.float(x=_GAP, y=-_GAP, width=_STOP_WIDTH)
        with panel.add_tab('Motion'):
            self._button('stop', 'STOP (S)', 'S', color=_STOP_COLOR)
            self._button('pause', 'Pause (P)', 'P')
            self._button('resume', 'Resume (O)', 'O')
            self._button('reset', 'Reset (R)', 'R')
            self.mode = gui.add_dropdown(
                'mode', tuple(MODES), initial_value=_FIRST_MODE, hint='Kind of targets to follow.'
            )

        async def on_mode(event: viser.GuiEvent) -> None:
            # Without a client, the viewer itself shows the mode of a new node.
            if event.client is not None:
                self.requests.add('mode', self.mode.value)

        self.mode.on_update(on_mode)
        return_keys(self.mode)
        self._status = gui.add_html('')
        self._answer = gui.add_html('')
        self._shown = '', ''
        tabs = gui.add_tab_group()
        with tabs.add_tab('Control'):
            self.show = ShowControls(self.server, self.lights_and_floor.cast_shadows)
            self.jog = Jog(self.server, requests)
            self.obstacles = Obstacles(self.server)
        with tabs.add_tab('Plots'):
            self.plots = Plots(self.server)
            return_keys(self.plots.is_wanted)
        with tabs.add_tab('Parameters'):
            self.parameters = ParameterPanel(self.server, requests)
        with tabs.add_tab('Help'):
            gui.add_markdown(HELP)
        self.server.scene.world_axes.visible = False

    @property
    def is_watched(self) -> bool:
        """True while a browser shows the page."""
        return bool(self.server.get_clients())

    def show_status(self, status: str, answer: str) -> None:
        """Show the status and the last answer of the node, as HTML."""
        if status != self._shown[0]:
            self._status.content = status
        if answer != self._shown[1]:
            self._answer.content = answer
        self._shown = status, answer

    def look_at(self, center: tuple[float, float, float], distance: float) -> None:
        """Set the initial camera to look at a point from a distance [m]."""
        x, y, z = center
        camera = self.server.initial_camera
        camera.position = x + 0.8 * distance, y + 0.45 * distance, z + 0.4 * distance
        camera.look_at = x, y, z
        for client in self.server.get_clients().values():
            client.camera.position = camera.position
            client.camera.look_at = camera.look_at

    def forget_node(self) -> None:
        """Release the joint target, and show the mode in which nodes start."""
        self.requests.release_joints()
        self.jog.withdraw()
        if self.mode.value != _FIRST_MODE:
            self.mode.value = _FIRST_MODE  # type: ignore[misc]

    def press(self, kind: str) -> None:
        """Act as a button: stop, pause, resume or reset."""
        if kind != 'resume':
            self.requests.release_all()
            self.jog.withdraw()
        self.requests.add(kind)

    @property
    def status(self) -> str:
        """The shown status, as HTML."""
        return self._shown[0]

    def close(self) -> None:
        """Stop the server."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def _button(self, kind: str, label: str, key: Any, **look: Any) -> None:
        """Add a button for a request, with a keyboard shortcut."""

        # A coroutine runs at once, in the thread of the browser connections.
        async def ask(event: object) -> None:
            self.press(kind)

        self.server.gui.add_button(label, **look).on_click(ask)
        self.server.gui.add_command(label, hotkey=key).on_trigger(ask)

    async def _on_disconnect(self, client: viser.ClientHandle) -> None:
        self.requests.release_client(client.client_id)
        self.jog.withdraw(client.client_id)

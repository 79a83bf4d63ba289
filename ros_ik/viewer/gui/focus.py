# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Focus of the inputs of the page: while one has it, viser ignores keys, that of STOP included."""

from __future__ import annotations

import asyncio

import viser

# Time for which an input is disabled [s]: browsers move the focus with the next picture, for which
# they need up to 0.2 s without a graphics card.
_DISABLED_TIME = 0.5


def return_keys(*inputs: viser.GuiInputHandle) -> None:
    """Make checkboxes and dropdowns lose the focus after each change by a user."""

    async def release(event: viser.GuiEvent) -> None:
        if event.client is not None:
            event.target.disabled = True
            await asyncio.sleep(_DISABLED_TIME)
            event.target.disabled = False

    for handle in inputs:
        handle.on_update(release)

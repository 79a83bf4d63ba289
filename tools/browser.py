# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium for tests and measurements of the viewer's page."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import importlib.util
import os
from pathlib import Path
import shutil
from typing import Any

# Drawn by the processor where there is no graphics card; nothing of the browser's own goes out.
_SWITCHES = (
    '--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-quic', '--no-first-run',
    '--disable-renderer-backgrounding', '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
)  # fmt: skip


def missing() -> str:
    """Return what a browser lacks on this machine and how to get it, or ''."""
    if importlib.util.find_spec('selenium') is None:
        return 'selenium is not installed: pip install selenium'
    if not _program() or not shutil.which('chromedriver'):
        return 'no browser: apt install chromium chromium-driver'
    return ''


@contextlib.contextmanager
def browser(width: int, height: int) -> Iterator[Any]:
    """Yield the driver of a browser with an empty profile, and end it afterwards.

    Args:
        width: Width of its window [pixels].
        height: Height of its window.
    """
    from selenium import webdriver  # noqa: PLC0415
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    options.binary_location = _program()
    for switch in (*_SWITCHES, f'--window-size={width},{height}'):
        options.add_argument(switch)
    page = webdriver.Chrome(options=options, service=Service(shutil.which('chromedriver')))
    try:
        yield page
    finally:
        page.quit()


def frames_drawn(page: Any) -> int:
    """Return how many pictures the scene of an open page has been drawn in."""
    return int(
        page.execute_script('return window.__viserTestpoints?.rendererInfo.render.frame ?? 0')
    )


def processor_time(page: Any, kind: str) -> float:
    """Return the processor time that the processes of an open page have taken [s].

    Args:
        page: Driver of the browser.
        kind: Their type in Chromium: 'renderer' runs the page, 'gpu-process' draws it.
    """
    parents, ticks = {}, {}
    for folder in Path('/proc').glob('[0-9]*'):
        try:
            arguments = (folder / 'cmdline').read_text()
            # The name of a process may hold spaces; then come state and parent, and as fields
            # 14 and 15 user and system time.
            fields = (folder / 'stat').read_text().rpartition(')')[2].split()
        except OSError:
            continue  # It has ended meanwhile.
        parents[int(folder.name)] = int(fields[1])
        if f'--type={kind}' in arguments:
            ticks[int(folder.name)] = int(fields[11]) + int(fields[12])
    driver = page.service.process.pid
    of_page = [spent for process, spent in ticks.items() if _descends(process, driver, parents)]
    return sum(of_page) / os.sysconf('SC_CLK_TCK')


def _descends(process: int, ancestor: int, parents: dict[int, int]) -> bool:
    while process not in (ancestor, 0):
        process = parents.get(process, 0)
    return process == ancestor


def _program() -> str:
    return shutil.which('chromium') or shutil.which('google-chrome') or ''

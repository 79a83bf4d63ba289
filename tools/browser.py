# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium for tests and measurements of the viewer's page."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import importlib.util
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
    """Return what a browser lacks on this machine and how to get it, '' for nothing."""
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


def _program() -> str:
    return shutil.which('chromium') or shutil.which('google-chrome') or ''

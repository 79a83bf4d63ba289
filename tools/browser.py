# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium for tests and measurements of the viewer's page."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import importlib.util
from pathlib import Path
import shutil
from typing import Any

from tools.process_stat import process_stats
from tools.process_stat import ProcessStat

# Drawn by the graphics card. Where there is none, the processor draws: by Mesa, or by SwiftShader,
# which takes twice the time, where there is no Mesa. Nothing of the browser's own goes out.
_SWITCHES = (
    '--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--use-angle=gl-egl',
    '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-quic', '--no-first-run',
    '--disable-renderer-backgrounding', '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
)  # fmt: skip
_RENDERER = """
const drawing = document.createElement('canvas').getContext('webgl2');
const names = drawing?.getExtension('WEBGL_debug_renderer_info');
return names ? drawing.getParameter(names.UNMASKED_RENDERER_WEBGL) : 'an unknown renderer';
"""


def missing() -> str:
    """Return what a browser lacks on this machine and how to get it, or ''."""
    if importlib.util.find_spec('selenium') is None:
        return 'selenium is not installed: pip install selenium'
    if not _program() or not shutil.which('chromedriver'):
        return 'no browser: apt install chromium chromium-driver'
    return ''


@contextlib.contextmanager
def browser(width: int, height: int, *switches: str) -> Iterator[Any]:
    """Yield the driver of a browser with an empty profile, and end it afterwards.

    Args:
        width: Width of its window [pixels].
        height: Height of its window.
        switches: More switches of its command line.
    """
    from selenium import webdriver  # noqa: PLC0415
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    options.binary_location = _program()
    for switch in (*_SWITCHES, *switches, f'--window-size={width},{height}'):
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


def meshes_drawn(page: Any) -> int:
    """Return how many meshes the scene of an open page holds, those of the floor included."""
    return int(
        page.execute_script('return window.__viserTestpoints?.rendererInfo.memory.geometries ?? 0')
    )


def renderer(page: Any) -> str:
    """Return the name of what draws an open page: a graphics card, Mesa or SwiftShader."""
    return str(page.execute_script(_RENDERER))


def processor_time(page: Any, kind: str) -> float:
    """Return the processor time that the processes of an open page have taken [s].

    Args:
        page: Driver of the browser.
        kind: Their type in Chromium: 'renderer' runs the page, 'gpu-process' draws it.
    """
    stats, driver = process_stats(), page.service.process.pid
    return sum(
        stat.processor_time
        for process, stat in stats.items()
        if _descends(process, driver, stats) and f'--type={kind}' in _arguments(process)
    )


def _descends(process: int, ancestor: int, stats: Mapping[int, ProcessStat]) -> bool:
    while process != ancestor and process in stats:
        process = stats[process].parent
    return process == ancestor


def _arguments(process: int) -> str:
    try:
        return Path(f'/proc/{process}/cmdline').read_text()
    except OSError:  # It has ended meanwhile.
        return ''


def _program() -> str:
    return shutil.which('chromium') or shutil.which('google-chrome') or ''

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Options of command lines for the control loop, checked as the node checks its parameters."""

from __future__ import annotations

import argparse

from ros_ik.errors import RosIkError
from ros_ik.node.execution.warp_programs import prepare_warp
from ros_ik.node.model_loading.devices import choose_device
from ros_ik.settings import read_settings


def add_loop_options(
    parser: argparse.ArgumentParser, rate: float | None, device: str | None
) -> None:
    """Add the options ``--device`` and ``--rate``, which refuse what the node would refuse.

    Args:
        parser: Parser of the command line.
        rate: Default of the rate [Hz]; None for that of the node's parameters.
        device: Default of the device; None for that of the node's parameters.
    """
    parser.add_argument(
        '--device', type=_device, default=device, help="'auto' (the default), 'cpu' or 'cuda:N'"
    )
    parser.add_argument(
        '--rate', type=_rate, default=rate, help='rate of the control loop [Hz], 100 by default'
    )


def _rate(text: str) -> float:
    """Return the rate of the control loop [Hz]."""
    try:
        rate = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'expected a number, got {text!r}') from None
    _check('control_rate', rate)
    return rate


def _device(text: str) -> str:
    """Return a device that works here."""
    # Looking for devices starts Warp.
    prepare_warp()
    _check('device', text)
    try:
        choose_device(text)
    except RosIkError as error:
        raise _refusal('device', error) from error
    return text


def _check(parameter: str, value: object) -> None:
    """Refuse a value that the node would refuse for its parameter."""
    try:
        read_settings({'ee.frame': 'link', parameter: value})
    except RosIkError as error:
        raise _refusal(parameter, error) from error


def _refusal(parameter: str, error: RosIkError) -> argparse.ArgumentTypeError:
    """Return the error of an option, without the name of the parameter behind it."""
    return argparse.ArgumentTypeError(str(error).removeprefix(f"parameter '{parameter}': "))

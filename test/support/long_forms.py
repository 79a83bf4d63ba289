# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Short forms of tests with many cases, whose long forms ``make stress`` runs."""

import itertools
import os

# Set by ``make stress``.
LONG = os.environ.get('LONG_FORMS', '') not in ('', '0')


def either(short, long):
    """Return the number or the list of cases of this run."""
    return long if LONG else short


def in_turn(*axes):
    """Return the cases of a grid; in the short form each value of each axis is in one of them."""
    if LONG:
        return list(itertools.product(*axes))
    longest = max(map(len, axes))
    return [tuple(axis[k % len(axis)] for axis in axes) for k in range(longest)]


def in_pairs(*axes):
    """Return the cases of a grid; in the short form each pair of values is in one of them."""
    if LONG:
        return list(itertools.product(*axes))
    places = list(itertools.product(*(range(len(axis)) for axis in axes)))
    chosen, missing = [], set().union(*map(_pairs, places))
    while missing:
        chosen.append(max(places, key=lambda case: len(_pairs(case) & missing)))
        missing -= _pairs(chosen[-1])
    return [tuple(axis[k] for axis, k in zip(axes, case, strict=True)) for case in chosen]


def _pairs(case):
    """Return the pairs of values of a case, each with its axes."""
    return set(itertools.combinations(enumerate(case), 2))

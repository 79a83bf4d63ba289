# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Colours of the page as colour-blind eyes see them: simulations by Machado et al. (2009).

ColorAide simulates and measures; the pictures of docs/viewer.md were looked at as well.
"""

import itertools

import numpy as np
import pytest

pytest.importorskip('coloraide', reason='coloraide, the oracle, is not installed')

import coloraide

from ros_ik.viewer.robot import palette

# Least distance (CIEDE2000) of colours with different meanings; 1 is just noticed side by side.
MIN_DISTANCE = 10.0
VISIONS = None, 'protan', 'deutan', 'tritan'
WHITE = (255, 255, 255)
LINK = palette.LINK.color


def seen(color, vision):
    """Return a colour, 0 to 255 [3], as eyes of a kind see it."""
    given = coloraide.Color('srgb', [value / 255.0 for value in color])
    if vision is None:
        return given
    return given.filter(vision, 1.0, method='machado', out_space='srgb').clip()


def distance(one, other, vision):
    return seen(one, vision).delta_e(seen(other, vision), method='2000')


def over(fill, background):
    """Return the colour of a translucent surface in front of a background [3]."""
    return fill.opacity * np.array(fill.color) + (1.0 - fill.opacity) * np.array(background)


def pair_color(room):
    return palette.pair_colors(np.array([room]))[0]


SHEER = {name: getattr(palette, name) for name in ('GHOST', 'OWN_OBSTACLE', 'COLLISION_SHAPE')}
GROUPS = {
    'surfaces on the white floor': {
        'white': WHITE,
        'link': LINK,
        'obstacle of others': over(palette.OTHER_OBSTACLE, WHITE),
        **{name: over(fill, WHITE) for name, fill in SHEER.items()},
    },
    'surfaces in front of a link': {
        'link': LINK,
        **{name: over(fill, LINK) for name, fill in SHEER.items()},
    },
    'lines': {
        'white': WHITE,
        'link': LINK,
        **{name: getattr(palette, name) for name in ('FRAME_TRAIL', 'TARGET_TRAIL', 'WORKSPACE')},
    },
    'closest pairs': {
        'white': WHITE,
        'link': LINK,
        'workspace': palette.WORKSPACE,
        **{f'{room} left': pair_color(room) for room in (0.0, 0.5, 1.0)},
    },
    'status': {
        'white': WHITE,
        **{name: getattr(palette, name) for name in ('GOOD', 'HELD', 'BAD')},
    },
    'curves': {'white': WHITE, **dict(enumerate(palette.CURVES))},
}


@pytest.mark.parametrize('vision', VISIONS)
@pytest.mark.parametrize('group', GROUPS)
def test_colours_of_different_meanings_are_told_apart(group, vision):
    colors = GROUPS[group]
    apart = {
        (one, other): distance(colors[one], colors[other], vision)
        for one, other in itertools.combinations(colors, 2)
    }
    nearest = min(apart, key=apart.get)
    assert apart[nearest] >= MIN_DISTANCE, nearest


@pytest.mark.parametrize('vision', VISIONS)
def test_quarters_of_what_is_left_of_a_margin_are_told_apart_in_order(vision):
    quarters = [pair_color(0.25 * k) for k in range(5)]
    steps = [distance(*pair, vision) for pair in itertools.pairwise(quarters)]
    from_red = [distance(quarters[0], color, vision) for color in quarters]
    assert min(steps) >= 0.5 * MIN_DISTANCE and (np.diff(from_red) > 0.0).all()


def test_simulated_eyes_confuse_what_they_are_known_to_confuse():
    # Red and green of the same lightness, and blue and green.
    red, green = (190, 90, 60), (120, 125, 40)
    assert distance(red, green, None) > 3.0 * distance(red, green, 'deutan')
    blue, teal = (0, 125, 160), (0, 130, 120)
    assert distance(blue, teal, None) > 3.0 * distance(blue, teal, 'tritan')

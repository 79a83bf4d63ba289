# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A matrix of invalid trajectories, each with the reason for which it is refused."""

from dataclasses import replace

import pytest

from ros_ik.demo.controller.trajectory_rules import check_trajectory
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_rules import TrajectoryPoint

JOINTS = ('shoulder', 'elbow', 'wrist')
SECOND = 1_000_000_000
NOW = 1_000 * SECOND
NAN, INF = float('nan'), float('inf')
REST = (0.0, 0.0, 0.0)

FIRST = TrajectoryPoint(SECOND, (0.1, 0.2, 0.3), (1.0, 1.0, 1.0))
LAST = TrajectoryPoint(2 * SECOND, (0.2, 0.3, 0.4), REST)
VALID = Trajectory(JOINTS, (FIRST, LAST))


def names(*joint_names: str) -> Trajectory:
    return replace(VALID, joint_names=joint_names)


def first(**fields) -> Trajectory:
    return replace(VALID, points=(replace(FIRST, **fields), LAST))


def last(**fields) -> Trajectory:
    return replace(VALID, points=(FIRST, replace(LAST, **fields)))


ACCEPTED = {
    'two points': VALID,
    'one point': replace(VALID, points=(LAST,)),
    'names in another order': names('wrist', 'shoulder', 'elbow'),
    'positions only': Trajectory(JOINTS, (TrajectoryPoint(SECOND, (0.1, 0.2, 0.3)),)),
    'first point now': first(time_from_start=0),
    'accelerations': last(accelerations=(0.1, 0.1, 0.1)),
    'velocities in one point only': first(velocities=()),
    'end velocity below the tolerance': last(velocities=(1e-8, -1e-8, 0.0)),
    'points one nanosecond apart': first(time_from_start=2 * SECOND - 1),
    'stamp in the future': replace(VALID, stamp=NOW + 5 * SECOND),
    'stamp in the past, end in the future': replace(VALID, stamp=NOW - SECOND),
    'ends this nanosecond': replace(VALID, stamp=NOW - 2 * SECOND),
    'tuple of points out of limits': last(positions=(100.0, 0.0, 0.0)),
}

REFUSED = {
    'no names': (names(), 'no joint names'),
    'unknown joint': (names('shoulder', 'elbow', 'knee'), "'knee' is not one of"),
    'one joint too many': (names(*JOINTS, 'knee'), "'knee' is not one of"),
    'joint twice': (names('shoulder', 'elbow', 'elbow'), "'elbow' is named twice"),
    'joint twice beside all': (names(*JOINTS, 'wrist'), "'wrist' is named twice"),
    'missing joint': (names('shoulder', 'elbow'), "'wrist' is missing"),
    'name with a space': (names('shoulder ', 'elbow', 'wrist'), "'shoulder ' is not one of"),
    'no points': (replace(VALID, points=()), 'no points'),
    'equal times': (first(time_from_start=2 * SECOND), 'strictly increasing: 2 s at point 1'),
    'falling times': (first(time_from_start=3 * SECOND), 'strictly increasing'),
    'time before the start': (first(time_from_start=-1), 'point 0 lies 1e-09 s before'),
    'no positions': (first(positions=()), 'point 0 has no positions'),
    'no positions at the end': (last(positions=()), 'point 1 has no positions'),
    'velocities only': (
        replace(VALID, points=(TrajectoryPoint(SECOND, (), REST),)),
        'point 0 has no positions',
    ),
    'too few positions': (first(positions=(0.1, 0.2)), '2 positions for 3 joints'),
    'too many positions': (last(positions=(0.1,) * 4), 'point 1 has 4 positions for 3 joints'),
    'too few velocities': (first(velocities=(0.1,)), '1 velocities for 3 joints'),
    'too many velocities': (last(velocities=(0.0,) * 4), '4 velocities for 3 joints'),
    'too few accelerations': (first(accelerations=(0.1,)), '1 accelerations for 3 joints'),
    'too many accelerations': (last(accelerations=(0.0,) * 4), '4 accelerations for 3 joints'),
    'effort': (first(effort=REST), 'effort, which a position interface does not take'),
    'effort at the end': (last(effort=(0.0,)), 'point 1 has effort'),
    'velocity at the end': (last(velocities=(0.0, 0.01, 0.0)), "0.01 for joint 'elbow', not zero"),
    'backwards at the end': (last(velocities=(0.0, 0.0, -1e-6)), "-1e-06 for joint 'wrist'"),
    'velocity at the end of one point': (replace(VALID, points=(FIRST,)), 'velocity of the last'),
    'ended long ago': (replace(VALID, stamp=NOW - 10 * SECOND), 'ended 8 s ago'),
    'ended a nanosecond ago': (replace(VALID, stamp=NOW - 2 * SECOND - 1), 'ended 1e-09 s ago'),
    'stamp of another clock': (replace(VALID, stamp=1), 'ended 998 s ago'),
}
for _value in (NAN, INF, -INF):
    for _field in ('positions', 'velocities', 'accelerations'):
        REFUSED[f'{_value} in {_field}'] = (
            first(**{_field: (0.0, _value, 0.0)}),
            f"point 0 has {_value} in {_field} for joint 'elbow'",
        )
        REFUSED[f'{_value} in {_field} at the end'] = (
            last(**{_field: (_value, 0.0, 0.0)}),
            f"point 1 has {_value} in {_field} for joint 'shoulder'",
        )


@pytest.mark.parametrize('trajectory', ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(trajectory):
    assert check_trajectory(trajectory, JOINTS, NOW) is None


@pytest.mark.parametrize(('trajectory', 'reason'), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_its_reason(trajectory, reason):
    assert reason in (check_trajectory(trajectory, JOINTS, NOW) or 'accepted')


def test_end_velocity_is_accepted_where_the_controller_allows_it():
    trajectory = replace(VALID, points=(FIRST,))
    assert (
        check_trajectory(trajectory, JOINTS, NOW, allow_nonzero_velocity_at_trajectory_end=True)
        is None
    )


def test_every_single_fault_is_found_beside_valid_points():
    """A fault in any point of a long trajectory is found, and its number is named."""
    points = [TrajectoryPoint(k * SECOND, (0.0, 0.0, 0.0)) for k in range(1, 20)]
    for index in range(len(points)):
        faulty = [*points]
        faulty[index] = replace(points[index], positions=(0.0, NAN, 0.0))
        reason = check_trajectory(Trajectory(JOINTS, faulty), JOINTS, NOW)
        assert reason is not None and f'point {index} ' in reason

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers of a planner to a request of each kind, to be compared between devices."""

import numpy as np
from support.rigs.planning_rig import random_configurations

from ros_ik.planning import check_trajectory
from ros_ik.planning import IkRequest
from ros_ik.planning import OptimalRequest
from ros_ik.planning import Point
from ros_ik.planning import PoseCost
from ros_ik.planning import reconfigure
from ros_ik.planning import solve_fk
from ros_ik.planning import solve_ik
from ros_ik.planning import solve_optimal
from ros_ik.planning.poses.multi_frame_ik import solve_frames_together

TCP, BASE = 'panda_hand_tcp', 'panda_link0'


def every_answer(planner):
    """Return arrays by name; the planner is a Panda, measured at home, that watches a box."""
    names, coords = planner.robot.group.joint_names, planner.robot.coords
    rows = random_configurations(planner, 6, seed=2, margin=0.3)
    poses = solve_fk(planner, names, rows[:, coords])[:, 0]
    found = {'poses': poses}
    answer = solve_ik(planner, IkRequest(poses))
    found |= {'codes': answer.codes, 'positions': answer.positions}
    start = planner.joint_q[coords]
    other = reconfigure(planner, 0, poses[0], start)
    found['other'] = np.array(other.positions)
    frames = [planner.frame(TCP), planner.frame('panda_link5')]
    links = solve_fk(planner, names, start[None], [TCP, 'panda_link5'])[0]
    found['together'] = solve_frames_together(planner, frames, links + [1e-3, 0, 0, 0, 0, 0, 0])
    motion = solve_optimal(planner, OptimalRequest([PoseCost(BASE, TCP, poses[0], 1.0, 0.5)]))
    found |= {'times': motion.times, 'motion': motion.positions[-1:]}
    points = [Point(0.0, start), Point(100.0, rows[0, coords])]
    report = check_trajectory(planner, answer.joint_names, points)
    return found | {'minimum': report.minimum_values}

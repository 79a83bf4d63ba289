# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The demonstration: a robot follows pose targets over ROS 2, inside its limits and a box.

    python -m ros_ik.demo --robot panda

Starts a publisher of the robot description, a mock robot and the node, each in a process of its
own, plays about 20 s of targets, judges what the robot measured, and writes a table, a picture
and, as the last line, one JSON object. The exit code is 0 only where everything held.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rclpy
import yaml

from ros_ik.demo.chain import choose_chain
from ros_ik.demo.children import Children
from ros_ik.demo.client import DemoClient
from ros_ik.demo.description import read_description
from ros_ik.demo.evaluation import evaluate
from ros_ik.demo.plot import save_plot
from ros_ik.demo.report import last_line
from ros_ik.demo.report import succeeded
from ros_ik.demo.report import summary
from ros_ik.demo.report import table
from ros_ik.demo.robot_joints import RobotJoints
from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import RobotFiles
from ros_ik.demo.scenario import home_configuration
from ros_ik.demo.scenario import make_scenario
from ros_ik.demo.scenario import Scenario
from ros_ik.errors import RosIkError
from ros_ik.kinematics import eval_fk
from ros_ik.model import JointGroup
from ros_ik.model import Model

# Longest wait for the first start, with every kernel to compile [s].
_START_TIMEOUT = 90.0


def main(args: Sequence[str] | None = None) -> int:
    """Run the demonstration and return the exit code.

    Args:
        args: Command line; None for that of the process.
    """
    options = _parse(args)
    try:
        return _run(options)
    except RosIkError as error:
        print(f'demo: {error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parse(args: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='ros_ik_demo', description=(__doc__ or '').splitlines()[0])
    parser.add_argument('--robot', default='panda', help='name, or path of a URDF or xacro file')
    parser.add_argument('--device', default='auto', help="'auto', 'cpu' or 'cuda:N'")
    parser.add_argument('--rate', type=float, default=100.0, help='rate of the control loop [Hz]')
    parser.add_argument('--output', type=Path, default=Path('demo_output'), help='folder of the picture')
    parser.add_argument('--seed', type=int, default=0, help='seed of the random targets')
    return parser.parse_args(args)


def _run(options: argparse.Namespace) -> int:
    files = find_robot(options.robot)
    model = Model.from_urdf(read_description(files.urdf_path), device='cpu')
    base, tip = (files.base_link, files.tip_link) if files.tip_link else choose_chain(model)
    group = model.joint_group(f'{base}:{tip}')
    home = home_configuration(model, group, dict(files.home))
    print(f'{files.name}: {group.n_variables} joints from {base} to {tip}')
    scenario = make_scenario(model, group, tip, home, options.seed)
    if not scenario.uses_orientation:
        print('fewer than six joints: positions count, orientations do not')

    def tip_pose(joint_q: np.ndarray) -> np.ndarray:
        body_q = np.zeros((1, model.body_count, 7))
        eval_fk(model, joint_q[None], body_q)
        return body_q[0, model.body_index(tip)]

    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    rclpy.init(args=[])
    joints = RobotJoints(model)
    client = DemoClient(
        group.joint_names,
        dict(zip(joints.names, joints.coords.tolist(), strict=True)),
        home,
        tip_pose,
        model.body_label[0],
        uses_orientation=scenario.uses_orientation,
    )
    try:
        with tempfile.TemporaryDirectory() as folder, Children() as children:
            _start(children, Path(folder), options, files, model, group, base, tip, home, scenario)
            problem = client.wait_until_ready(
                _START_TIMEOUT, children.fallen, lambda text: print(f'  waiting: {text}', flush=True)
            )
            if problem:
                print(f'demo: {problem}', file=sys.stderr)
                return 1
            for number, phase in enumerate(scenario.phases, start=1):
                print(f'  [{number:2}/{len(scenario.phases)}] {phase.name}', flush=True)
                client.play(phase)
                if children.fallen():
                    print(f'demo: {children.fallen()}', file=sys.stderr)
                    return 1
            client.settle(1.2)
    finally:
        client.close()
        rclpy.try_shutdown()
    return _conclude(options, files.name, model, group, tip, scenario, client)


def _start(
    children: Children,
    folder: Path,
    options: argparse.Namespace,
    files: RobotFiles,
    model: Model,
    group: JointGroup,
    base: str,
    tip: str,
    home: np.ndarray,
    scenario: Scenario,
) -> None:
    """Start the three processes with their parameters."""
    starts = model.joint_q_start.numpy()
    names = RobotJoints(model).driven
    parameters = {
        'robot_description_publisher': {
            'urdf_path': str(files.urdf_path),
            'srdf_path': str(files.srdf_path or ''),
        },
        'mock_robot': {
            'command_topic': 'ros_ik/joint_trajectory',
            'controller_joints': list(group.joint_names),
            'initial_positions.names': list(names),
            'initial_positions.values': [float(home[starts[model.joint_index(name)]]) for name in names],
        },
        'ros_ik': {
            'control_rate': options.rate,
            # Enough to judge the run by; a message each tick would cost this machine more than the tick.
            'status_rate': 50.0,
            'device': options.device,
            'joint_group': f'{base}:{tip}',
            'ee.frame': tip,
            'ee.orientation_weight': 0.5 if scenario.uses_orientation else 0.0,
            'barriers.position.demo_box.frame': tip,
            'barriers.position.demo_box.min': scenario.box_min.tolist(),
            'barriers.position.demo_box.max': scenario.box_max.tolist(),
        },
    }
    path = folder / 'parameters.yaml'
    path.write_text(
        yaml.safe_dump({f'/**/{node}': {'ros__parameters': p} for node, p in parameters.items()})
    )
    for module in (
        'ros_ik.demo.robot_description_publisher',
        'ros_ik.demo.mock_robot',
        'ros_ik.node.ros_ik_node',
    ):
        children.start(module, ['--params-file', str(path)])


def _conclude(
    options: argparse.Namespace,
    robot: str,
    model: Model,
    group: JointGroup,
    tip: str,
    scenario: Scenario,
    client: DemoClient,
) -> int:
    """Judge the recording, write table, picture and last line; return the exit code."""
    recording = client.recording
    evaluation = evaluate(model, group, tip, scenario, recording, 1.0 / options.rate)
    figures = summary(robot, options.device, options.rate, evaluation, recording)
    print()
    print(table(evaluation))
    picture = options.output / f'{robot}.png'
    title = f'{robot}: {figures["reached"]} of {figures["targets"]} targets reached'
    save_plot(picture, title, model, group, scenario, recording, evaluation)
    print(f'\npicture: {picture}')
    print(last_line(figures), flush=True)
    return 0 if succeeded(figures) else 1


if __name__ == '__main__':
    sys.exit(main())

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The terminals of README.md, run to the letter: a target moves the mock robot."""

from pathlib import Path
import re
import shlex

import pytest
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from trajectory_msgs.msg import JointTrajectory

from ros_ik_interfaces.msg import IkStatus

pytestmark = [pytest.mark.dds, pytest.mark.timeout(480)]
README = (Path(__file__).resolve().parents[2] / 'README.md').read_text()


def terminals():
    """Return the commands that README.md gives for a machine without ROS, word by word."""
    _, _, section = README.partition('### Without a ROS installation')
    commands = re.findall(r'^tools/run (python -m ros_ik\S+.*)$', section, re.MULTILINE)
    return [shlex.split(command) for command in commands]


def parameters(frame):
    """Return the parameter file of README.md with a link of a robot."""
    text = re.search(r'```yaml\n(.*?)```', README, re.DOTALL).group(1)
    assert 'frame: tool0' in text
    return text.replace('tool0', frame)


def test_the_three_terminals_move_a_panda(tmp_path):
    files = {
        'my_robot.yaml': parameters('panda_hand_tcp'),
        'my_robot.urdf': panda_urdf(),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    commands = terminals()
    modules = [command[2] for command in commands]
    assert len(modules) == 3 and 'ros_ik.demo.mock_robot' in modules
    with ros_rig(tmp_path) as client:
        for _, _, module, *arguments in commands:
            words = [
                re.sub(r'my_robot\.(urdf|yaml)', lambda m: str(tmp_path / m[0]), word)
                for word in arguments
            ]
            client.processes.start(module, module, arguments=words)
        heard, states = [], []
        client.node.create_subscription(
            JointTrajectory, 'joint_trajectory_controller/joint_trajectory', heard.append, 10
        )
        client.node.create_subscription(
            JointState, 'joint_states', states.append, qos_profile_sensor_data
        )
        client.wait_for_code(IkStatus.OK, timeout=LONG)
        # Terminals that wait for a processor are not silent.
        assert all(result.successful for result in client.set(**NEVER_STALE).values())
        client.stream('pose', client.moved_pose((0.0, 0.05, -0.05)))
        client.wait_for_arrival(timeout=LONG)
        client.wait_for(lambda: heard and states, 'commands and states')
        log = client.processes.text('ros_ik.demo.mock_robot')
        assert 'rejected' not in log, log

        def is_at_command():
            # The newest: more of them come while the last millimetre is gone.
            goal = zip(heard[-1].joint_names, heard[-1].points[-1].positions, strict=True)
            found = dict(zip(states[-1].name, states[-1].position, strict=True))
            return all(abs(found[name] - position) < 1e-3 for name, position in goal)

        client.wait_for(is_at_command, 'a robot at the last command')

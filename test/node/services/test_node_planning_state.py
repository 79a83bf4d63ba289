# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The measured state in answers to planners, with a node that runs in this process."""

import time

import pytest
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.motions.motion import Arm
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.ik_node import IkNode
from ros_ik_interfaces.srv import SolveFk

pytestmark = pytest.mark.dds
HOME = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]


class Rig:
    """A node, a client beside it, and an executor of each: the client is served alone, too."""

    def __init__(self, domain):
        words = ['-p', "frame_tasks:=['ee']", '-p', 'ee.frame:=panda_hand_tcp']
        words += ['-p', 'services.nice:=0', '-p', 'joint_state_timeout:=60.0']
        rclpy.init(args=['--ros-args', *words], domain_id=domain)
        context = rclpy.get_default_context()
        self.node, self._beside = IkNode(), Node('beside', use_global_arguments=False)
        self._executors = {}
        for node in (self.node, self._beside):
            self._executors[node] = make_executor(context)
            self._executors[node].add_node(node)
        self._states = self._beside.create_publisher(JointState, 'joint_states', 10)
        self._caller = self._beside.create_client(SolveFk, 'ros_ik/solve_fk')
        description = self._beside.create_publisher(String, 'robot_description', LATCHED)
        description.publish(String(data=panda_urdf()))

    def wait_for(self, condition, *nodes):
        """Serve some nodes until a condition holds."""
        give_up = time.monotonic() + LONG
        while not condition():
            assert time.monotonic() < give_up
            for node in nodes:
                self._executors[node].spin_once(timeout_sec=0.005)

    def see(self, positions, *nodes):
        """Publish joint states until a tick has read them; nodes are served meanwhile."""
        state = JointState(name=list(ARM), position=positions)

        def is_seen():
            self._states.publish(state)
            controlled = self.node._inbox.controlled.get()
            coords = controlled.servo.robot.coords
            return controlled.measurement.get().joint_q[coords].tolist() == positions

        self.wait_for(is_seen, self._beside, *nodes)

    def ask(self, *nodes):
        """Return the position of the hand in the measured configuration."""
        self.wait_for(self._caller.service_is_ready, self._beside, *nodes)
        request = SolveFk.Request(configurations=[JointTrajectoryPoint()])
        answer = self._caller.call_async(request)
        self.wait_for(answer.done, self._beside, *nodes)
        assert answer.result().success, answer.result().message
        position = answer.result().poses[0].position
        return [position.x, position.y, position.z]

    def end(self):
        """End everything."""
        self.node.finish()
        self.node._source.end(timeout=LONG)
        for node, executor in self._executors.items():
            executor.shutdown()
            node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def rig():
    with reserved_domain() as domain:
        rig = Rig(domain)
        yield rig
        rig.end()


def test_an_answer_uses_the_state_of_the_last_tick(rig):
    rig.wait_for(lambda: rig.node._servo is not None, rig.node)
    rig.see(HOME, rig.node)
    (place,), _ = Arm().poses([HOME])
    assert rig.ask(rig.node) == pytest.approx(place.tolist(), abs=1e-9)
    # From here on nothing serves the node's executor, whose timers are at most as frequent.
    moved = [0.5, *HOME[1:]]
    rig.see(moved)
    (place,), _ = Arm().poses([moved])
    assert rig.ask() == pytest.approx(place.tolist(), abs=1e-9)

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The viewer beside nodes of this process that send what the test wants, and follow each other."""

from geometry_msgs.msg import PoseStamped
import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node

pytest.importorskip('viser', reason='viser is not installed')

from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import LATCHED
from support.rigs.viewer_rig import viewer_in_process
from support.rigs.viewer_rig import wait_until

from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import ObstacleArray
from ros_ik_interfaces.msg import TaskError

pytestmark = pytest.mark.dds


def urdf(upper=1.0):
    """Return a robot of one joint with a limit [rad]."""
    return f"""<robot name="r"><link name="base"/><link name="arm"><visual><geometry>
    <box size="0.1 0.1 0.1"/></geometry></visual></link><joint name="one" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="{upper}" velocity="1" effort="1"/></joint></robot>"""


class OtherNode:
    """A node with a robot; it publishes when the test waits."""

    def __init__(self, context, tasks, upper=1.0, position=0.3):
        self.node = Node('ros_ik', context=context)
        self.tasks, self.position, self.is_alive = tasks, position, True
        publish = self.node.create_publisher
        self.description = publish(String, 'robot_description', LATCHED)
        self.status = publish(IkStatus, 'ros_ik/status', 1)
        self.joints = publish(JointState, 'joint_states', 1)
        self.obstacles = publish(ObstacleArray, 'ros_ik/current_obstacles', LATCHED)
        self.poses = {
            task: publish(PoseStamped, f'ros_ik/{task}/current_pose', 1)
            for task in tasks if ' ' not in task
        }  # fmt: skip
        self.description.publish(String(data=urdf(upper)))
        self.obstacles.publish(ObstacleArray())

    def send(self):
        """Publish what a node publishes in each tick."""
        tasks = [TaskError(name=task) for task in self.tasks]
        self.status.publish(IkStatus(joint_names=['one'], control_rate=100.0, tasks=tasks))
        self.joints.publish(JointState(name=['one'], position=[self.position]))
        for publisher in self.poses.values():
            message = PoseStamped()
            message.header.frame_id = 'base'
            message.pose.orientation.w = 1.0
            publisher.publish(message)

    def wait_until(self, condition, what):
        def is_met():
            self.send()
            return condition()

        wait_until(is_met, what)


@pytest.fixture
def pair():
    """Yield a viewer, and a function that starts a node in the place of the last one."""
    context, nodes = Context(), []
    with reserved_domain() as domain:
        rclpy.init(context=context, domain_id=domain)

        def start(*args, **kwargs):
            for other in nodes:
                other.node.destroy_node()
            nodes[:] = [OtherNode(context, *args, **kwargs)]
            return nodes[0]

        with viewer_in_process(domain) as viewer:
            yield viewer, start
        for other in nodes:
            other.node.destroy_node()
        rclpy.try_shutdown(context=context)


def test_a_task_whose_name_is_no_topic_is_left_out(pair):
    viewer, start = pair
    other = start(['a b', 'ee'])
    other.wait_until(lambda: set(viewer.targets) == {'ee'}, 'gizmo of the other task')


def test_the_tasks_of_a_node_that_restarts_with_others_are_shown(pair):
    viewer, start = pair
    jog = viewer.page.jog
    other = start(['left', 'right'])
    other.wait_until(lambda: set(viewer.targets) == {'left', 'right'}, 'gizmos')
    other.wait_until(lambda: set(jog._task.options) == {'left', 'right'}, 'menu')
    other = start(['ee'])
    other.wait_until(lambda: set(viewer.targets) == {'ee'}, 'gizmo of the new node')
    other.wait_until(lambda: jog._task.options == ('ee',) and jog._task.value == 'ee', 'menu')
    assert set(viewer._gizmos._handles) == {'ee'}
    # The first ones return.
    other = start(['left'])
    other.wait_until(lambda: set(viewer.targets) == {'left'}, 'gizmo of the third node')


def test_the_limits_of_a_new_description_are_those_of_the_sliders(pair):
    viewer, start = pair
    jog = viewer.page.jog
    other = start(['ee'])
    other.wait_until(lambda: 'one' in jog._sliders and jog._sliders['one'].max == 1.0, 'slider')
    other.description.publish(String(data=urdf(0.5)))
    other.wait_until(lambda: jog._sliders['one'].max == 0.5, 'new slider')


def test_a_new_node_gets_no_earlier_target_of_joints_and_starts_in_its_own_mode(pair):
    viewer, start = pair
    jog = viewer.page.jog
    other = start(['ee'])
    other.wait_until(lambda: 'one' in jog._sliders, 'slider')
    viewer.page.mode.value = 'hold'
    jog.set_goal('one', 0.8)
    other.wait_until(jog.goal, 'target')
    other = start(['ee'])
    other.wait_until(lambda: not jog.goal(), 'end of the target')
    other.wait_until(lambda: viewer.page.mode.value == 'auto', 'mode')

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The node ``ros_ik_viewer``: an ordinary client of one ros_ik node, with a page in the browser.

It uses the topics and services of docs/interface.md and nothing else. One thread serves ROS and
draws, one hears the browsers, and one reads a description while there is a new one.
"""

from __future__ import annotations

import functools
import html
import threading
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.qos import qos_profile_sensor_data
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from ros_ik.demo.process import describe
from ros_ik.demo.robot_description_publisher import LATCHED
from ros_ik.errors import ArgumentError
from ros_ik.errors import RosIkError
from ros_ik.model import poses
from ros_ik.node.package_paths import package_paths
from ros_ik.node.pose_messages import fill_pose
from ros_ik.node.pose_messages import pose_numbers
from ros_ik.viewer.obstacles import Obstacles
from ros_ik.viewer.page import MODES
from ros_ik.viewer.page import Page
from ros_ik.viewer.pairs_view import PairsView
from ros_ik.viewer.requests import Requests
from ros_ik.viewer.robot_state import COMMANDED
from ros_ik.viewer.robot_state import MEASURED
from ros_ik.viewer.robot_state import RobotState
from ros_ik.viewer.robot_view import RobotView
from ros_ik.viewer.status_text import status_html
from ros_ik.viewer.target_gizmos import TargetGizmos
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import ObstacleArray
from ros_ik_interfaces.srv import SetMode

PARAMETERS = (
    ('node', 'ros_ik', Parameter.Type.STRING, 'name of the ros_ik node, in this namespace'),
    (
        'host',
        '127.0.0.1',
        Parameter.Type.STRING,
        'address to listen at; any other than this lets everyone there move the robot',
    ),
    ('port', 8080, Parameter.Type.INTEGER, 'port of the page, or the first free one above it'),
    ('frame_rate', 30.0, Parameter.Type.DOUBLE, 'pictures a second, Hz, in (0, 60]'),
    (
        'package_paths',
        [''],
        Parameter.Type.STRING_ARRAY,
        'folders in which meshes are looked up beside those of the installed packages',
    ),
)
# Period of the targets while they are held [s].
_TARGET_PERIOD = 0.02
_STATUS_PERIOD = 0.2
# A node that has said nothing for so long is not there [s].
_SILENCE = 2.0
# A service that has not answered after this may be asked again [s].
_PATIENCE = 2.0
# Length of a gizmo's axis by the radius of the robot, and its bounds [m].
_GIZMO_PART, _GIZMO_SIZES = 0.35, (0.03, 0.3)
_SERVICES: dict[str, tuple[Any, str, Any]] = {
    'stop': (Trigger, 'stop', Trigger.Request()),
    'pause': (SetBool, 'pause', SetBool.Request(data=True)),
    'resume': (SetBool, 'pause', SetBool.Request(data=False)),
    'reset': (Trigger, 'reset', Trigger.Request()),
    'mode': (SetMode, 'set_mode', None),
}


class ViewerNode(Node):
    """Shows one ros_ik node, and sends it what people ask for on the page.

    Attributes:
        page: The page.
        requests: What people asked for and was not done yet.
        answer: What the node answered last, as HTML.
        robot: The robot that is drawn, None before the first description.
        robot_view: How it is drawn, None before that.
        obstacles: The obstacles that people put there.
        pairs_view: The closest pairs.
        targets: Poses of the tasks' frames in the world as last measured [7], by task.
    """

    def __init__(self) -> None:
        """Serve the page, and wait for a node.

        Raises:
            ArgumentError: A parameter out of its range, or no port is free.
        """
        super().__init__('ros_ik_viewer')
        for name, value, kind, description in PARAMETERS:
            self.declare_parameter(name, value, describe(kind, description))
        rate = self._value('frame_rate')
        if not 0.0 < rate <= 60.0:
            raise ArgumentError(f'frame_rate must be in (0, 60] Hz, got {rate}')
        if not 1 <= self._value('port') <= 65535:
            raise ArgumentError(f'port must be in [1, 65535], got {self._value("port")}')
        self.requests = Requests()
        self._node_name = self._value('node')
        self._ended = threading.Event()
        self._reader: threading.Thread | None = None
        self._description = ''
        self._wanted_description = ''
        self._read: RobotState | str | None = None
        self.robot: RobotState | None = None
        self.targets: dict[str, np.ndarray] = {}
        self.robot_view: RobotView | None = None
        self._status: IkStatus | None = None
        self._status_time = -_SILENCE
        self._poses: dict[str, PoseStamped] = {}
        self._pose_listeners: dict[str, Subscription] = {}
        self._target_publishers: dict[str, Publisher] = {}
        self._pending: dict[str, tuple[float, Any]] = {}
        self.answer = ''
        try:
            self.page = Page(self._value('host'), self._value('port'), self.requests)
        except OSError as error:
            raise ArgumentError(f'the page cannot be served: {error}') from error
        self._gizmos = TargetGizmos(self.page.server, self.requests)
        self.obstacles = Obstacles(self.page.server)
        self.pairs_view = PairsView(self.page.server)
        self._markers: Subscription | None = None
        self._marker_message: MarkerArray | None = None
        self._marker_time = 0.0
        self._obstacle_publisher = self.create_publisher(
            ObstacleArray, f'{self._node_name}/obstacles', LATCHED
        )
        self._twist_publishers: dict[str, Publisher] = {}
        self._joint_publisher = self.create_publisher(
            JointState, f'{self._node_name}/target_joints', 1
        )
        services = {name: kind for kind, name, _ in _SERVICES.values()}
        self._clients_by_service: dict[str, Client] = {
            name: self.create_client(kind, f'{self._node_name}/{name}')
            for name, kind in services.items()
        }
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        self.create_subscription(
            JointState,
            'joint_states',
            functools.partial(self._on_joints, MEASURED),
            qos_profile_sensor_data,
        )
        self.create_subscription(
            JointState,
            f'{self._node_name}/command_state',
            functools.partial(self._on_joints, COMMANDED),
            qos_profile_sensor_data,
        )
        self.create_subscription(IkStatus, f'{self._node_name}/status', self._on_status, 1)
        self.create_timer(_TARGET_PERIOD, self._send_targets)
        self.create_timer(1.0 / rate, self._draw)
        self.create_timer(_STATUS_PERIOD, self._show_status)
        self.get_logger().info(f'the page is at {self.page.address}')

    def destroy_node(self) -> None:
        """End the page and its threads, then the node."""
        self._ended.set()
        self.page.close()
        if self._reader is not None:
            self._reader.join(1.0)
        super().destroy_node()

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _on_description(self, message: String) -> None:
        self._wanted_description = message.data

    def _on_joints(self, which: int, message: JointState) -> None:
        if self.robot is not None:
            self.robot.set_joints(which, message.name, message.position)

    def _on_status(self, message: IkStatus) -> None:
        self._status, self._status_time = message, time.monotonic()
        for task in message.tasks:
            # The centre of mass has no frame, and a name for which nobody publishes does no harm.
            if task.name not in self._pose_listeners:
                self._follow_task(task.name)

    def _follow_task(self, task: str) -> None:
        """Listen to the pose of a task's frame, and publish its targets."""
        try:
            self._pose_listeners[task] = self.create_subscription(
                PoseStamped,
                f'{self._node_name}/{task}/current_pose',
                functools.partial(self._poses.__setitem__, task),
                1,
            )
            self._target_publishers[task] = self.create_publisher(
                PoseStamped, f'{self._node_name}/{task}/target_pose', 1
            )
            self._twist_publishers[task] = self.create_publisher(
                TwistStamped, f'{self._node_name}/{task}/target_twist', 1
            )
        except ValueError as error:
            self.get_logger().warning(f'task {task!r} cannot be followed: {error}')

    def _draw(self) -> None:
        """Do what people asked for, and draw a picture."""
        for kind, value in self.requests.take().items():
            self._call(kind, value)
        self._exchange_robot()
        if self.robot is None or self.robot_view is None:
            return
        self.robot.update()
        with self.page.server.atomic():
            self.robot_view.update(self.page.with_ghost.value)
            self.targets = self._target_poses()
            wanted = self.targets if self.page.with_targets.value else {}
            least, most = _GIZMO_SIZES
            size = float(np.clip(_GIZMO_PART * self.robot.radius, least, most))
            self._gizmos.update(wanted, size)
            self._draw_pairs()
        self._send_obstacles()

    def _exchange_robot(self) -> None:
        """Read a new description in a thread of its own, and draw the robot that was read."""
        if self._reader is not None and not self._reader.is_alive():
            self._reader = None
            if isinstance(self._read, str):
                self.answer = _sentence(self._read)
                self.get_logger().error(self._read)
            elif self._read is not None:
                self._show_robot(self._read)
            self._read = None
        if self._reader is None and self._wanted_description != self._description:
            self._description = self._wanted_description
            self._reader = threading.Thread(
                target=self._read_description, args=(self._description,), daemon=True
            )
            self._reader.start()

    def _read_description(self, text: str) -> None:
        """Read a description; the thread of ROS takes what was read when this one has ended."""
        paths = *package_paths(), *filter(None, self._value('package_paths'))
        try:
            self._read = RobotState(text, paths, self._ended)
        except RosIkError as error:
            self._read = f'robot_description cannot be drawn: {error}'

    def _show_robot(self, robot: RobotState) -> None:
        if self.robot_view is not None:
            self.robot_view.remove()
        for problem in robot.problems:
            self.get_logger().warning(f'not drawn: {problem}')
        self.robot = robot
        self.robot_view = RobotView(self.page.server, robot)
        x, y, z = robot.center.tolist()
        self.page.look_at((x, y, z), 2.2 * robot.radius)
        self.get_logger().info(f'{len(robot.meshes)} links drawn')

    def _target_poses(self) -> dict[str, np.ndarray]:
        """Return the measured poses of the tasks' frames in the world [7]."""
        found: dict[str, np.ndarray] = {}
        if self.robot is None or not self.robot.is_known(MEASURED):
            return found
        for task, message in self._poses.items():
            frame = self.robot.link_pose(message.header.frame_id)
            if frame is not None:
                found[task] = poses.multiply(frame, np.array(pose_numbers(message.pose)))
        return found

    def _send_targets(self) -> None:
        """Publish the targets that are held."""
        if self.robot is None:
            return
        for task, pose in self.requests.held().items():
            message = PoseStamped()
            message.header.frame_id = self.robot.root_link
            message.header.stamp = self.get_clock().now().to_msg()
            fill_pose(
                message.pose,
                poses.multiply(poses.inverse(self.robot.root_pose), pose).tolist(),
            )
            self._target_publishers[task].publish(message)
        self._send_jog()

    def _send_jog(self) -> None:
        """Publish the joint target and the velocity that are wanted."""
        stamp = self.get_clock().now().to_msg()
        goal = self.page.jog.goal()
        if goal:
            joints = JointState(name=list(goal), position=list(goal.values()))
            joints.header.stamp = stamp
            self._joint_publisher.publish(joints)
        task, twist = self.page.jog.twist()
        if twist is not None and self.robot is not None:
            message = TwistStamped()
            message.header.frame_id, message.header.stamp = self.robot.root_link, stamp
            linear, angular = message.twist.linear, message.twist.angular
            linear.x, linear.y, linear.z = twist[:3].tolist()
            angular.x, angular.y, angular.z = twist[3:].tolist()
            self._twist_publishers[task].publish(message)

    def _offer_jog(self) -> None:
        """Let sliders and buttons be those of the robot and the node."""
        if self.robot is None or self._status is None:
            return
        names = [name for name in self._status.joint_names if self.robot.has_joint(name)]
        lower, upper = self.robot.limits(names)
        self.page.jog.offer(list(self.targets), names, lower, upper)
        if self.robot.is_known(MEASURED):
            self.page.jog.follow(self.robot.positions(names))

    def _send_obstacles(self) -> None:
        """Publish the obstacles of the page that have changed."""
        if self.robot is None:
            return
        from_world = poses.inverse(self.robot.root_pose)
        message = self.obstacles.take_message(from_world, self.robot.root_link)
        if message is not None:
            self._obstacle_publisher.publish(message)

    def _draw_pairs(self) -> None:
        """Draw the closest pairs; the node makes markers only while somebody listens."""
        is_wanted = self.page.with_pairs.value
        if is_wanted and self._markers is None:
            self._markers = self.create_subscription(
                MarkerArray, f'{self._node_name}/markers', self._on_markers, 1
            )
        elif not is_wanted and self._markers is not None:
            self.destroy_subscription(self._markers)
            self._markers = self._marker_message = None
            self.pairs_view.clear()
        message, self._marker_message = self._marker_message, None
        if message is None:
            if time.monotonic() - self._marker_time > _SILENCE:
                self.pairs_view.clear()
            return
        frame = message.markers[0].header.frame_id if message.markers else ''
        base = self.robot.link_pose(frame) if self.robot else None
        if base is None:
            self.pairs_view.clear()
        else:
            self.pairs_view.show(message, base)

    def _on_markers(self, message: MarkerArray) -> None:
        self._marker_message, self._marker_time = message, time.monotonic()

    def _call(self, kind: str, value: Any) -> None:
        """Call the service of a button; the mode has a value."""
        _, name, request = _SERVICES[kind]
        if kind == 'mode':
            request = SetMode.Request(mode=MODES[value])
        client = self._clients_by_service[name]
        since, waiting = self._pending.pop(kind, (0.0, None))
        if waiting is not None and not waiting.done():
            if time.monotonic() - since < _PATIENCE:
                self._pending[kind] = since, waiting
                return
            client.remove_pending_request(waiting)
        if not client.service_is_ready():
            self.answer = _sentence(f'{kind}: there is no service {client.srv_name}')
            return
        future = client.call_async(request)
        self._pending[kind] = time.monotonic(), future
        future.add_done_callback(functools.partial(self._on_answer, kind))

    def _on_answer(self, kind: str, future: Any) -> None:
        response = future.result()
        if response is not None:
            done = 'done' if response.success else 'refused'
            self.answer = _sentence(f'{kind}: {response.message or done}')

    def _show_status(self) -> None:
        is_fresh = time.monotonic() - self._status_time < _SILENCE
        status = self._status if is_fresh else None
        name = self.resolve_topic_name(self._node_name)
        self._offer_jog()
        self.page.show(status_html(status, name), self.answer)


def _sentence(text: str) -> str:
    return f'<div style="margin:4px 8px"><i>{html.escape(text)}</i></div>'

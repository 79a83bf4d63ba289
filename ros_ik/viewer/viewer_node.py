# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The node ``ros_ik_viewer``: an ordinary client of one ros_ik node, with a page.

It uses only the topics and services of docs/interface.md. One thread serves ROS and draws, one
handles the browser connections, and one reads new descriptions.
"""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import html
import math
from pathlib import Path
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions import poses
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.program import check_topic
from ros_ik.node.execution.program import describe
from ros_ik.node.model_loading.package_paths import package_paths
from ros_ik.node.transport.polled_events import PolledEventsMixin
from ros_ik.node.transport.polled_subscription import PolledStreamsMixin
from ros_ik.node.transport.pose_messages import pose_numbers
from ros_ik.node.transport.qos_profiles import LATCHED
from ros_ik.viewer.client.commands import Commands
from ros_ik.viewer.client.inputs import Inputs
from ros_ik.viewer.client.inputs import SILENCE
from ros_ik.viewer.client.node_parameters import NodeParameters
from ros_ik.viewer.client.service_calls import ServiceCalls
from ros_ik.viewer.gui import plots
from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.gui.status_text import status_html
from ros_ik.viewer.page import Page
from ros_ik.viewer.parameter_view import ParameterView
from ros_ik.viewer.robot.robot_reader import RobotReader
from ros_ik.viewer.robot.robot_state import MEASURED
from ros_ik.viewer.robot.robot_state import RobotState
from ros_ik.viewer.scene.pairs_view import PairsView
from ros_ik.viewer.scene.robot_view import RobotView
from ros_ik.viewer.scene.shapes_view import ShapesView
from ros_ik.viewer.scene.target_gizmos import TargetGizmos
from ros_ik.viewer.scene.trails import Trails
from ros_ik.viewer.scene.workspace_view import WorkspaceView
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import ObstacleArray

PARAMETERS = (
    ('node', 'ros_ik', Parameter.Type.STRING, 'name of the ros_ik node, in this namespace'),
    (
        'host',
        '127.0.0.1',
        Parameter.Type.STRING,
        'address to listen on; any other than this lets everyone there move the robot',
    ),
    ('port', 8080, Parameter.Type.INTEGER, 'port of the page, or the first free one above it'),
    ('frame_rate', 30.0, Parameter.Type.DOUBLE, 'pictures a second, Hz, in (0, 60]'),
    (
        'triangles',
        40000,
        Parameter.Type.INTEGER,
        'about how many triangles a robot is drawn with; 0 draws every one of its meshes',
    ),
    (
        'package_paths',
        [''],
        Parameter.Type.STRING_ARRAY,
        'folders in which meshes are looked up beside those of the installed packages',
    ),
)
# Period of targets while their gizmos are held [s].
_TARGET_PERIOD = 0.02
_STATUS_PERIOD = 0.2
# Period of updates without a browser [s].
_UNWATCHED_PERIOD = 0.2
# Length of a gizmo's axis relative to the radius of the robot, and its bounds [m].
_GIZMO_PART, _GIZMO_SIZES = 0.35, (0.03, 0.3)
# Distance of the camera relative to the radius of the robot.
_CAMERA_PART = 1.8
_SET = 'parameter '
# Time for which the answer to a button is shown [s]; later statuses contradict it.
_ANSWER_TIME = 10.0


def ignore_viser_race(callback: Callable[[], None]) -> Callable[[], None]:
    """Return a callback that survives an error of viser, and draws again next time.

    viser wakes its senders from the calling thread, which asyncio does not allow: if a page
    connects or disconnects at that moment, the set of waiters changes during the iteration.
    """

    def turn() -> None:
        try:
            callback()
        except RuntimeError as error:
            if 'mutated during iteration' not in str(error):
                raise

    return turn


class ViewerNode(GuardedNode, PolledStreamsMixin, PolledEventsMixin, Node):
    """Node that shows one ros_ik node and sends it the requests of users.

    Attributes:
        page: The page.
        requests: Pending requests of users.
        inputs: Received messages.
        calls: Calls of the services behind the buttons.
        parameters: The node's parameters.
        answer: Last answer of the node, as text.
        robot: The drawn robot, or None before the first description.
        robot_view: Its drawing, or None.
        pairs_view: The closest pairs.
        shapes_view: The collision shapes.
        workspace: The boxes for frames.
        trails: Trails of frames and targets.
        targets: Last measured poses of the tasks' frames in the world [7], by task.
    """

    def __init__(self) -> None:
        """Serve the page, and wait for a node.

        Raises:
            ArgumentError: A parameter out of its range, a host that is not an address of this
                machine, or no port is free.
        """
        # Whatever must end with the node; nothing where its parameters are refused.
        self._ends = contextlib.ExitStack()
        super().__init__('ros_ik_viewer')
        for name, value, kind, description in PARAMETERS:
            self.declare_parameter(name, value, describe(kind, description))
        self._check_parameters()
        self.requests = Requests()
        self._node_name = self._value('node')
        check_topic(self, 'node', f'{self._node_name}/status' if self._node_name else '')
        self._wanted_description = ''
        self._reader = RobotReader(
            lambda: [*package_paths(), *filter(None, self._value('package_paths'))],
            self._value('triangles'),
        )
        self._ends.callback(self._reader.end)
        self.robot: RobotState | None = None
        self.robot_view: RobotView | None = None
        self.targets: dict[str, np.ndarray] = {}
        self.answer = ''
        # End of the time for which it is shown [s].
        self._answer_end = math.inf
        self._tasks: set[str] = set()
        self._drawn = self._marker_time = -math.inf
        # The last list of obstacles with its publisher, and the robot at that time.
        self._list: tuple[ObstacleArray, bytes] | None = None
        self._listed: RobotState | None = None
        try:
            self.page = Page(self._value('host'), self._value('port'), self.requests)
        except OSError as error:
            host = self._value('host')
            raise ArgumentError(f'the page cannot be served at {host!r}: {error}') from error
        self._ends.callback(self.page.close)
        server = self.page.server
        self._gizmos = TargetGizmos(server, self.requests)
        self.pairs_view, self.shapes_view = PairsView(server), ShapesView(server)
        self.workspace, self.trails = WorkspaceView(server), Trails(server)
        self.inputs = Inputs(self, self._node_name)
        self._commands = Commands(self, self._node_name)
        self.calls = ServiceCalls(self, self._node_name)
        self.parameters = NodeParameters(self, self._node_name)
        self._parameter_view = ParameterView(self.parameters, self.page.parameters, self.workspace)
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        self.create_timer(_TARGET_PERIOD, ignore_viser_race(self._send_targets))
        self.create_timer(1.0 / self._value('frame_rate'), ignore_viser_race(self._draw))
        self.create_timer(_STATUS_PERIOD, ignore_viser_race(self._show_status))
        self.get_logger().info(f'the page is at {self.page.address}')

    @property
    def gizmo_size(self) -> float:
        """Length of an axis of a gizmo for this robot [m]."""
        least, most = _GIZMO_SIZES
        return float(np.clip(_GIZMO_PART * self.robot.radius, least, most)) if self.robot else most

    def destroy_node(self) -> None:
        """End the page and its threads, then the node."""
        self._ends.close()
        super().destroy_node()

    def _check_parameters(self) -> None:
        """Raise ArgumentError for a parameter out of its range."""
        rate = self._value('frame_rate')
        if not 0.0 < rate <= 60.0:
            raise ArgumentError(f'frame_rate must be in (0, 60] Hz, got {rate}')
        if not 1 <= self._value('port') <= 65535:
            raise ArgumentError(f'port must be in [1, 65535], got {self._value("port")}')
        if self._value('triangles') < 0:
            raise ArgumentError(f'triangles must not be negative, got {self._value("triangles")}')
        for folder in filter(None, self._value('package_paths')):
            if not Path(folder).is_dir():
                raise ArgumentError(f'package_paths: {folder!r} is not a folder')

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _on_description(self, message: String) -> None:
        self._wanted_description = message.data

    def _draw(self) -> None:
        """Execute the requests of users, and draw."""
        now, is_watched = time.monotonic(), self.page.is_watched
        if not is_watched and now - self._drawn < _UNWATCHED_PERIOD:
            return
        self._drawn = now
        for kind, value in self.requests.take().items():
            if kind.startswith(_SET):
                self._parameter_view.change(kind.removeprefix(_SET), value)
            else:
                self.calls.call(kind, value)
        self._replace_robot()
        self.inputs.read()
        if self.robot is None or self.robot_view is None:
            return
        self.robot.update()
        show = self.page.show
        with self.page.server.atomic():
            self.robot_view.update(show.ghost.value)
            self.targets = self._frame_poses(self.robot, self.inputs.poses)
            self._gizmos.update(self.targets if show.targets.value else {}, self.gizmo_size)
            self._draw_markers(self.robot, now, is_watched)
            self._draw_trails(self.robot, now)
            self.workspace.update(self._base_pose(self.robot), show.workspace.value)
            self._process_obstacles(self.robot)
            self.page.obstacles.refresh()
        self._commands.send_obstacles(self.robot, self.page.obstacles)

    def _replace_robot(self) -> None:
        """Draw the robot of a new description once it has been read."""
        read = self._reader.take(self._wanted_description)
        if isinstance(read, str):
            self.answer, self._answer_end = read, math.inf
            self.get_logger().error(read)
        elif read is not None:
            self._show_robot(read)

    def _show_robot(self, robot: RobotState) -> None:
        if self.robot_view is not None:
            self.robot_view.remove()
        for problem in robot.problems:
            self.get_logger().warning(f'not drawn: {problem}')
        self.parameters.forget()
        self.trails.clear()
        self.page.lights_and_floor.put_floor(min(0.0, robot.lowest))
        x, y, z = robot.center.tolist()
        self.page.look_at((x, y, z), _CAMERA_PART * robot.radius)
        self.robot = self.inputs.robot = robot
        # Last, so that a robot that another thread finds drawn stands on its floor.
        self.robot_view = RobotView(self.page.server, robot)
        self.get_logger().info(f'{len(robot.meshes)} links drawn')

    def _frame_poses(
        self, robot: RobotState, messages: dict[str, PoseStamped]
    ) -> dict[str, np.ndarray]:
        """Return poses in the world [7] by task, for frames that are links."""
        found: dict[str, np.ndarray] = {}
        if not robot.is_known(MEASURED):
            return found
        for task, message in messages.items():
            frame = robot.link_pose(message.header.frame_id or robot.root_link)
            if frame is not None:
                found[task] = poses.multiply(frame, np.array(pose_numbers(message.pose)))
        return found

    def _base_pose(self, robot: RobotState) -> np.ndarray:
        """Return the pose of the node's base frame in the world [7]."""
        pose = robot.link_pose(self.parameters.values.get('base_frame', ''))
        return robot.root_pose if pose is None else pose

    def _draw_markers(self, robot: RobotState, now: float, is_watched: bool) -> None:
        """Draw closest pairs and collision shapes; without a browser the node draws no markers."""
        show = self.page.show
        self.inputs.listen_to_markers(is_watched and (show.pairs.value or show.shapes.value))
        message = self.inputs.take_markers()
        if message is not None:
            self._marker_time = now
        is_stale = now - self._marker_time > SILENCE
        frame = message.markers[0].header.frame_id if message and message.markers else ''
        base = robot.link_pose(frame)
        for view, is_shown in ((self.pairs_view, show.pairs), (self.shapes_view, show.shapes)):
            if is_stale or not is_shown.value or (message is not None and base is None):
                view.clear()
            elif message is not None and base is not None:
                view.show(message, base)

    def _process_obstacles(self, robot: RobotState) -> None:
        """Process the obstacles of the node, and the last list again for a new robot."""
        messages = self.inputs.take_obstacles()
        if not messages and self._list is not None and robot is not self._listed:
            messages = [self._list]
        if not messages:
            return
        self._listed = robot
        for message, publisher in messages:
            is_other_node = self._list is None or publisher != self._list[1]
            self._list = message, publisher
            if is_other_node:
                self.parameters.forget()
                self.page.forget_node()
            self.page.obstacles.process_node_list(message, robot.link_pose, is_other_node)

    def _draw_trails(self, robot: RobotState, now: float) -> None:
        targets = self._frame_poses(robot, self.inputs.take_targets())
        if not self.page.show.trails.value:
            self.trails.clear()
            return
        self.trails.update(
            {task: pose[:3] for task, pose in self.targets.items()},
            {task: pose[:3] for task, pose in targets.items()},
            now,
        )

    def _send_targets(self) -> None:
        """Publish the targets whose gizmos are held."""
        if self.robot is None:
            return
        # A number that was typed may end the others.
        joints = self.page.jog.goal()
        self._commands.send_poses(self.robot, self.requests.held())
        self._commands.send_joints(joints)
        self._commands.send_twist(self.robot, *self.requests.twist())

    def _show_status(self) -> None:
        """Show the state of the node, its parameters and plots."""
        status = self.inputs.status()
        if status is not None:
            for task in status.tasks:
                self._follow_task(task.name)
            # After a restart, poses of former tasks remain.
            self.inputs.keep_tasks({task.name for task in status.tasks})
        self._update_jog(status)
        if self.robot is not None:
            self._parameter_view.update()
        if status is not None and self.robot is not None:
            curves = plots.curves(self.robot, status, self.inputs.velocities)
            self.page.plots.add(time.monotonic(), curves)
        self._update_answer()
        name = self.resolve_topic_name(self._node_name)
        self.page.show_status(status_html(status, name), _sentence(self.answer))

    def _update_answer(self) -> None:
        """Take the newest answer of the node; those to buttons are shown for a while only."""
        now = time.monotonic()
        answers = (
            (self.calls.take_answer(), now + _ANSWER_TIME),
            (self.parameters.take_answer(), math.inf),
        )
        for answer, end in answers:
            if answer:
                self.answer, self._answer_end = answer, end
        if now > self._answer_end:
            self.answer, self._answer_end = '', math.inf

    def _follow_task(self, task: str) -> None:
        """Subscribe to the pose of a task's frame, and advertise its targets."""
        if task in self._tasks:
            return
        self._tasks.add(task)
        try:
            # The centre of mass has no frame; subscribing to its name is harmless.
            self.inputs.follow_task(task)
            self._commands.follow_task(task)
        except NameValidationException as error:
            self.get_logger().warning(f'task {task!r} cannot be followed: {error}')

    def _update_jog(self, status: IkStatus | None) -> None:
        """Adapt sliders and buttons to the robot and the node."""
        if self.robot is None or status is None:
            return
        names = self.robot.described(status.joint_names)
        # A joint target has all joints: one at a wrong position would move.
        if not self.robot.are_measured(names):
            return
        lower, upper, _ = self.robot.limits(names)
        positions = self.robot.positions(names)
        self.page.jog.update_controls(list(self.targets), positions, lower, upper)
        self.page.jog.show_measured(positions)


def _sentence(text: str) -> str:
    return f'<div style="margin:4px 8px"><i>{html.escape(text)}</i></div>' if text else ''

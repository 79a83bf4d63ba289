# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Description, joints and controllers of a robot on a running ROS graph.

Controllers of ros2_control are nodes that subscribe to a topic of commands and list their joints
in the parameter ``joints``. They are found without the messages of controller_manager.
"""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.exceptions import InvalidNamespaceException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ros_ik.errors import ArgumentError
from ros_ik.node.execution.executor import serve_one
from ros_ik.node.execution.fastdds_profile import set_fastdds_profile
from ros_ik.node.transport.qos_profiles import LATCHED

_DESCRIPTION, _SEMANTIC = 'robot_description', 'robot_description_semantic'
_TYPES = {
    'trajectory_msgs/msg/JointTrajectory': 'joint_trajectory',
    'std_msgs/msg/Float64MultiArray': 'float64_multi_array',
}
# Number of polls of the graph, and time between two [s], without a change after which it is
# complete.
_LOOKS, _LOOK_PERIOD = 20, 0.05


@dataclasses.dataclass(frozen=True)
class FoundController:
    """A controller on the graph.

    Attributes:
        name: Name of its node.
        topic: Command topic.
        type: Type of output for this controller.
        joints: Joints in the order of the controller, () if unknown.
        update_rate: Rate of its controller manager [Hz], 0 if unknown.
        is_type_known: True if it is known whether an array holds positions or velocities.
        is_active: True if it follows commands, or if that is unknown.
    """

    name: str
    topic: str
    type: str
    joints: tuple[str, ...] = ()
    update_rate: float = 0.0
    is_type_known: bool = True
    is_active: bool = True


@dataclasses.dataclass(frozen=True)
class RobotGraph:
    """The robot on a graph.

    Attributes:
        description: URDF, '' if it is not published.
        semantic: SRDF, '' if it is not published.
        controllers: Controllers by topic.
        positions: Finite positions of joints by name [rad or m], those that were heard.
        other_namespaces: Other namespaces on the graph that have a description.
    """

    description: str
    semantic: str
    controllers: tuple[FoundController, ...]
    positions: dict[str, float]
    other_namespaces: tuple[str, ...] = ()


def read_graph(patience: float, namespace: str = '') -> RobotGraph:
    """Read the robot from the graph.

    Args:
        patience: Longest wait for a description, for the discovery of nodes, and for each answer
            [s].
        namespace: Namespace of the robot; controllers elsewhere are ignored. '' for a robot
            described at the root, with the controllers of the whole graph.

    Raises:
        ArgumentError: ROS does not allow the name of the namespace.
    """
    set_fastdds_profile()
    context = rclpy.Context()
    rclpy.init(context=context)
    executor = SingleThreadedExecutor(context=context)
    try:
        node = rclpy.create_node('ros_ik_setup', context=context, namespace=namespace)
    except InvalidNamespaceException as error:
        rclpy.shutdown(context=context)
        raise ArgumentError(str(error)) from error
    executor.add_node(node)
    try:
        return _Listener(node, executor, patience).listen()
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


def _without_recorders(found: list[FoundController]) -> list[FoundController]:
    """Return the controllers among the subscribers of a topic, which list their joints.

    If none does, one of the subscribers is returned.
    """
    return [controller for controller in found if controller.joints] or found[:1]


class _Listener:
    """Temporary node with an executor of its own."""

    def __init__(self, node: Node, executor: SingleThreadedExecutor, patience: float) -> None:
        self._node, self._executor, self._patience = node, executor, patience
        self._texts = {_DESCRIPTION: '', _SEMANTIC: ''}
        for topic in self._texts:
            node.create_subscription(String, topic, self._text_callback(topic), LATCHED)
        self._positions: dict[str, float] = {}
        node.create_subscription(
            JointState, 'joint_states', self._keep_positions, qos_profile_sensor_data
        )

    def listen(self) -> RobotGraph:
        """Listen for a while, and return the robot found on the graph."""
        self._spin(self._patience, lambda: bool(self._texts[_DESCRIPTION]))
        self._discover()
        space = self._node.get_namespace().rstrip('/') + '/'
        controllers = []
        for topic, kinds in sorted(self._node.get_topic_names_and_types()):
            for kind in kinds:
                if kind in _TYPES and topic.startswith(space):
                    controllers += _without_recorders(self._controllers(topic, _TYPES[kind]))
        texts = self._texts
        return RobotGraph(
            texts[_DESCRIPTION], texts[_SEMANTIC], tuple(controllers), self._positions,
            self._other_namespaces(space),
        )  # fmt: skip

    def _other_namespaces(self, space: str) -> tuple[str, ...]:
        """Return the namespaces with a description; ``space`` is the own one, with its slash."""
        topics = [
            topic for topic, _ in sorted(self._node.get_topic_names_and_types())
            if topic.endswith(f'/{_DESCRIPTION}') and topic != space + _DESCRIPTION
            and self._node.count_publishers(topic)
        ]  # fmt: skip
        return tuple(topic.removesuffix(f'/{_DESCRIPTION}') or '/' for topic in topics)

    def _keep_positions(self, message: JointState) -> None:
        for name, position in zip(message.name, message.position, strict=False):
            if math.isfinite(position):
                self._positions[name] = position

    def _text_callback(self, topic: str) -> Any:
        def keep(message: String) -> None:
            self._texts[topic] = message.data

        return keep

    def _spin(self, seconds: float, condition: Any) -> None:
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up and not condition():
            serve_one(self._executor, 0.05)

    def _discover(self) -> None:
        """Poll the graph until nothing new appears; polls are counted, as they may be delayed."""
        give_up = time.monotonic() + self._patience
        known: Any = None
        looks = 0
        while looks < _LOOKS and time.monotonic() < give_up:
            self._spin(_LOOK_PERIOD, lambda: False)
            node = self._node
            found = (
                node.get_node_names(),
                node.get_topic_names_and_types(),
                node.get_service_names_and_types(),
            )
            looks = looks + 1 if found == known else 0
            known = found

    def _controllers(self, topic: str, kind: str) -> list[FoundController]:
        """Return the controllers that subscribe to a topic."""
        found = []
        for info in self._node.get_subscriptions_info_by_topic(topic):
            space = info.node_namespace.rstrip('/')
            name = f'{space}/{info.node_name}'
            joints = self._parameter(name, 'joints')
            # forward_command_controller has one interface, joint_trajectory_controller several.
            interface = self._parameter(name, 'interface_name')
            is_array = kind == 'float64_multi_array'
            if is_array and interface not in (None, 'position', 'velocity'):
                continue  # such as effort
            rate = self._parameter(f'{space}/controller_manager', 'update_rate')
            found.append(
                FoundController(
                    info.node_name,
                    topic,
                    f'{kind}_velocities' if is_array and interface == 'velocity' else kind,
                    tuple(joints) if isinstance(joints, (list, tuple)) else (),
                    float(rate) if isinstance(rate, (int, float)) else 0.0,
                    not is_array or interface is not None,
                    self._is_active(name),
                )
            )
        return found

    def _parameter(self, node: str, name: str) -> Any:
        """Return a parameter of another node, or None without an answer."""
        request = GetParameters.Request(names=[name])
        answer = self._ask(GetParameters, f'{node}/get_parameters', request)
        if answer is None or not answer.values:
            return None
        return parameter_value_to_python(answer.values[0])

    def _is_active(self, node: str) -> bool:
        """Return True if a lifecycle node is active, True without an answer."""
        answer = self._ask(GetState, f'{node}/get_state', GetState.Request())
        return answer is None or answer.current_state.id == State.PRIMARY_STATE_ACTIVE

    def _ask(self, kind: Any, service: str, request: Any) -> Any:
        """Return the answer of a service, or None after the timeout."""
        # Do not wait for a service that does not exist.
        if service not in dict(self._node.get_service_names_and_types()):
            return None
        client = self._node.create_client(kind, service)
        try:
            self._spin(self._patience, client.service_is_ready)
            future = client.call_async(request)
            self._spin(self._patience, future.done)
            return future.result() if future.done() else None
        finally:
            self._node.destroy_client(client)

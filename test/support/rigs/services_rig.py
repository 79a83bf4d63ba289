# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A client of the planners' services, and the process that answers them."""

from pathlib import Path
import time

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
from sensor_msgs.msg import JointState
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import robot_text
from support.rigs.ros_rig import LONG
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.demo.robots import find_robot
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.srv import SolveFk
from ros_ik_interfaces.srv import SolveIk
from tools.process_stat import process_stat
from tools.process_stat import process_stats


def pose_message(row):
    """Return a pose message of 7 numbers."""
    x, y, z, qx, qy, qz, qw = map(float, row)
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def points(rows):
    """Return trajectory points of configurations."""
    return [JointTrajectoryPoint(positions=[float(v) for v in row]) for row in rows]


def begin(client, kind, name, request):
    """Send a request; return the future of its answer."""
    caller = client.node.create_client(kind, f'ros_ik/{name}')
    client.wait_for(caller.service_is_ready, f'service {name}', LONG)
    return caller.call_async(request)


def connect(client, kind, name, request):
    """Return a service client after its first answer: none of its later requests is lost.

    The service may lose requests and answers of a client that it has only just discovered.
    """
    caller = client.node.create_client(kind, f'ros_ik/{name}')
    client.wait_for(caller.service_is_ready, f'service {name}', LONG)
    _first_answer(client, caller, request)
    return caller


def ask(client, kind, name, request):
    """Send a request and return its answer; the first one after discovery may lose it.

    It is sent again if no answer comes; the first answer counts, because an earlier request may
    only take long, and later ones are refused if too many wait.
    """
    caller = client.node.create_client(kind, f'ros_ik/{name}')
    try:
        client.wait_for(caller.service_is_ready, f'service {name}', LONG)
        return _first_answer(client, caller, request)
    finally:
        client.node.destroy_client(caller)


def _first_answer(client, caller, request):
    asked, answers, again = [], [], 0.0

    def is_answered():
        nonlocal again
        if time.monotonic() >= again:
            asked.append(caller.call_async(request))
            again = time.monotonic() + 0.1 * LONG
        found = [future.result() for future in asked if future.done()]
        is_over = len(found) == len(asked)
        answers[:] = [answer for answer in found if is_over or not _is_busy(answer)]
        return bool(answers)

    client.wait_for(is_answered, f'answer of {caller.srv_name}', LONG)
    return answers[0]


def _is_busy(answer):
    return getattr(answer, 'message', '').startswith('busy')


def solve(client, **fields):
    """Call solve_ik."""
    return ask(client, SolveIk, 'solve_ik', SolveIk.Request(**fields))


def unreachable(n):
    """Return poses that take long because none of them is reachable."""
    # A message for each would take longer than to send them.
    few = [pose_message([2.0 + 0.01 * k, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]) for k in range(100)]
    return (few * (n // len(few) + 1))[:n]


def start(client, name='panda', **values):
    """Start a node without a robot and wait until it has a model and joint states of its home."""
    files = find_robot(name)
    client.processes.start(
        'node', 'ros_ik.node.ros_ik_node',
        **{'ee__frame': files.tip_link, 'base_frame': files.base_link, 'services__nice': 0,
           # Requests are answered by another process, however slow the loop.
           'joint_state_timeout': 60.0, 'control_rate': 25.0,
           # The first request of a kind compiles its kernels.
           'services__timeout': 300.0, **values},
    )  # fmt: skip
    publisher = client.node.create_publisher(JointState, 'joint_states', 1)
    home = make_planner(name)
    names = list(home.robot.coord_of)
    state = JointState(name=names, position=[float(home.joint_q[home.robot.coord_of[n]])
                                             for n in names])  # fmt: skip
    client.node.create_timer(0.05, lambda: publisher.publish(state))
    client.describe(robot_text(name))
    client.wait_for_code(IkStatus.OK, timeout=LONG)
    # The first state has been sent to the process of the services.
    ready = SolveFk.Request(configurations=[JointTrajectoryPoint()])
    give_up = time.monotonic() + LONG
    while not (answer := ask(client, SolveFk, 'solve_fk', ready)).success:
        assert time.monotonic() < give_up, answer.message
        client.spin(0.05)


def process_ids(client):
    """Return the process ids of the node and of its children."""
    node = client.processes._running['node'].pid
    children = [process for process, stat in process_stats().items() if stat.parent == node]
    return node, [child for child in children if not is_gone(child)]


def costs(process_id):
    """Return the processor time of a process [s] and the most memory that it has had [kB]."""
    status = Path(f'/proc/{process_id}/status').read_text()
    (line,) = [line for line in status.splitlines() if line.startswith('VmHWM')]
    return process_stat(process_id).processor_time, int(line.split()[1])


def is_gone(process_id):
    """Return True if a process has ended; a zombie counts as ended."""
    try:
        return process_stat(process_id).state in 'ZX'
    except OSError:
        return True


def wait_until_gone(client, process_id):
    """Wait for the end of a process."""
    client.wait_for(lambda: is_gone(process_id), f'end of process {process_id}')

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launch files run by ROS's own launch, in a process of their own."""

import importlib.util
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import time

from ament_index_python.packages import get_package_prefix
from ament_index_python.packages import PackageNotFoundError

ROOT = Path(__file__).resolve().parents[3]
MISSING = "ROS's launch and launch_ros are not on PyPI; they come with a ROS install"
PATIENCE = 120.0
# Launch would kill processes after a few seconds, which a busy machine may need.
ENDING = {'sigterm_timeout': 60, 'sigkill_timeout': 60}
# The same as `ros2 launch`, which needs ros2cli too.
SCRIPT = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
arguments = [word.split(':=', 1) for word in sys.argv[2:]]
service = LaunchService(noninteractive=True)
service.include_launch_description(
    LaunchDescription([IncludeLaunchDescription(sys.argv[1], launch_arguments=arguments)])
)
sys.exit(service.run())
"""


def is_missing():
    """Return True if launch is missing, or is the other package of that name."""
    return importlib.util.find_spec('launch_ros') is None


def installed_prefix(folder):
    """Return a prefix in which ros_ik is installed; install it if there is none."""
    try:
        return Path(get_package_prefix('ros_ik'))
    except PackageNotFoundError:
        subprocess.run(
            [shutil.which('colcon'), 'build', '--base-paths', ROOT, '--packages-select', 'ros_ik'],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        return folder / 'install' / 'ros_ik'


class Launch:
    """A running launch file."""

    def __init__(self, prefix, domain, log, name, **arguments):
        """Start it.

        Args:
            prefix: Where ros_ik is installed.
            domain: ROS domain.
            log: File for what it writes.
            name: Name of the launch file.
            arguments: Its arguments.
        """
        (site_packages,) = prefix.glob('lib/python3*/site-packages')
        paths = [str(ROOT), str(site_packages), os.environ.get('PYTHONPATH', '')]
        words = [f'{key}:={value}' for key, value in {**ENDING, **arguments}.items()]
        self._log = log
        self._process = subprocess.Popen(
            [sys.executable, '-c', SCRIPT, prefix / 'share/ros_ik/launch' / name, *words],
            env={
                **os.environ,
                'ROS_DOMAIN_ID': str(domain),
                'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                'ROS_LOG_DIR': str(log.parent),
                'PYTHONPATH': os.pathsep.join(paths),
                'AMENT_PREFIX_PATH': os.pathsep.join(
                    [str(prefix), os.environ.get('AMENT_PREFIX_PATH', '')]
                ),
            },
            stdout=log.open('w'),
            stderr=subprocess.STDOUT,
        )

    def text(self):
        """Return its output."""
        return self._log.read_text()

    def wait_for(self, text):
        """Wait until its output has a text."""
        give_up = time.monotonic() + PATIENCE
        while text not in self.text():
            assert time.monotonic() < give_up and self._process.poll() is None, self.text()
            time.sleep(0.05)

    def process_id(self, executable):
        """Return the id of the newest process that was started for an executable."""
        started = [line for line in self.text().splitlines() if 'process started with pid' in line]
        line = [line for line in started if f'[{executable}-' in line][-1]
        return int(line.rpartition('[')[2].rstrip(']'))

    def interrupt(self):
        """Send Ctrl-C; return the exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(2 * PATIENCE)

    def end(self):
        """End it if it still runs; it ends its processes, which would survive SIGTERM."""
        if self._process.poll() is None:
            self.interrupt()

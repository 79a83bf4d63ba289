# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The builder thread: parses robot descriptions, compiles kernels and captures graphs."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import dataclasses
import queue
import threading
import time

from ros_ik.errors import RosIkError
from ros_ik.kinematics.runtime.shared_compilation import share_compilations
from ros_ik.model import Model
from ros_ik.node.execution.realtime import collect_and_freeze
from ros_ik.node.model_loading.compile_ahead import compile_ahead
from ros_ik.node.model_loading.devices import choose_device
from ros_ik.node.model_loading.package_paths import package_paths
from ros_ik.node.model_loading.progress import ProgressLog
from ros_ik.servo import Servo
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import Settings

# Period of checks for rest before a servo is built [s].
_REST_POLL = 0.005

_SUPERSEDED = 'superseded by a newer robot description, or the node ends'

# First stage of the first build.
_PREPARING = 'preparing the kernels'


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """Robot description for which to build a servo.

    Attributes:
        urdf: Text of the robot description.
        srdf: Text of the semantic description, or ''.
        settings: Settings in force.
        request_rest: Function called once the description is parsed, because graphs must not be
            captured during ticks of another servo.
        is_resting: Function that tells whether the control thread leaves the device alone.
    """

    urdf: str
    srdf: str
    settings: Settings
    request_rest: Callable[[], None]
    is_resting: Callable[[], bool]


@dataclasses.dataclass(frozen=True, eq=False)
class Built:
    """Result of a job: a servo, or an error.

    Attributes:
        job: The job.
        servo: The servo, or None.
        error: Reason for a missing servo.
        warnings: Warnings about the servo, as sentences.
    """

    job: Job
    servo: Servo | None
    error: str = ''
    warnings: tuple[str, ...] = ()


class ModelBuilder:
    """Builder of servos, in a thread of its own.

    One job waits at most: a newer one takes its place, because only its result is of use. So
    publishers that are faster than the builder cannot fill the memory.

    Attributes:
        progress: Progress of the newest build.
        is_ending: True once the end of the thread was requested.
    """

    def __init__(self, settings: Settings | None) -> None:
        """Start the thread; it waits for jobs.

        Args:
            settings: Expected settings of the first job, to prepare its kernels, or None.
        """
        self._likely = settings
        # Holds the job that waits, or None to end the thread.
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._replacing = threading.Lock()
        self._results: queue.SimpleQueue[Built] = queue.SimpleQueue()
        share_compilations()
        self.progress = ProgressLog()
        self._pending = 0
        self.is_ending = False
        # The count of frozen objects cannot tell: the node freezes its imports before.
        self._has_built = False
        self._thread = threading.Thread(target=self._run, name='model_builder', daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """True while a job has no collected result."""
        return self._pending > 0

    def start(self, job: Job) -> None:
        """Start a job once the running one is over; one that waits is dropped."""
        if not self.is_ending:
            self._pending += 1 - self._replace_waiting(job)

    def collect(self, timeout: float = 0.0) -> Built | None:
        """Return the newest result, or None if there is none within ``timeout`` s."""
        built = None
        with contextlib.suppress(queue.Empty):
            built = self._results.get(block=timeout > 0.0, timeout=timeout or None)
            self._pending -= 1
            while True:
                built = self._results.get_nowait()
                self._pending -= 1
        return built

    def end(self, timeout: float) -> bool:
        """Request the end of the thread; return True if it ends within ``timeout`` s.

        Compilation cannot be stopped.
        """
        self.is_ending = True
        self._replace_waiting(None)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _replace_waiting(self, newest: Job | None) -> int:
        """Let a job wait, or None to end the thread; return how many jobs it replaces."""
        with self._replacing:
            waiting: list[Job | None] = []
            with contextlib.suppress(queue.Empty):
                waiting.append(self._jobs.get_nowait())
            # The end may have been requested by another thread.
            self._jobs.put(None if None in waiting else newest)
        return len(waiting)

    def _run(self) -> None:
        if self._likely is not None:
            self._prepare(self._likely)
        while (job := self._jobs.get()) is not None:
            try:
                self._results.put(self._build(job))
            except RosIkError as error:
                self._results.put(Built(job, None, str(error)))
            except Exception as error:  # noqa: BLE001 whatever a description does, the node lives on
                self._results.put(Built(job, None, f'{type(error).__name__}: {error}'))

    def _prepare(self, settings: Settings) -> None:
        """Prepare the kernels of the first servo before a description arrives."""
        self.progress.begin(_PREPARING)
        try:
            compile_ahead(settings, choose_device(settings.device)[0])
        except Exception:  # noqa: BLE001, S110 the first job fails with the same reason
            pass

    def _check_newest(self) -> None:
        """Raise RosIkError if a job waits, or the end of the thread."""
        if not self._jobs.empty():
            raise RosIkError(_SUPERSEDED)

    def _build(self, job: Job) -> Built:
        """Build a servo from a description; the robot must rest before kernels compile."""
        device, faults = choose_device(job.settings.device)
        # Kernels that were prepared belong to the first build.
        is_first = self.progress.latest.get().stage == _PREPARING
        self.progress.begin('reading the robot description', goes_on=is_first)
        model = Model.from_urdf(
            job.urdf, job.srdf or None, package_paths=package_paths(), device=device
        )
        resolve_robot(model, job.settings)  # what does not fit does not stop the robot
        self._check_newest()
        self.progress.advance('waiting for the robot to rest')
        job.request_rest()
        # Without a time limit: a simulation may be paused, and low accelerations make long stops.
        while not job.is_resting():
            self._check_newest()
            time.sleep(_REST_POLL)
        self.progress.advance('building the model')
        compile_ahead(job.settings, device)
        servo = Servo(model, job.settings)
        _ = servo.robot.srdf_lines  # here, because nothing waits for it
        # The robot is still at rest; in motion this would delay ticks.
        collect_and_freeze(whole=self._has_built)
        self._has_built = True
        return Built(job, servo, warnings=tuple(f'{fault}: using {device}' for fault in faults))

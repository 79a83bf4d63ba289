# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Queue of planners' requests: one is answered at a time, a bounded number waits."""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Sequence
import contextlib
import dataclasses
import threading
import traceback
from typing import Any

from ros_ik.errors import RosIkError
from ros_ik.node.execution.guard import internal_error
from ros_ik.node.model_loading.devices import choose_device
from ros_ik.node.model_loading.devices import fault_of
from ros_ik.node.services.process_link import Description
from ros_ik.node.services.process_link import ObstacleState
from ros_ik.node.services.process_link import PlannerRobotState
from ros_ik.planning import Budget
from ros_ik.planning import Planner
from ros_ik.planning import RequestError
from ros_ik.settings import Settings

_CHANGED = 'the robot description changed; ask again'


@dataclasses.dataclass(eq=False)
class Job:
    """A request.

    Attributes:
        work: Computes the answer; called in the thread of the jobs.
        on_answer: Receives the result of ``work``; called in any thread.
        on_refusal: Receives the reason if there is no answer; called instead, in any thread.
        budget: Time budget.
    """

    work: Callable[[Planner, Budget], Any]
    on_answer: Callable[[Any], None]
    on_refusal: Callable[[str], None]
    budget: Budget
    _open: threading.Lock = dataclasses.field(default_factory=threading.Lock, init=False)

    def answer(self, result: Any) -> None:
        """Forward the result, unless the request was answered or refused before.

        After an error in ``on_answer``, which is raised, the request may still be refused.
        """
        if self._open.acquire(blocking=False):
            try:
                self.on_answer(result)
            except BaseException:
                self._open.release()
                raise

    def refuse(self, reason: str) -> None:
        """Forward the reason for a missing result, unless the request was answered or refused."""
        if self._open.acquire(blocking=False):
            self.on_refusal(reason)


@dataclasses.dataclass(frozen=True, eq=False)
class _Built:
    """Result of a build.

    Attributes:
        description: The description.
        planner: Its planner, or the reason why there is none.
    """

    description: Description
    planner: Planner | str


class Jobs:
    """A thread that owns the planner and answers requests."""

    def __init__(
        self,
        max_waiting: int,
        prepare: Callable[[Planner], None],
        log: Callable[[str], None],
        package_paths: Sequence[str] = (),
        catch_up: Callable[[Budget], None] = lambda budget: None,
        idle_steps: Callable[[], Sequence[Callable[[Planner], None]]] = tuple,
    ) -> None:
        """Start the thread.

        Args:
            max_waiting: Maximum number of waiting requests.
            prepare: Function called with a new planner before its first request.
            log: Receives internal errors.
            package_paths: Folders in which meshes are looked up.
            catch_up: Function called before a request is answered. It waits until settings, state
                and obstacles that are under way were applied.
            idle_steps: Function that returns further steps of the preparation. Each is called
                with the new planner while no request waits.
        """
        self._catch_up = catch_up
        self._package_paths = package_paths
        self._max_waiting, self._prepare, self._log = max_waiting, prepare, log
        self._news = threading.Condition()
        self._waiting: collections.deque[Job] = collections.deque()
        self._running: Job | None = None
        self._description: Description | None = None
        self._built: _Built | None = None
        self._idle_steps = idle_steps
        # Steps that are left for the planner.
        self._left: collections.deque[Callable[[Planner], None]] = collections.deque()
        # Newest settings since the description.
        self._settings: Settings | None = None
        self._state: PlannerRobotState | None = None
        self._world: ObstacleState | None = None
        self._ending = ''
        threading.Thread(target=self._run, name='jobs', daemon=True).start()

    def submit(self, job: Job) -> None:
        """Queue a request, or refuse it at once."""
        with self._news:
            reason, ahead = self._ending, len(self._waiting) + (self._running is not None)
            if not reason and ahead > self._max_waiting:
                reason = (
                    f'busy: {ahead} requests are being answered or waiting; at most '
                    f'{self._max_waiting} may wait (services.max_waiting)'
                )
            if not reason:
                self._waiting.append(job)
                self._news.notify()
        if reason:
            job.refuse(reason)

    def describe(self, description: Description) -> None:
        """Switch to another robot; pending requests for the previous one are refused."""
        with self._news:
            # Requests before the first description wait for it.
            dropped = [] if self._description is None else self._drop(_CHANGED)
            self._description, self._settings = description, None
            self._news.notify()
        for job in dropped:
            job.refuse(_CHANGED)

    def apply(self, settings: Settings) -> None:
        """Apply changed settings before the next request; after an error, before a later one."""
        self._settings = settings

    def measure(self, state: PlannerRobotState) -> None:
        """Store a measured state before the next request."""
        self._state = state

    def place(self, world: ObstacleState) -> None:
        """Apply the obstacles before the next request."""
        self._world = world

    def end(self, reason: str) -> None:
        """Refuse all requests, and end the thread after the running one."""
        with self._news:
            self._ending = reason
            running = [] if self._running is None else [self._running]
            dropped = running + self._drop(reason)
            self._news.notify()
        for job in dropped:
            job.refuse(reason)

    def _drop(self, reason: str) -> list[Job]:
        """Cancel the running request; return the waiting ones, which are removed."""
        if self._running is not None:
            self._running.budget.cancel(reason)
        dropped = list(self._waiting)
        self._waiting.clear()
        return dropped

    def _run(self) -> None:
        while True:
            with self._news:
                self._running = None
                self._news.wait_for(
                    lambda: self._ending or self._unbuilt() or self._has_work() or self._left
                )
                if self._ending:
                    return
                description = self._unbuilt()
                if description is None and self._has_work():
                    self._running = self._waiting.popleft()
            try:
                if description is not None:
                    self._build(description, description.settings)
                elif self._running is not None:
                    self._answer(self._running)
                else:
                    self._prepare_further()
            except Exception as error:  # noqa: BLE001 requests without this thread get no answer
                self._log_error()
                if self._running is not None:
                    self._refuse_after(self._running, error)

    def _log_error(self) -> None:
        """Log the error that is handled, if possible."""
        with contextlib.suppress(Exception):
            self._log(traceback.format_exc())

    @staticmethod
    def _refuse_after(job: Job, error: Exception) -> None:
        """Refuse a request because of an error, if possible."""
        with contextlib.suppress(Exception):
            job.refuse(internal_error(error))

    def _unbuilt(self) -> Description | None:
        """Return the newest description if it is still to be built, otherwise None."""
        is_done = self._built is not None and self._built.description is self._description
        return None if is_done else self._description

    def _has_work(self) -> bool:
        return bool(self._waiting) and self._built is not None

    def _build(self, description: Description, settings: Settings) -> None:
        # The memory of the previous planner is released first.
        self._built = None
        self._left.clear()
        self._built = _Built(description, self._make_planner(description, settings))
        if not isinstance(self._built.planner, str):
            self._left.extend(self._idle_steps())

    def _prepare_further(self) -> None:
        """Make one step of the preparation; errors end it, not the thread."""
        assert self._built is not None and not isinstance(self._built.planner, str)
        try:
            self._left.popleft()(self._built.planner)
        except RosIkError:
            self._left.clear()  # joint states are missing; a request that needs them reports that
        except Exception:  # noqa: BLE001 a request fails with the same reason
            self._left.clear()
            self._log_error()
            self._replace_lost_device()

    def _make_planner(self, description: Description, settings: Settings) -> Planner | str:
        """Return the planner of a robot, or the reason why there is none."""
        try:
            device, _ = choose_device(settings.device)
            planner = Planner(
                description.urdf, description.srdf, settings, self._package_paths, device
            )
            self._prepare(planner)
        except RosIkError as error:
            return f'there is no model: {error}'
        except Exception as error:  # noqa: BLE001 the services stay, and say why they are of no use
            self._log_error()
            return f'there is no model: {type(error).__name__}: {error}'
        return planner

    def _answer(self, job: Job) -> None:
        """Answer one request; errors do not end the thread."""
        try:
            self._catch_up(job.budget)
            planner = self._renewed_planner()
            result = job.work(planner, job.budget)
            job.budget.check()
        except RosIkError as error:
            job.refuse(str(error))
        except Exception as error:  # noqa: BLE001 the caller gets an answer, the log the rest
            self._log_error()
            self._refuse_after(job, error)
            self._replace_lost_device()
        else:
            job.answer(result)

    def _replace_lost_device(self) -> None:
        """Build the planner on the next device of the settings if its own works no more."""
        built = self._built
        if built is None or isinstance(built.planner, str):
            return
        if fault_of(str(built.planner.model.device)):
            self._build(built.description, built.planner.settings)

    def _renewed_planner(self) -> Planner:
        """Return the planner with the newest settings, state and obstacles.

        Raises:
            RequestError: There is no planner.
        """
        assert self._built is not None, 'requests wait for a build'
        planner, generation = self._built.planner, self._built.description.generation
        if isinstance(planner, str):
            raise RequestError(planner)
        with self._news:
            # Those of a newer description are for its planner.
            settings = None if self._unbuilt() else self._settings
        if settings is not None and settings is not planner.settings:
            planner.apply(settings)
        state = self._state
        if state is not None and state.generation == generation:
            planner.measure(state.joint_q, state.known, state.current)
        world = self._world
        if world is not None and world.generation == generation:
            if world.obstacles is not planner.obstacles:
                planner.place(world.obstacles, world.joint_q)
        return planner

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Condition of the node for its users: missing inputs, builds, refused descriptions, failures."""

from __future__ import annotations

from typing import Any

from ros_ik.node.control.inbox import Inbox
from ros_ik.node.control.inbox import WaitingStatus
from ros_ik.node.reports.reporter import Reporter
from ros_ik.servo import StatusCode


class NodeCondition:
    """Reports of the node on itself, in its status, its diagnostics and its log.

    A status without a servo gives the condition as its text; one of a servo adds it as a notice.

    Attributes:
        failure: Reason why the previous servo was released, until the node is active again, or ''.
    """

    def __init__(self, logger: Any, inbox: Inbox, reporter: Reporter) -> None:
        """Start without a failure."""
        self._logger, self._inbox, self._reporter = logger, inbox, reporter
        self.failure = ''

    def report_waiting(self, code: StatusCode, text: str, *names: str) -> None:
        """Set the status without a servo; ``names`` are those of missing inputs."""
        self._inbox.waiting.put(WaitingStatus(code, text, names))

    def report_progress(self, text: str) -> None:
        """Report the progress of the build of a model."""
        # First, so that every status is already in the log.
        self._logger.info(text)
        if self._inbox.controlled.get() is None:
            self.report_waiting(StatusCode.WARMING_UP, text)
        else:
            self._inbox.notice.put(f'new robot description: {text}')

    def refuse_configuration(self, reason: str) -> None:
        """Report why the node is not configured."""
        self.report_waiting(StatusCode.INVALID, f'not configured: {reason}')
        self._reporter.problem = reason
        self._logger.error(f'cannot configure: {reason}')

    def refuse_description(self, error: str) -> None:
        """Report why a description gave no model; a running servo continues."""
        self._reporter.problem = error
        has_servo = self._inbox.controlled.get() is not None
        self._inbox.notice.put(f'robot description refused: {error}' if has_servo else '')
        self._logger.error(f'robot description refused: {error}')
        if not has_servo:
            code = StatusCode.SOLVER_FAILED if self.failure else StatusCode.INVALID
            self.report_waiting(code, f'no model: {error}', 'robot_description')

    def note_failure(self, reason: str) -> None:
        """Record and report why a servo was released, or '' for a node in order."""
        self.failure = self._reporter.problem = reason
        self._inbox.notice.put(f'deactivated after an error: {reason}' if reason else '')

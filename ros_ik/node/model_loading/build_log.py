# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Log lines about a new model."""

from __future__ import annotations

from typing import Any

from ros_ik.node.model_loading.model_builder import Built
from ros_ik.node.model_loading.srdf_lines import touching_sentences
from ros_ik.servo import Servo


def log_built(logger: Any, built: Built, servo: Servo, summary: str) -> None:
    """Log warnings and properties of a new servo.

    Args:
        logger: Logger of the node.
        built: Result of the build.
        servo: The new servo.
        summary: Durations of the parts of the build.
    """
    logger.info(summary)
    for sentence in built.warnings:
        logger.warning(sentence)
    model = servo.robot.model
    for document, texts in (
        ('robot description', model.urdf_warnings),
        ('SRDF', model.srdf_warnings),
    ):
        if texts:
            logger.warning(f'{document}: {len(texts)} warnings, the first: {texts[0]}')
    for name in servo.robot.unreported:
        logger.warning(
            f'joint {name} moves a task and has several degrees of freedom, which joint states '
            'cannot report: it is taken to be at its neutral position. Describe a mobile base by '
            'two prismatic joints and a revolute one'
        )
    for sentence in servo.robot.shapes.warnings:
        logger.warning(f'collision shapes: {sentence}')
    for sentence in touching_sentences(servo):
        logger.info(sentence)

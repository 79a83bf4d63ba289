# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Values of all parameters, typed and immutable; documented in the schema."""

from __future__ import annotations

import dataclasses

Vector = tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class TaskSettings:
    """Settings of one frame task; ``<task>.*`` of the schema."""

    name: str
    frame: str
    reference_frame: str
    offset_xyz: Vector
    offset_rpy: Vector
    position_weight: Vector
    orientation_weight: Vector
    gain: float
    priority: int
    max_linear_speed: float
    max_angular_speed: float
    max_linear_acceleration: float
    max_angular_acceleration: float
    linear_tolerance: float
    angular_tolerance: float
    target_prediction: str
    target_filter_tau: float
    elbow_frame: str
    elbow_direction: Vector
    elbow_speed: float
    manipulability_speed: float


@dataclasses.dataclass(frozen=True)
class JointLimitSettings:
    """Limits that tighten those of the URDF; None keeps that of the URDF."""

    joint: str
    max_velocity: float | None
    max_acceleration: float | None
    max_jerk: float | None
    min_position: float | None
    max_position: float | None


@dataclasses.dataclass(frozen=True)
class BarrierSettings:
    """Box for the origin of a link; ``barriers.position.<barrier>.*`` of the schema."""

    name: str
    frame: str
    min: Vector
    max: Vector
    axes: tuple[bool, bool, bool]
    gain: float
    margin: float


@dataclasses.dataclass(frozen=True)
class OutputSettings:
    """Settings of one controller; ``outputs.<output>.*`` of the schema."""

    name: str
    topic: str
    type: str
    joints: tuple[str, ...]
    command_horizon: float
    publish_velocities: bool
    position_gain: float
    stamp: str
    state_topic: str


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every parameter of the node. Names are those of the schema with dots as underscores."""

    autostart: bool
    control_rate: float
    device: str
    robot_description_timeout: float
    on_description_change: str
    base_frame: str
    joint_group: str
    locked_joints: tuple[str, ...]
    tasks: tuple[TaskSettings, ...]
    posture_weight: float
    posture_positions: tuple[float, ...]
    posture_joints: tuple[str, ...]
    posture_centering: float
    com_weight: float
    com_max_linear_speed: float
    com_max_linear_acceleration: float
    com_linear_tolerance: float
    command_time_source: str
    command_in_type: str
    scale_linear: float
    scale_rotational: float
    scale_joint: float
    target_filter_tau: float
    halt_mode: str
    solver_damping: float
    solver_singularity_threshold: float
    solver_singularity_damping: float
    solver_regularization: float
    solver_max_iterations: int
    command_timeout: float
    joint_state_timeout: float
    max_target_step_linear: float
    max_target_step_angular: float
    target_jump_policy: str
    following_error_delay: float
    following_error_max: tuple[float, ...]
    following_error_action: str
    synchronise_to: str
    synchronise_tolerance: float
    limits_position_margin: tuple[float, ...]
    limits_velocity_scale: float
    limits_acceleration_scale: float
    limits_jerk: str
    joint_limits: tuple[JointLimitSettings, ...]
    barriers_recheck: bool
    barriers_self_collision_enabled: bool
    barriers_self_collision_margin: float
    barriers_self_collision_gain: float
    barriers_self_collision_max_pairs: int
    barriers_world_enabled: bool
    barriers_world_margin: float
    barriers_world_gain: float
    barriers_world_evasion_speed: float
    barriers_max_obstacles: int
    collision_ignore_pairs: tuple[str, ...]
    collision_padding: float
    collision_exclude_touching_pairs: bool
    barriers: tuple[BarrierSettings, ...]
    outputs: tuple[OutputSettings, ...]
    rollout_steps: int
    publish_when_idle: bool
    status_rate: float
    diagnostics_period: float
    use_tf: bool
    bond_heartbeat_period: float
    marker_rate: float
    rt_priority: int
    rt_cpu: int
    services_max_poses: int
    services_timeout: float
    services_max_waiting: int
    services_threads: int
    services_nice: int
    moveit_services: str
    actions_timeout: float
    actions_feedback_rate: float
    actions_goal_tolerance: float
    actions_goal_time: float

    @property
    def balance(self) -> tuple[object, ...]:
        """Priorities and weights, which decide between tasks that contradict each other."""
        tasks = [
            (task.priority, task.position_weight, task.orientation_weight) for task in self.tasks
        ]
        return self.com_weight, *tasks

    @property
    def period(self) -> float:
        """Duration of a tick [s]."""
        return 1.0 / self.control_rate

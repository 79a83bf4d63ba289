# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Map of the defined events to the tests that cause them on a running node over DDS.

One row for each event whose outcome the node defines. A row without a test, or with one that was
renamed or removed, fails.
"""

import ast
import functools
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1]

EVENTS = {
    'activation, unpause, reset, first command after silence': (
        'test_behaviour_start.py::'
        'test_it_comes_to_rest_and_starts_where_the_robot_was_put_meanwhile',
        'test_behaviour_start.py::test_targets_that_came_while_it_held_are_forgotten',
        'test_behaviour_start.py::test_a_pose_starts_from_the_measured_state_too',
        'test_node_tracking.py::test_motion_starts_where_the_robot_is',
    ),
    'tracking integrates from the command': (
        'test_behaviour_start.py::'
        'test_while_tracking_it_goes_on_from_the_command_not_from_the_measured_state',
    ),
    'command stale': (
        'test_behaviour_start.py::'
        'test_it_comes_to_rest_and_starts_where_the_robot_was_put_meanwhile',
        'test_node_tracking.py::test_a_stale_target_ends_at_rest_and_then_in_silence',
    ),
    'joint states stale': (
        'test_behaviour_start.py::'
        'test_it_comes_to_rest_and_starts_where_the_robot_was_put_meanwhile',
        'test_node_tracking.py::test_stale_joint_states_stop_it_and_it_goes_on_without_a_jump',
    ),
    'partial and reordered joint states': (
        'test_behaviour_start.py::test_joint_states_in_parts_and_in_any_order_are_enough',
        'test_behaviour_start.py::test_a_joint_that_is_missing_from_the_states_is_named',
    ),
    'NaN and garbage on every input': (
        'test_behaviour_garbage.py::test_what_is_wrong_is_counted_and_the_motion_goes_on',
        'test_behaviour_garbage.py::test_the_last_valid_target_counts_until_it_is_stale',
        'test_behaviour_garbage.py::test_many_bad_messages_are_few_lines_in_the_log',
        'test_behaviour_garbage.py::test_bytes_that_are_no_message_do_no_harm',
    ),
    'targets out of reach': (
        'test_behaviour_garbage.py::test_a_target_out_of_reach_stretches_the_robot_and_no_more',
    ),
    'nothing that is not finite leaves the node': (
        'test_behaviour_limits.py::'
        'test_only_finite_numbers_within_limits_leave_the_node_whatever_is_asked',
        '../servo/test_starts_and_ends.py::test_a_step_that_is_not_finite_never_leaves',
    ),
    'start outside limits': (
        'test_behaviour_limits.py::test_a_joint_outside_its_limits_moves_inwards_only',
    ),
    'start beyond a barrier': (
        'test_behaviour_limits.py::test_a_frame_beyond_a_wall_may_come_back_and_go_no_further',
    ),
    'start in collision': (
        'test_behaviour_obstacles.py::'
        'test_an_obstacle_that_appears_where_the_robot_is_lets_it_move_away_only',
        'test_behaviour_collision.py::'
        'test_joints_that_start_in_collision_go_no_deeper_and_come_out',
        'test_behaviour_collision.py::'
        'test_a_frame_that_starts_in_collision_is_tracked_outwards_only',
    ),
    'obstacle appearing on the path': (
        'test_behaviour_obstacles.py::test_an_obstacle_that_appears_on_the_path_is_not_touched',
    ),
    'clock jumps backwards and forwards': (
        'test_behaviour_clock.py::test_a_jump_backwards_drops_the_targets_and_synchronises',
        'test_behaviour_clock.py::test_a_jump_forwards_makes_everything_stale',
        'test_behaviour_clock.py::test_a_clock_that_stands_still_stops_the_motion_and_is_no_loss',
        'test_node_sim_time.py::test_it_follows_simulated_time',
    ),
    'new robot_description while moving': (
        'test_behaviour_model.py::'
        'test_a_new_description_stops_it_within_limits_and_moves_on_from_there',
        'test_behaviour_model.py::test_tighter_limits_of_a_new_description_are_kept',
        'test_node_description.py::test_other_joints_lead_to_inactive',
    ),
    'broken robot_description while moving': (
        'test_behaviour_model.py::test_a_bad_description_does_not_even_slow_it_down',
        'test_node_description.py::test_a_bad_description_keeps_the_model_and_says_why',
    ),
    'deactivation': (
        'test_behaviour_start.py::'
        'test_it_comes_to_rest_and_starts_where_the_robot_was_put_meanwhile',
        'test_node_lifecycle.py::test_a_lifecycle_manager_leads_it_through_its_states',
    ),
    'SIGINT and SIGTERM while moving': (
        'test_behaviour_ends.py::test_the_next_process_starts_where_the_last_one_left_the_robot',
        'test_node_lifecycle.py::test_a_signal_in_motion_ends_it_at_rest_with_exit_code_0',
    ),
    'kill -9 and restart': (
        'test_behaviour_ends.py::test_the_next_process_starts_where_the_last_one_left_the_robot',
    ),
    'GPU lost': (
        'test_behaviour_device.py::test_it_holds_goes_to_inactive_and_can_be_activated_again',
        'test_behaviour_device.py::test_without_another_device_it_stays_inactive_and_says_why',
        '../servo/test_starts_and_ends.py::test_after_a_tick_that_failed_motion_starts_where_the_robot_is',
    ),
    'two robots in two namespaces': (
        'test_behaviour_domain.py::test_two_robots_in_two_namespaces_do_not_hear_each_other',
        'test_behaviour_domain.py::test_a_stop_of_one_robot_does_not_stop_the_other',
        'test_behaviour_domain.py::test_no_name_lies_outside_of_the_namespaces',
    ),
    'publisher with the other reliability': (
        'test_behaviour_domain.py::test_targets_of_either_reliability_are_heard',
    ),
    'parameter flood': ('test_behaviour_load.py::test_a_flood_of_parameters',),
    '1,000 Hz target flood': ('test_behaviour_load.py::test_a_thousand_targets_a_second',),
    'many poses to solve while tracking at 500 Hz': (
        'test_behaviour_load.py::test_many_poses_are_solved_meanwhile',
    ),
    'packet loss and delay': (
        'test_behaviour_network.py::test_node_and_robot_on_two_hosts_with_a_bad_cable',
        '../support/processes/network_cases.py::test_losses_and_delays_cost_messages_but_no_motion',
        '../support/processes/network_cases.py::'
        'test_a_cut_cable_stops_it_and_a_new_one_lets_it_start_where_the_robot_is',
    ),
    'each dynamic parameter': (
        'test_dynamic_parameters.py::test_every_dynamic_parameter_has_a_test_of_its_effect',
        'test_dynamic_parameters.py::test_it_takes_effect_at_run_time',
        'test_dynamic_motion.py::test_it_takes_effect_at_run_time',
        'test_dynamic_parameters.py::test_wrong_values_are_refused_with_a_reason',
    ),
}


@functools.cache
def functions_of(file):
    """Return the names of the tests of a file."""
    (path,) = [FOLDER / file] if '/' in file else FOLDER.rglob(file)
    tree = ast.parse(path.read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize('event', EVENTS)
def test_every_event_has_its_tests(event):
    assert EVENTS[event]
    for where in EVENTS[event]:
        file, _, function = where.partition('::')
        assert function.startswith('test_') and function in functions_of(file), where

# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Authority over an obstacle: the page that drags it, or the node."""

from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
import numpy as np
import pytest

pytest.importorskip('trimesh', reason='trimesh is not installed')

from ros_ik.model.conventions import poses
from ros_ik.viewer.obstacles.placed_obstacle import HALF_SPACE
from ros_ik.viewer.obstacles.placed_obstacle import PlacedObstacle
from ros_ik.viewer.obstacles.shared_obstacles import SharedObstacles
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
SIZES = {
    Obstacle.SPHERE: [0.1], Obstacle.BOX: [0.1, 0.2, 0.3], Obstacle.CYLINDER: [0.1, 0.4],
    Obstacle.CAPSULE: [0.1, 0.5], Obstacle.HALF_SPACE: [],
}  # fmt: skip


def at(x):
    return ORIGIN + np.array([x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def box(x):
    return PlacedObstacle('box', (0.2, 0.2, 0.2), at(x))


class Node:
    """A stand-in for the node's obstacles that sometimes reads messages, and a clock."""

    def __init__(self, *pages):
        self.now, self.known, self.told = 0.0, {}, []
        self.pages, self.latched = pages, {}
        self.links = {'base': ORIGIN}

    def page(self):
        page = SharedObstacles(clock=lambda: self.now)
        self.pages = (*self.pages, page)
        return page

    def collect(self):
        """Let the pages publish."""
        for page in self.pages:
            message = page.take_message(ORIGIN, 'base')
            if message is not None:
                self.latched[page] = message
                self.told.append(message)

    def drop_old(self):
        """Lose the messages that are overwritten before the node reads."""
        self.told = self.told[-1:]

    def answer(self, is_other_node=False):
        """Apply the published changes, and publish all obstacles."""
        told, self.told = self.told, []
        for message in told:
            for entry in message.obstacles:
                self.known.pop(entry.id, None)
                if entry.operation == Obstacle.ADD:
                    self.known[entry.id] = entry
        self.tell(is_other_node)

    def tell(self, is_other_node=False):
        everything = [Obstacle(operation=Obstacle.CLEAR), *self.known.values()]
        for page in self.pages:
            page.process_node_list(
                ObstacleArray(obstacles=everything), self.links.get, is_other_node
            )
        for page in self.pages:
            page.adopt_node_list()

    def settle(self):
        """Let time pass until all messages are sent and received."""
        for _ in range(4):
            self.now += 1.1
            self.collect()
            self.answer()

    def restart(self):
        """Restart: the last message of each page arrives again, in any order."""
        self.known = {}
        self.tell(is_other_node=True)
        self.told = [*reversed(self.latched.values()), *self.told]


def places(page):
    return {name: obstacle.pose[0] for name, obstacle in page.placed.items()}


def test_what_one_page_adds_moves_and_removes_is_on_the_other():
    node = Node()
    one, two = node.page(), node.page()
    one.put('a', box(1.0))
    node.settle()
    assert places(two) == {'a': 1.0} and (one.own, two.own) == ({'a'}, set())
    two.put('a', box(2.0))
    node.settle()
    assert places(one) == places(two) == {'a': 2.0} and (one.own, two.own) == (set(), {'a'})
    one.remove('a')
    node.settle()
    assert places(one) == places(two) == node.known == {} and two.own == set()
    # All messages are exchanged: none is repeated without end.
    assert [page.take_message(ORIGIN, 'base') for page in (one, two)] == [None, None]


def test_a_hand_does_not_fight_what_the_node_heard_before():
    node = Node()
    page = node.page()
    page.put('a', box(0.0))
    node.settle()
    for step in range(1, 20):
        page.put('a', box(0.1 * step))
        node.now += 0.03
        node.tell()
        assert places(page) == {'a': 0.1 * step}
        node.collect()
    # A stalled node has not received it; its queue holds the newest message only.
    for _ in range(50):
        node.now += 0.1
        page.adopt_node_list()
        assert places(page)['a'] == pytest.approx(1.9)
        node.collect()
        node.drop_old()
    node.answer()
    assert node.known['a'].pose.position.x == pytest.approx(1.9)
    node.settle()
    assert places(page)['a'] == pytest.approx(1.9) and page.own == {'a'}


def test_two_hands_on_one_obstacle_come_to_an_end():
    node = Node()
    one, two = node.page(), node.page()
    one.put('a', box(0.0))
    node.settle()
    one.put('a', box(1.0))
    node.now += 0.1
    two.put('a', box(2.0))
    sent = 0
    for _ in range(100):
        node.now += 0.05
        node.collect()
        sent += len(node.told)
        node.answer()
    assert places(one) == places(two) and places(one)['a'] in (1.0, 2.0)
    assert len(one.own | two.own) == 1 and sent < 10


def test_a_removed_obstacle_stays_away_though_the_node_has_not_heard_of_it():
    node = Node()
    page = node.page()
    node.known = {'a': box(1.0).message('a', ORIGIN, 'base')}
    node.tell()
    page.remove('a')
    node.now += 0.1
    node.tell()
    assert places(page) == {}
    # A message that is overwritten loses nothing.
    page.take_message(ORIGIN, 'base')
    page.put('b', box(2.0))
    node.collect()
    node.answer()
    assert list(node.known) == ['b']
    # Once that is known it is no longer sent: others may use the name.
    node.settle()
    assert [entry.id for entry in node.latched[page].obstacles] == ['b']


def test_only_the_page_that_changed_an_obstacle_last_sends_it():
    node = Node()
    one, two = node.page(), node.page()
    one.put('a', box(1.0))
    one.put('b', box(2.0))
    node.settle()
    two.put('a', box(3.0))
    node.settle()
    sent = {page: [o.id for o in node.latched[page].obstacles] for page in (one, two)}
    assert sent == {one: ['b'], two: ['a']}


def test_both_pages_keep_their_own_over_a_restart_of_the_node():
    node = Node()
    one, two = node.page(), node.page()
    one.put('a', box(1.0))
    one.put('b', box(2.0))
    node.settle()
    two.put('a', box(3.0))
    node.settle()
    # Long after a change no state is kept any more; right after it, it is.
    for wait, place in ((100.0, 3.0), (0.1, 4.0)):
        two.put('a', box(place))
        node.now += wait
        node.collect()
        node.restart()
        # However long the new node takes to receive them.
        node.now += 2.0
        for page in (one, two):
            page.adopt_node_list()
        assert places(one) == {'b': 2.0} and places(two) == {'a': place}
        node.settle()
        assert places(one) == places(two) == {'a': place, 'b': 2.0}
        assert set(node.known) == {'a', 'b'}


def test_what_others_clear_is_gone_here_too():
    node = Node()
    page = node.page()
    page.put('a', box(1.0))
    node.settle()
    node.known = {}
    node.tell()
    assert places(page) == {} and page.own == set()
    node.settle()
    assert node.known == {}


@pytest.mark.parametrize('is_new', [True, False])
def test_what_others_remove_at_once_does_not_come_back(is_new):
    node = Node()
    page = node.page()
    page.put('a', box(0.0))
    if not is_new:
        node.settle()
        page.put('a', box(1.0))
    node.collect()
    node.answer()
    assert set(node.known) == {'a'}
    # Within the time in which the node may not have received it.
    node.now += 0.2
    node.known = {}
    node.tell()
    node.settle()
    assert places(page) == node.known == {}


def test_what_others_remove_does_not_come_back_with_something_else():
    node = Node()
    page = node.page()
    node.known = {name: box(1.0).message(name, ORIGIN, 'base') for name in 'ab'}
    node.tell()
    page.remove('b')
    node.now += 0.8
    page.put('a', box(2.0))
    node.collect()
    # The answer to it is overwritten: another client has cleared the world.
    node.told, node.known = [], {}
    node.now += 0.1
    node.tell()
    # The removal is known now; the page has another message for late subscribers.
    node.now += 0.2
    node.tell()
    node.collect()
    node.answer()
    node.settle()
    assert places(page) == node.known == {}
    # A drag that continues is newer.
    page.put('a', box(3.0))
    node.settle()
    assert places(page) == {'a': 3.0} and set(node.known) == {'a'}


def test_a_page_that_lost_an_obstacle_does_not_bring_back_what_goes_right_after_it():
    node = Node()
    page = node.page()
    page.put('a', box(1.0))
    page.put('b', box(2.0))
    node.settle()
    del node.known['b']
    node.tell()
    # The world is cleared before the page has heard of it.
    node.known = {}
    node.collect()
    node.answer()
    node.settle()
    assert places(page) == node.known == {}


def test_what_the_node_refuses_does_not_stay_on_the_page():
    node = Node()
    page = node.page()
    page.put('a', box(0.0))
    for _ in range(20):
        node.now += 0.2
        node.tell()
        page.take_message(ORIGIN, 'base')
    assert places(page) == {} and page.own == set()


def test_obstacles_wait_for_a_node_that_is_not_there():
    node = Node()
    page = node.page()
    page.put('a', box(1.0))
    page.put('b', box(2.0))
    page.remove('b')
    node.now += 100.0
    page.adopt_node_list()
    assert places(page) == {'a': 1.0}
    node.tell(is_other_node=True)
    assert places(page) == {'a': 1.0}
    node.settle()
    assert list(node.known) == ['a']


def test_removals_do_not_accumulate_without_listeners():
    page = SharedObstacles()
    for number in range(1000):
        page.put(f'{number}', box(0.0))
        page.remove(f'{number}')
    assert len(page.take_message(ORIGIN, 'base').obstacles) == 100
    assert len(page._changes) == len(page._removed) == 100


def test_names_of_the_node_are_not_free():
    node = Node()
    page = node.page()
    node.known = {'a': box(1.0).message('a', ORIGIN, 'base')}
    node.tell()
    assert not page.is_free('a') and page.is_free('b')
    page.remove('a')
    assert not page.is_free('a')


def test_an_obstacle_in_a_link_that_moves_stays_where_it_was_seen_first():
    node = Node()
    page = node.page()
    node.links['hand'] = at(1.0)
    node.known = {'a': box(0.5).message('a', ORIGIN, 'hand')}
    node.tell()
    node.links['hand'] = at(3.0)
    node.known['b'] = box(0.5).message('b', ORIGIN, 'hand')
    node.known['unknown link'] = box(0.5).message('unknown link', ORIGIN, 'tail')
    node.tell()
    assert places(page) == {'a': 1.5, 'b': 3.5}


@pytest.mark.parametrize('kind', SIZES)
def test_every_shape_comes_back_as_it_was(kind):
    turned = Quaternion(x=0.5, y=-0.5, z=0.5, w=0.5)
    entry = Obstacle(type=kind, dimensions=SIZES[kind], pose=Pose(orientation=turned))
    frame = np.array([1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8])
    placed = PlacedObstacle.from_message(entry, frame)
    again = placed.message('name', poses.inverse(frame), 'base')
    assert again.type == kind and list(again.dimensions) == pytest.approx(SIZES[kind])
    other = PlacedObstacle.from_message(again, frame)
    assert placed.is_like(other)
    # The same turn has two quaternions.
    other.pose[3:] *= -1.0
    assert placed.is_like(other)
    other.pose[0] += 1e-3
    assert not placed.is_like(other)
    if placed.shape != HALF_SPACE:
        x, y, z = placed.size
        assert not placed.is_like(PlacedObstacle(placed.shape, (x + 0.1, y, z + 0.1), placed.pose))
        # Boxes around the drawing and around the solid are one.
        np.testing.assert_allclose(placed.mesh().extents, placed.size, rtol=0.02)
    else:
        # A plate below the face.
        assert placed.mesh().bounds[1, 2] == pytest.approx(0.0, abs=1e-9)
        assert placed.mesh().bounds[0, 2] < 0.0


def test_a_shape_that_is_not_known_is_left_out():
    for kind, sizes in ((77, []), (Obstacle.BOX, [1.0])):
        assert PlacedObstacle.from_message(Obstacle(type=kind, dimensions=sizes), ORIGIN) is None

"""A store of several servers that fail over, with clients under way: Sentinel's primary dies; a cluster's, and its slots move."""

import contextlib
import time

import pytest

import law
import traffic
from conftest import plain_only, tool
from redis_fleet import SLOTS, Cluster, Watched, info, wait_until
from server import Server
from test_store import wait_for_store
from traffic import LIMIT, Traffic

pytestmark = plain_only  # most of the time is Redis' own; the faults of one server run sanitized, too

HALF = LIMIT // 2


class Nodes:
    """Two laju on one store."""

    def __init__(self, ends, url):
        self.servers = [Server(traffic.settings(url)) for _ in range(2)]
        for server in self.servers:
            ends.callback(server.kill)
            server.launch()
        for server in self.servers:
            server.wait_until_ready()
            wait_for_store(server)

    def traffic(self, key):
        return Traffic([(server, traffic.TIMEOUT_S) for server in self.servers], key)

    def check(self, rule, key, count):
        """How many of `count` are admitted, by one laju and the other in turn."""
        with self.servers[0].resp() as one, self.servers[1].resp() as two:
            return sum((one, two)[i % 2].call("LAJU.CHECK", rule, key)[0] for i in range(count))

    def stop(self):
        for server in self.servers:
            server.stop()


@pytest.fixture(scope="module")
def stores():
    tool("redis-server")
    law.keep_clear_of_edge(365 * law.DAY_S, 300)
    with contextlib.ExitStack() as ends:
        yield Watched(ends), Cluster(ends)


@pytest.fixture
def ends():
    with contextlib.ExitStack() as stack:
        yield stack


def kill_once_replicated(primary, t):
    """Returns from when to when it may have admitted what its replica has not heard of."""
    since = time.monotonic()
    with primary.client() as client:
        client.call("DEL", "nothing")
        assert client.call("WAIT", 1, 5000) == 1
    t.let_pass(0.02)
    primary.kill()
    return since, time.monotonic()


def wait_for_successor(t, replica):
    """Redis takes its time; from then on it is a second."""
    t.wait_for_fallback()
    wait_until(lambda: info(replica, "replication")["role"] == "master", "no successor")
    since = time.monotonic()
    t.wait_until_exact(since, quiet_s=0.5)


def test_a_clusters_slots_move_and_one_of_its_primaries_dies(stores, ends, key):
    _, store = stores
    store.wait_until_whole()
    nodes = Nodes(ends, store.url)
    keys = [f"{key}-kept-{i}" for i in range(60)]
    for kept in keys:
        assert nodes.check("ten-token-bucket", kept, HALF) == HALF
    with nodes.traffic(key) as t:
        store.move_slots(range(0, SLOTS // 3, 20), 0, 1)
        t.let_pass(0.2)
    t.assert_given_back()
    t.assert_books(nodes.servers[0])

    with nodes.traffic(f"{key}-died") as t:
        t.let_pass(0.3)
        since, died = kill_once_replicated(store.nodes[1], t)
        wait_for_successor(t, store.nodes[4])
    t.assert_given_back()
    t.assert_books(nodes.servers[0], since, died)
    for kept in keys:
        assert nodes.check("ten-token-bucket", kept, LIMIT) == LIMIT - HALF
    nodes.stop()


def test_the_primary_that_sentinels_watch_dies(stores, ends, key):
    store, _ = stores
    store.wait_until_whole()
    nodes = Nodes(ends, store.url)
    rules = [f"ten-{a}" for a in law.ALGORITHMS]
    for rule in rules:
        assert nodes.check(rule, f"{key}-kept", HALF) == HALF
    with nodes.traffic(key) as t:
        t.let_pass(0.3)
        since, died = kill_once_replicated(store.primary, t)
        wait_for_successor(t, store.replica)
    t.assert_given_back()
    t.assert_books(nodes.servers[0], since, died)
    for rule in rules:
        assert nodes.check(rule, f"{key}-kept", LIMIT) == LIMIT - HALF
    nodes.stop()

"""One Redis that fails in every way, with clients under way: nobody waits, nothing is admitted too often or charged twice."""

import contextlib
import time

import pytest

import law
import traffic
from conftest import SANITIZED, plain_only, tool
from proxy import Proxy
from redis_fleet import wait_until
from redis_server import RedisServer
from server import Server, free_port, memory_kib, settled_descriptors
from test_store import ready, wait_for_store
from traffic import LIMIT, Traffic

FROZEN_S = 3  # what ten seconds would show
PATIENT_S = 5  # the timeout of the laju that does not give up


class World:
    """A Redis, and three laju: one near it, two that reach it through a network of their own. The last one is patient."""

    def __init__(self, ends):
        self.redis = ends.enter_context(RedisServer())
        self.net = ends.enter_context(Proxy(self.redis.address))
        self.patient_net = ends.enter_context(Proxy(self.redis.address))
        self.near = Server(traffic.settings(self.redis.url), admin=True)
        self.far = Server(traffic.settings(self.net.url))
        self.patient = Server(traffic.settings(self.patient_net.url, timeout_s=PATIENT_S, pool=2))
        self.all = [self.near, self.far, self.patient]
        for server in self.all:
            ends.callback(server.kill)
            server.launch()
        for server in self.all:
            server.wait_until_ready()
            wait_for_store(server)
        metric(self.near, "laju_nodes")  # the admin door's first caller costs it a descriptor
        self.at_start = [(settled_descriptors(server.process.pid), memory_kib(server.process.pid)) for server in self.all]

    def stop(self):
        """After all of it they hold what they held before."""
        for server, (descriptors, memory) in zip(self.all, self.at_start):
            assert settled_descriptors(server.process.pid) <= descriptors
            assert SANITIZED or memory_kib(server.process.pid) < memory + traffic.FLAT_KIB
            server.stop()

    def traffic(self, key, *servers, each=2):
        chosen = servers or self.all
        return Traffic([(s, PATIENT_S if s is self.patient else traffic.TIMEOUT_S) for s in chosen], key, each)

    def check_books(self, t, lost_until=0):
        t.assert_given_back()
        t.assert_books(self.near, until=lost_until)


@pytest.fixture(scope="module")
def world():
    tool("redis-server")
    law.keep_clear_of_edge(365 * law.DAY_S, 300)
    with contextlib.ExitStack() as ends:
        made = World(ends)
        yield made
        made.stop()


def fallbacks(t, server):
    return sum(a.fallback for client in t.clients if client.server is server for a in client.answers)


def metric(server, name):
    with server.admin() as admin:
        lines = admin.get("/metrics").body.decode().split("\n")
    return next(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + " "))


# ---- Redis itself ----


def test_killed_and_back_empty_it_admits_again_what_it_has_lost(world, key):
    lost = {f"ten-{algorithm}": 2 * i + 1 for i, algorithm in enumerate(law.ALGORITHMS)}
    with world.near.resp() as resp:
        for rule, count in lost.items():
            assert [resp.call("LAJU.CHECK", rule, f"{key}-lost")[0] for _ in range(count)] == [1] * count
    with world.traffic(key) as t:
        t.let_pass(0.5)
        world.redis.kill()
        t.wait_for_fallback()
        t.let_pass(0.3)
        dead = time.monotonic()
        world.redis.start()
        t.wait_until_exact(since=time.monotonic())
        t.let_pass(0.3)
    world.check_books(t, lost_until=dead)
    for rule, count in lost.items():
        admitted = count
        for server in world.all:
            with server.resp() as resp:
                admitted += sum(resp.call("LAJU.CHECK", rule, f"{key}-lost")[0] for _ in range(LIMIT))
        assert admitted == LIMIT + count


@plain_only
def test_frozen_it_keeps_nobody_waiting_and_is_exact_when_it_thaws(world, key):
    with world.traffic(key, world.near, world.far) as t:
        world.redis.freeze()
        try:
            t.let_pass(FROZEN_S)
        finally:
            thawed = time.monotonic()
            world.redis.thaw()
        assert all(fallbacks(t, server) for server in (world.near, world.far))
        t.wait_until_exact(since=thawed)
        t.let_pass(0.2)
    world.check_books(t)


def test_its_script_flushed_under_way_is_no_fault(world, key):
    with world.traffic(key) as t, world.redis.client() as admin:
        for _ in range(30):
            assert admin.call("SCRIPT", "FLUSH") == "OK"
            time.sleep(0.01)
    assert fallbacks(t, world.patient) == 0
    world.check_books(t)


def test_connections_killed_under_way_charge_nobody_twice(world, key):
    with world.traffic(key) as t, world.redis.client() as admin:
        for _ in range(15):
            assert admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") >= 0
            t.let_pass(0.05)
        t.wait_until_exact(since=time.monotonic())
    assert fallbacks(t, world.patient) > 0
    world.check_books(t)


@plain_only
def test_a_password_that_is_wrong_is_a_store_that_does_not_answer(world, key):
    with world.traffic(key) as t, world.redis.client() as admin:
        admin.call("CONFIG", "SET", "requirepass", "other")
        admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        t.wait_for_fallback()
        t.let_pass(0.3)
        assert ready(world.near).json["store"] == "down"
        admin.call("CONFIG", "SET", "requirepass", "")
        t.wait_until_exact(since=time.monotonic())
    world.check_books(t)


def test_a_replica_takes_no_charges(world, key):
    with world.traffic(key) as t, world.redis.client() as admin:
        admin.call("REPLICAOF", "127.0.0.1", free_port())
        t.wait_for_fallback()
        t.let_pass(0.3)
        admin.call("REPLICAOF", "NO", "ONE")
        t.wait_until_exact(since=time.monotonic())
    world.check_books(t)


# ---- its memory ----


def test_full_it_charges_nothing_and_still_refuses_who_is_limited(world, key):
    with world.near.resp() as resp:
        for algorithm in law.ALGORITHMS:
            assert resp.call("LAJU.CHECK", f"ten-{algorithm}", f"{key}-full", LIMIT)[:3] == [1, LIMIT, 0]
    with world.traffic(key) as t, world.redis.client() as admin:
        admin.call("CONFIG", "SET", "maxmemory", "100kb")
        try:
            t.wait_for_fallback()
            for algorithm in law.ALGORITHMS:
                with world.far.http() as http:
                    answer = http.check(f"ten-{algorithm}", f"{key}-full")
                    assert answer.status == 429 and answer.header("X-RateLimit-Source") is None
            t.let_pass(0.3)
        finally:
            admin.call("CONFIG", "SET", "maxmemory", "0")
        t.wait_until_exact(since=time.monotonic())
    world.check_books(t)
    assert metric(world.near, 'laju_store_failures_total{reason="refused"}') > 0, "it is up, and counted all the same"
    wait_until(lambda: "answers checks with errors" in world.near.log(), "not told")
    assert "OOM command not allowed" in world.near.log()


def test_evicting_it_admits_again_at_most_what_it_has_evicted(world, key):
    keys = [f"{key}-{i}" for i in range(2000)]

    def round_of(server):
        with server.resp() as resp:
            replies = [r for part in (keys[:1000], keys[1000:])
                       for r in resp.call("LAJU.MCHECK", "ten-token-bucket", LIMIT, *part)]
        return sum(r is not None and r >= 0 for r in replies)

    with world.redis.client() as admin:
        used = int(admin.call("INFO", "memory").split(b"used_memory:")[1].split(b"\r\n")[0])
        admin.call("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
        admin.call("CONFIG", "SET", "maxmemory", used + (200 << 10))
        admitted = [round_of(server) for server in world.all + world.all]
        evicted = int(admin.call("INFO", "stats").split(b"evicted_keys:")[1].split(b"\r\n")[0])
        admin.call("CONFIG", "SET", "maxmemory", "0")
        admin.call("CONFIG", "SET", "maxmemory-policy", "noeviction")
    assert admitted[0] == len(keys)
    assert 0 < sum(admitted[1:]) <= evicted


# ---- the network ----


@plain_only
def test_a_network_that_is_cut_and_heals_keeps_nobody_waiting(world, key):
    with world.traffic(key, world.far, world.patient) as t:
        world.net.cut()
        t.let_pass(1.5)
        assert fallbacks(t, world.far) and not fallbacks(t, world.patient)
        healed = time.monotonic()
        world.net.heal()
        t.wait_until_exact(since=healed)
        t.let_pass(0.2)
    world.check_books(t)


def test_a_late_answer_is_nobodys(world, key):
    """It takes twice the timeout: all that comes from the store is late. Who can wait gets it all the same."""
    with world.traffic(key, world.far, world.patient) as t:
        world.net.delay(2 * traffic.TIMEOUT_S)
        world.patient_net.delay(2 * traffic.TIMEOUT_S)
        t.wait_for_fallback()
        deadline, n = time.monotonic() + 1, 0
        with world.far.http() as http:
            while time.monotonic() < deadline:
                n += 1  # each asks another limit, and must be answered by it
                answer = http.post("/v1/check", {"limit": n, "per": "1d", "algorithm": "token-bucket", "key": f"{key}-{n}"})
                assert answer.status == 200 and [answer.json["limit"], answer.json["remaining"]] == [n, n - 1]
                assert answer.json["source"] == "fallback"
        assert fallbacks(t, world.patient) == 0
        world.net.delay(0)
        world.patient_net.delay(0)
        t.wait_until_exact(since=time.monotonic())
    world.check_books(t)


def test_a_connection_that_is_half_open_is_left(world, key):
    with world.traffic(key, world.far) as t:
        world.net.lose()
        lost = time.monotonic()
        t.wait_until_exact(since=lost + 1)  # no error tells of it; it is silence that does, and a second of it
        t.let_pass(0.2)
    assert fallbacks(t, world.far)
    world.check_books(t)

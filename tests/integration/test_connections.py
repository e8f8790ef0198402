"""Many connections, and those that are a burden: what they take is bounded, others are served, and all of it comes back."""

import contextlib
import os
import resource
import socket
import statistics
import time

import pytest

from conftest import SANITIZED
from server import PATIENCE_S, cpu_s, descriptors, memory_kib, settled_descriptors
from test_auth import SETTINGS as AUTH, call, fill, used, user, wait_until

MIB = 1024
WANTED, LEAST, SPARE = 10_000, 4_000, 300  # connections; descriptors of this process and of laju beside them

# What a worker may keep beyond 16 KiB a connection (docs/operations.md), of two workers, and room for the allocator.
KEPT_KIB, SLACK_KIB = 2 * 64 * MIB, 24 * MIB


@pytest.fixture(scope="module")
def many():
    """How many connections this process may have: each has an end here and one in laju."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = WANTED + SPARE if hard == resource.RLIM_INFINITY else min(hard, WANTED + SPARE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    count = allowed - SPARE
    assert count >= LEAST, f"the hard limit of {hard} descriptors is too low for this test: {LEAST + SPARE} at least"
    yield count
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def rss(server):
    return memory_kib(server.process.pid)


class Crowd:
    """Plain sockets: ten thousand Python objects more would cost more than what is tested."""

    def __init__(self, server):
        self.server, self.sockets = server, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for s in self.sockets:
            s.close()

    def add(self, count, address, first=b""):
        """Connections that send this."""
        for _ in range(count):
            s = socket.create_connection(address, PATIENCE_S)
            self.sockets.append(s)
            if first:
                with contextlib.suppress(OSError):  # it may be closed on us in the middle
                    s.sendall(first)

    def leave(self):
        for s in self.sockets:
            s.close()
        self.sockets = []


def warm(server):
    """What a worker opens with its first connection, and keeps, is there; returns (RSS, descriptors)."""
    with Crowd(server) as crowd:
        crowd.add(40, server.http_address)
        crowd.add(40, server.resp_address)
        served(server)
    return rss(server), settled_descriptors(server.process.pid)


def served(server, rounds=100, rule="default"):
    """Both doors answer those who come as usual; the median time of an answer, in ms."""
    times = []
    with server.http() as http, server.resp() as resp:
        for i in range(rounds):
            began = time.monotonic()
            assert http.check(rule, f"k{i}").status == 200
            assert resp.call("LAJU.CHECK", rule, f"k{i}")[0] == 1
            times.append((time.monotonic() - began) * 500)
    assert sum(times) < rounds * 500, "others wait"
    return statistics.median(times)


def assert_all_comes_back(server, before, base, slack_kib=SLACK_KIB):
    wait_until(lambda: descriptors(server.process.pid) <= base, "connections are still there")
    if not SANITIZED:
        wait_until(lambda: rss(server) < before + slack_kib, f"{before} KiB became {rss(server)}")


def tell(record_property, **figures):
    for name, value in figures.items():
        record_property(name, round(value, 2))
        print(f"{name}: {value:.2f}")


# ---- idle ----


def test_ten_thousand_idle_connections(serve, many, record_property):
    server = serve({})
    alone = served(server)
    before, base = warm(server)
    with Crowd(server) as crowd:
        for turn in range(2):  # the second time nothing is new
            crowd.add(many // 2, server.http_address, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            crowd.add(many - many // 2, server.resp_address, b"PING\r\n")
            wait_until(lambda: descriptors(server.process.pid) == base + many, "not all are let in")
            beside = served(server)
            if not SANITIZED:
                each = (rss(server) - before) / many
                assert each < 6, f"{each} KiB a connection"
                used = cpu_s(server.process.pid)
                time.sleep(1)
                assert cpu_s(server.process.pid) - used < 0.5, "idle connections are not idle"
                tell(record_property, connections=many, kib_each=each, ms_alone=alone, ms_beside=beside)
            for s in crowd.sockets[::97]:
                assert s.recv(1000).endswith((b"}", b"PONG\r\n"))
            crowd.leave()
            assert_all_comes_back(server, before, base, each_turn_kib(many))


def each_turn_kib(many):
    """Small pieces come back to the allocator, not all of them to the system."""
    return 12 * many


# ---- a burden ----

BODY = b"POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 2097152\r\n\r\n" + b" " * 2_000_000
CHUNKS = b"POST /v1/batch HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + b"8000\r\n" + b" " * 32768 + b"\r\n8000\r\n" + b" " * 32000
ARRAY = b"*1002\r\n$11\r\nLAJU.MCHECK\r\n" + (b"$1024\r\n" + b"k" * 1024 + b"\r\n") * 900
HEAD = b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: " + b"a" * 12_000
LINE = b"LAJU.CHECK default " + b"k" * 60_000


def test_large_requests_that_never_end_are_bounded(serve, record_property):
    server = serve({})
    before, base = warm(server)
    with Crowd(server) as crowd:
        for _ in range(60):
            crowd.add(2, server.http_address, BODY)
            crowd.add(2, server.resp_address, ARRAY)
            crowd.add(1, server.http_address, CHUNKS)
        beside = served(server)
        if not SANITIZED:
            tell(record_property, mib_before=before / 1024, mib_beside=rss(server) / 1024, ms_beside=beside)
            assert rss(server) - before < KEPT_KIB + SLACK_KIB
    assert_all_comes_back(server, before, base)


def test_small_requests_that_never_end_get_their_place_beside_large_ones(serve, many):
    """Whoever begins large requests does not keep those from being served whose small ones come in pieces."""
    server = serve({})
    _, base = warm(server)
    with Crowd(server) as crowd, server.http() as http, server.resp() as resp:
        check = http.request("POST", "/v1/check", {"rule": "default", "key": "pieces"})
        command = resp.encode("LAJU.CHECK", "default", "pieces")
        http.send(check[:-9])
        resp.send(command[:-9])
        for _ in range(45):
            crowd.add(2, server.http_address, BODY)
            crowd.add(2, server.resp_address, ARRAY)
        http.send(check[-9:])
        resp.send(command[-9:])
        assert http.response().status == 200 and resp.reply()[0] == 1
    wait_until(lambda: descriptors(server.process.pid) <= base, "connections are still there")


def test_those_who_never_read_are_bounded(serve, record_property):
    server = serve({})
    before, base = warm(server)
    batch = b'[' + b",".join([b'{"rule":"default","key":"a"}'] * 1000) + b']'
    asks = {server.http_address: b"POST /v1/batch HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (len(batch), batch) * 3,
            server.resp_address: b"*2\r\n$4\r\nECHO\r\n$1000\r\n" + b"x" * 1000 + b"\r\n"}
    asks[server.resp_address] *= 200
    with Crowd(server) as crowd:
        for address in asks:
            for _ in range(100):
                s = socket.socket()
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # little room in the kernel: more is laju's
                s.connect(address)
                s.settimeout(0.02)
                crowd.sockets.append(s)
        for _ in range(10):
            for s in crowd.sockets:
                with contextlib.suppress(OSError):
                    s.send(asks[s.getpeername()])
        beside = served(server)
        if not SANITIZED:
            tell(record_property, mib_before=before / 1024, mib_beside=rss(server) / 1024, ms_beside=beside)
            assert rss(server) - before < KEPT_KIB + SLACK_KIB
    assert_all_comes_back(server, before, base)


def test_all_kinds_of_a_burden_at_once(serve, record_property):
    server = serve({})
    alone = served(server)
    before, base = warm(server)
    garbage = os.urandom(2000).replace(b"\n", b" ")
    with Crowd(server) as crowd:
        for address in (server.http_address, server.resp_address):
            crowd.add(300, address)  # idle
            crowd.add(100, address, garbage)
            crowd.add(100, address, garbage + b"\r\n\r\n" + garbage)
            crowd.add(100, address, b"\x16\x03\x01\x02\x00\x01\x00")  # who means TLS
            crowd.add(100, address, b"\0" * 100_000)
        crowd.add(200, server.http_address, HEAD)
        crowd.add(100, server.http_address, HEAD + b"a" * 8_000)  # above what a head may have
        crowd.add(100, server.http_address, b"POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n")
        crowd.add(20, server.http_address, BODY)
        crowd.add(200, server.resp_address, LINE)
        crowd.add(100, server.resp_address, b"*2\r\n$4\r\nECHO\r\n$99999999\r\n")
        crowd.add(100, server.resp_address, b"*1000000\r\n" + b"$1\r\na\r\n" * 5000)
        crowd.add(20, server.resp_address, ARRAY)
        beside = served(server)
        if not SANITIZED:
            tell(record_property, connections=len(crowd.sockets), mib_before=before / 1024, mib_beside=rss(server) / 1024,
                 ms_alone=alone, ms_beside=beside)
            assert rss(server) - before < KEPT_KIB + SLACK_KIB
        for s in crowd.sockets:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_WR)  # half closed: no more is to come
        served(server)
        assert_all_comes_back(server, before, base)  # though none of them has closed its end
    assert "Sanitizer" not in server.log()


def test_a_half_closed_client_gets_all_its_replies(serve):
    """However many, and however slowly it takes them."""
    server = serve({})
    with server.resp() as resp, server.http() as http:
        resp.send(resp.encode("ECHO", "x" * 1000) * 3000 + b"*1\r\n$4")
        http.send(http.request("GET", "/healthz") * 3000 + b"GET /he")
        resp.half_close()
        http.half_close()
        time.sleep(0.3)
        assert len(resp.rest()) == 3000 * len(b"$1000\r\n" + b"x" * 1000 + b"\r\n")
        assert http.rest().count(b"HTTP/1.1 200 OK") == 3000


# ---- answers that are held back ----


def test_ten_thousand_answers_are_held_and_no_more(serve, many):
    """Those above the bound are answered at once and counted."""
    counted = {"name": "counted", "algorithm": "fixed-window", "limit": 60_000, "per": "52w", "key": "header:X-User",
               "match": {"path": "/slow"}}
    server = serve({**AUTH, "workers": 1, "rules": [*AUTH["rules"], counted]})
    ask = call("/auth", *user("all", "/slow"))
    with server.resp() as resp:
        fill(resp, "slow", "all", 59_000_000)
        with server.http() as http:  # the only worker has had one
            assert http.get("/healthz").status == 200
        base = settled_descriptors(server.process.pid)
        with Crowd(server) as crowd:
            crowd.add(many, server.http_address, ask)
            wait_until(lambda: used(resp, "counted", "all") == many, "not all are read")
            served(server, rounds=10, rule="too")
            if many == WANTED:
                with server.http() as http:
                    http.send(ask)
                    assert http.response().status == 200  # the ten thousand and first
        wait_until(lambda: descriptors(server.process.pid) <= base, "who has gone is still there")
    with server.http() as http:  # there is room again
        http.send(ask)
        http.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            http.response()
    server.stop()
    assert many < WANTED or "unheld=1 " in server.log(), server.log()

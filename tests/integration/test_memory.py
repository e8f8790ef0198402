"""Memory is what the configuration says."""

import threading

import pytest

import law
from conftest import SANITIZED, plain_only
from server import memory_kib

MIB = 1024


@plain_only
def test_an_idle_laju_is_small_whatever_its_bound(serve):
    server = serve({"memory": "256MiB"})
    server.check("default", "a")
    assert memory_kib(server.process.pid) < 30 * MIB


@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_a_flood_of_new_keys_leaves_memory_bounded_and_a_limited_key_limited(serve, algorithm):
    """300 thousand keys where there is room for a third of them at most."""
    law.keep_clear_of_edge(law.DAY_S, 120)
    rules = [law.rule(algorithm, 10, per="1d", name="ten")]
    server = serve({"rules": rules, "memory": "4MiB"})
    with server.resp() as resp:
        assert resp.call("LAJU.CHECK", "ten", "limited", 10)[0] == 1
        before = memory_kib(server.process.pid)

    def flood(part):
        with server.resp() as resp:
            for i in range(0, 150, 10):
                calls = [("LAJU.MCHECK", "ten", 1, *(f"{part}-{i + c}-{j}" for j in range(1000))) for c in range(10)]
                for reply in resp.pipeline(calls):
                    assert reply == [9] * 1000

    threads = [threading.Thread(target=flood, args=(p,)) for p in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with server.resp() as resp:
        assert resp.call("LAJU.CHECK", "ten", "limited")[:3] == [0, 10, 0]
        assert resp.call("LAJU.CHECK", "ten", "new")[:3] == [1, 10, 9]
    if not SANITIZED:
        assert memory_kib(server.process.pid) - before < 8 * MIB


@plain_only
def test_many_connections_give_their_memory_back(serve):
    server = serve({})
    start = memory_kib(server.process.pid)
    for _ in range(5):
        clients = [server.http() if i % 2 else server.resp() for i in range(400)]
        for i, client in enumerate(clients):
            client.send(b"POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" + b" " * 50000 if i % 2 else
                        b"*2\r\n$4\r\nECHO\r\n$60000\r\n" + b"a" * 50000)
        for client in clients:
            client.close()
    with server.http() as http:
        assert http.get("/healthz").status == 200
    assert memory_kib(server.process.pid) - start < 64 * MIB

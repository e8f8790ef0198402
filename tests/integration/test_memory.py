"""Memory is what the configuration says."""

import concurrent.futures
import threading
import time

import pytest

import law
from conftest import SANITIZED, plain_only
from server import Server, cpu_s, memory_kib
from wire import Resp

MIB = 1024


def answers(client):
    """Does this connection still get answers?"""
    try:
        if isinstance(client, Resp):
            return client.call("PING") == "PONG"
        return client.get("/healthz").status == 200
    except (OSError, EOFError):
        return False


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


def test_one_who_sends_and_never_reads_is_not_read_any_more(serve):
    """His answers wait; what waits is bounded, and others are served."""
    server = serve({})
    start = memory_kib(server.process.pid)
    with server.resp() as deaf_resp, server.http() as deaf_http:
        asks = [(deaf_resp, deaf_resp.encode("ECHO", "x" * 1000) * 100),
                (deaf_http, deaf_http.request("POST", "/v1/batch", [{"rule": "default", "key": "a"}] * 100) * 10)]
        for client, ask in asks:
            client.socket.settimeout(1)
            sent = 0
            try:
                while sent < 100 * 1024 * MIB:
                    sent += client.socket.send(ask)
            except TimeoutError:
                pass
            assert sent < 32 * 1024 * MIB
        with server.http() as http:
            assert http.check("default", "b").status == 200
        if not SANITIZED:
            assert memory_kib(server.process.pid) - start < 24 * MIB


# With 160 it is laju that refuses the 65th connection; with 36 it is the kernel that has no descriptor for about the 13th.
@pytest.mark.parametrize("descriptors, clients_wanted, least, most", [(160, 200, 16, 160), (36, 18, 4, 15)])
def test_when_descriptors_run_out_those_who_are_in_are_served_and_new_ones_again_later(descriptors, clients_wanted, least,
                                                                                       most):
    server = Server({"workers": 2}, descriptors=descriptors)
    try:
        server.launch()
        server.wait_until_ready()
        clients = []
        for i in range(clients_wanted):
            try:
                clients.append(server.http(timeout=2) if i % 2 else server.resp(timeout=2))
            except OSError:
                pass
        with concurrent.futures.ThreadPoolExecutor(len(clients)) as pool:  # those who get none all wait at the same time
            with_answer = sum(pool.map(answers, clients))
        assert least <= with_answer <= most
        used = cpu_s(server.process.pid)
        time.sleep(1)
        assert cpu_s(server.process.pid) - used < 0.7, "it spins"
        for client in clients:
            client.close()
        deadline = time.monotonic() + 30
        while not server.answers():
            assert time.monotonic() < deadline
        server.stop()
        assert "connections met limits" in server.log()
        assert ("accept_errors=0" in server.log()) == (descriptors == 160)
    finally:
        server.kill()


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

"""Many clients at once, over both doors: never one admission too many, never one too few."""

import json
import math
import random
import threading
import time

import pytest

import law
from server import Server
from wire import RespError

CLIENTS = 32
RULES = [law.rule(a, n, per="1h", name=f"{a}-{n}") for a in law.ALGORITHMS for n in (10, 1000)]


@pytest.fixture(scope="module")
def flooded():
    with Server({"rules": RULES, "workers": 2, "memory": "16MiB"}) as server:
        yield server


def at_once(clients):
    """Runs each function in a thread of its own, from one instant on; returns what they return."""
    barrier, results, failures = threading.Barrier(len(clients)), [], []

    def run(client):
        try:
            results.append(client(barrier))
        except BaseException as failure:  # shown by the test below; a thread's own traceback would be lost
            failures.append(failure)
            barrier.abort()

    threads = [threading.Thread(target=run, args=(c,), daemon=True) for c in clients]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
        assert not t.is_alive(), "a client waits for an answer that does not come"
    assert not failures, failures
    return results


def came_back(algorithm, limit, began):
    """The most tokens that an hour's bucket may have got back since a time: none within a window."""
    return math.ceil((time.monotonic() - began) * limit / law.HOUR_S) if algorithm in law.BUCKETS and limit == 1000 else 0


def http_client(server, rule, key, pipeline, rounds):
    """Single checks, lists of one and batches of three; the tokens that were admitted."""
    member = {"rule": rule, "key": key}
    asks = [("/v1/check", {**member, "cost": 1}), ("/v1/check", {"checks": [member]}), ("/v1/batch", [member] * 3)]

    def run(barrier):
        admitted = 0
        with server.http() as http:
            rng = random.Random(id(http))
            barrier.wait()
            for _ in range(rounds):
                chosen = [rng.choice(asks) for _ in range(pipeline)]
                http.send(b"".join(http.request("POST", path, body) for path, body in chosen))
                for path, _ in chosen:
                    response = http.response()
                    if path == "/v1/batch":
                        assert response.status == 200
                        admitted += sum(d["allowed"] for d in response.json)
                    else:
                        assert response.status == (200 if response.json["allowed"] else 429)
                        admitted += response.json["allowed"]
        return admitted
    return run


def resp_client(server, rule, key, pipeline, rounds, protocol):
    """LAJU.CHECK, LAJU.ALL and LAJU.MCHECK; the tokens that were admitted."""
    asks = [("LAJU.CHECK", rule, key), ("LAJU.ALL", rule, key, 1), ("LAJU.MCHECK", rule, 1, key, key, key)]

    def run(barrier):
        admitted = 0
        with server.resp(protocol=protocol) as resp:
            rng = random.Random(id(resp))
            barrier.wait()
            for _ in range(rounds):
                chosen = [rng.choice(asks) for _ in range(pipeline)]
                for ask, reply in zip(chosen, resp.pipeline(chosen)):
                    assert not isinstance(reply, RespError), reply
                    admitted += sum(n >= 0 for n in reply) if ask[0] == "LAJU.MCHECK" else reply[0]
        return admitted
    return run


@pytest.mark.timeout(400)
@pytest.mark.parametrize("limit", [10, 1000])
@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_a_flood_on_one_key_over_both_doors_is_admitted_exactly_as_often_as_the_limit_says(flooded, algorithm, limit):
    rule, key = f"{algorithm}-{limit}", "flooded"
    clients = []
    for i in range(CLIENTS):
        pipeline, rounds = (1, 40) if i % 4 < 2 else (20, 4)
        clients.append(http_client(flooded, rule, key, pipeline, rounds) if i % 2 else
                       resp_client(flooded, rule, key, pipeline, rounds, 2 + i % 4 // 2))
    law.keep_clear_of_edge(law.HOUR_S, 120)
    began = time.monotonic()
    admitted = sum(at_once(clients))
    with flooded.http() as http:
        left = http.peek(rule, key)
    back = came_back(algorithm, limit, began)
    assert limit <= admitted <= limit + back and left <= back
    with flooded.http() as http:
        assert http.peek(rule, "another") == limit


@pytest.mark.timeout(400)
@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_pairs_taken_in_opposite_orders_are_charged_together_or_not_at_all(flooded, algorithm):
    """Two keys, and two kinds of clients that name them in opposite orders; each admission takes one of both."""
    rule, keys = f"{algorithm}-1000", ["left", "right"]

    def pairs(order, over_http):
        checks = [{"rule": rule, "key": k, "cost": 1} for k in order]

        def run(barrier):
            with flooded.http() as http, flooded.resp() as resp:
                barrier.wait()
                admitted = 0
                for _ in range(10):
                    if over_http:
                        http.send(http.request("POST", "/v1/check", json.dumps({"checks": checks})) * 5)
                        admitted += sum(http.response().json["allowed"] for _ in range(5))
                    else:
                        call = ("LAJU.ALL", *(w for k in order for w in (rule, k, 1)))
                        admitted += sum(r[0] for r in resp.pipeline([call] * 5))
            return admitted
        return run

    law.keep_clear_of_edge(law.HOUR_S, 120)
    began = time.monotonic()
    with flooded.resp() as resp:
        assert resp.call("LAJU.CHECK", rule, "right", 800)[0] == 1
    admitted = sum(at_once([pairs(keys[::1 if i % 2 else -1], i % 4 < 2) for i in range(16)]))
    with flooded.http() as http:
        left, right = (http.peek(rule, k) for k in keys)
    back = came_back(algorithm, 1000, began)
    assert 200 <= admitted <= 200 + back
    assert 1000 - admitted <= left <= 1000 - admitted + back and 0 <= right <= back

"""The doors and a real Redis behind them: one count for all nodes, order, and what is answered while Redis is not well."""

import itertools
import signal
import threading
import time

import pytest

import law
from conftest import SANITIZED
from redis_server import RedisServer
from server import PATIENCE_S, Server, descriptors
from test_reload import DONE, Told, put
from wire import RespError

TIMEOUT_MS = 100  # where Redis is not well; where it must answer, the machine may be busy
PATIENT = {"timeout": "2s"}
SLACK_S = 5 if SANITIZED else 1  # a machine with other things to do; what is promised is `timeout`


def settings(redis, rules, **store):
    store = {"redis": redis.url, "timeout": f"{TIMEOUT_MS}ms", **store}
    return {"store": store, "rules": rules, "resp_admin": True, "memory": "16MiB", "workers": 2}


def rule(name, limit=5, algorithm="token-bucket", **members):
    return {"name": name, "algorithm": algorithm, "limit": limit, "per": "1d", **members}


EXACT = [rule(a, 10, algorithm=a, match="none") for a in law.ALGORITHMS]
RULES = [*EXACT,
         rule("here", 1000, mode="embedded", match="none"),
         rule("there", 1000, match="none"),
         rule("allow", match="none"),
         rule("deny", on_store_error="deny", match="none"),
         rule("local", 6, on_store_error="local", match="none"),
         {"name": "queue", "algorithm": "leaky-bucket", "limit": 10, "per": "1s", "burst": 5, "wait": "server",
          "match": {"path": "/queue"}, "key": "header:X-User"}]


class Nodes:
    """A redis-server and two laju that share it."""

    def __init__(self, redis, **store):
        self.redis = redis
        self.servers = [Server(settings(redis, RULES, **store)) for _ in range(2)]

    def __enter__(self):
        for server in self.servers:
            server.launch()
        for server in self.servers:
            server.wait_until_ready()
            wait_for_store(server)
        return self

    def __exit__(self, kind, value, trace):
        self.redis.thaw()
        try:
            if kind is None:
                for server in self.servers:
                    server.stop()
        finally:
            for server in self.servers:
                server.kill()


def ready(server, path="/readyz"):
    with server.http() as http:
        return http.get(path)


def wait_for_store(server, up=True, patience_s=PATIENCE_S):
    deadline = time.monotonic() + patience_s
    while (ready(server).json["store"] == "up") != up:
        assert time.monotonic() < deadline, server.log()
        time.sleep(0.01)


@pytest.fixture(scope="module")
def shared():
    with RedisServer() as redis, Nodes(redis, nodes=2, **PATIENT) as nodes:
        yield nodes


@pytest.fixture(scope="module")
def brief():
    with RedisServer() as redis, Nodes(redis, nodes=2) as nodes:
        yield nodes


@pytest.fixture
def one(shared):
    return shared.servers[0]


@pytest.fixture
def two(shared):
    return shared.servers[1]


@pytest.fixture
def frozen(brief):
    """Redis keeps its connections and says nothing, until the test is over. Then it is well again for the next."""
    brief.redis.freeze()
    yield brief
    brief.redis.thaw()
    for server in brief.servers:
        wait_for_store(server)


def until_read(*clients):
    """Returns when the server has taken all that these clients have sent out of the kernel's hands."""
    waiting = {client.socket.getsockname()[1] for client in clients}
    deadline = time.monotonic() + PATIENCE_S
    while waiting:
        assert time.monotonic() < deadline
        with open("/proc/net/tcp") as table:
            rows = [line.split() for line in table.readlines()[1:]]
        # Of the server's ends, by the client's port: bytes in the receive queue.
        unread = {int(row[2].split(":")[1], 16) for row in rows if row[4].split(":")[1] != "00000000"}
        waiting &= unread


def timed(ask):
    began = time.monotonic()
    answer = ask()
    assert time.monotonic() - began < TIMEOUT_MS / 1000 + SLACK_S, answer
    return answer


# ---- one count ----


@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_two_nodes_and_three_doors_share_one_count(one, two, key, algorithm):
    law.keep_clear_of_edge(law.DAY_S, 30)

    def by_http(server):
        with server.http() as http:
            return http.check(algorithm, key).status == 200

    def by_resp(server):
        with server.resp() as resp:
            return resp.call("LAJU.CHECK", algorithm, key)[0] == 1

    def by_auth(server):
        with server.http() as http:
            return http.get(f"/auth?rule={algorithm}", headers=[f"X-Forwarded-For: {key}"]).status == 200

    admitted = sum(ask(server) for _ in range(4) for ask in (by_http, by_resp) for server in (one, two))
    assert admitted == 10
    # The key that forward-auth makes is the client's address; its limit is shared as well.
    with one.resp() as resp:
        for server in (one, two):
            resp.call("LAJU.RESET", algorithm, "127.0.0.1")
        admitted = sum(by_auth(server) for _ in range(6) for server in (one, two))
        assert admitted == 10
        assert resp.call("LAJU.PEEK", algorithm, "127.0.0.1")[2] == 0


def test_limits_that_checks_bring_are_shared_too(one, two, key):
    body = {"limit": 3, "per": "1d", "algorithm": "token-bucket", "key": key}
    statuses, throttled = [], []
    for server in (one, two, one, two):
        with server.http() as http, server.resp() as resp:
            statuses.append(http.post("/v1/check", body).status)
            throttled.append(resp.call("CL.THROTTLE", key, 2, 3, 86400)[0])
    assert statuses == [200, 200, 200, 429]
    assert throttled == [0, 0, 0, 1]


def test_a_reset_is_for_all(one, two, key):
    with one.resp() as here, two.resp() as there:
        assert [here.call("LAJU.CHECK", "allow", key, 5)[0], there.call("LAJU.CHECK", "allow", key)[0]] == [1, 0]
        assert there.call("LAJU.RESET", "allow", key) == 1
        assert there.call("LAJU.RESET", "allow", key) == 0
        assert there.call("LAJU.CHECK", "allow", key, 5)[:3] == [1, 5, 0]


def test_a_request_of_both_kinds_charges_all_or_none(one, key):
    checks = [{"rule": "here", "key": key, "cost": 7}, {"rule": "allow", "key": key, "cost": 3}]
    with one.http() as http:
        assert http.post("/v1/check", {"checks": checks}).status == 200
        refused = http.post("/v1/check", {"checks": checks})
        assert refused.status == 429 and refused.json["rule"] == "allow"
        assert [http.peek("here", key), http.peek("allow", key)] == [993, 2]
        checks[0]["cost"] = 994
        checks[1]["cost"] = 1
        unasked = http.post("/v1/check", {"checks": checks})
        assert unasked.status == 429 and unasked.json["rule"] == "here"
        assert [d.get("source") for d in unasked.json["decisions"]] == [None, "unasked"]
        assert '"here"' in unasked.header("RateLimit") and "allow" not in unasked.header("RateLimit")
        assert [http.peek("here", key), http.peek("allow", key)] == [993, 2]


# ---- order ----


def test_a_pipeline_of_a_thousand_is_answered_in_order(one, key):
    """Both kinds, errors, small talk and requests of both kinds, by RESP; each reply tells which one it is."""
    used = {"here": 0, "there": 0}
    commands, expected = [], []
    for i in range(1000):
        kind = i % 7
        if kind in (0, 1, 3):
            name = ("here", "there", None, "here")[kind]
            used[name] += 1
            commands.append(("LAJU.CHECK", name, key))
            expected.append(("remaining", 1000 - used[name]))
        elif kind == 2:
            commands.append(("ECHO", f"echo-{i}"))
            expected.append(("is", f"echo-{i}".encode()))
        elif kind == 4:
            used["here"] += 1
            used["there"] += 1
            commands.append(("LAJU.ALL", "here", key, 1, "there", key, 1))
            expected.append(("both", 1000 - used["here"], 1000 - used["there"]))
        elif kind == 5:
            commands.append(("LAJU.CHECK", "nobody", f"k{i}"))
            expected.append(("error",))
        else:
            commands.append(("CL.THROTTLE", f"{key}-{i}", i, 1, 86400))
            expected.append(("limit", i + 1))
    with one.resp() as resp:
        replies = resp.pipeline(commands)
    for reply, (kind, *values) in zip(replies, expected):
        if kind == "remaining":
            assert reply[0] == 1 and reply[2] == values[0]
        elif kind == "both":
            assert reply[0] == 1 and [reply[3], reply[9]] == values
        elif kind == "limit":
            assert reply[:2] == [0, values[0]]
        elif kind == "error":
            assert isinstance(reply, RespError)
        else:
            assert reply == values[0]


def test_who_reads_late_gets_all_in_order(one, key):
    """Replies are stuck on their way to the client while others wait for the store."""
    count, padding = 4000, "x" * 1000
    with one.resp() as resp:
        asked = b"".join(resp.encode("ECHO", f"{i:05}{padding}") + resp.encode("CL.THROTTLE", f"{key}-{i}", i, 1, 86400)
                         for i in range(count))
        sender = threading.Thread(target=resp.send, args=(asked,))
        sender.start()
        time.sleep(0.2)
        for i in range(count):
            assert resp.reply()[:5] == b"%05d" % i
            assert resp.reply()[:2] == [0, i + 1]
        sender.join()


def test_a_pipeline_over_http_is_answered_in_order(one, key):
    names = list(itertools.islice(itertools.cycle(("here", "there", "allow")), 300))
    with one.http() as http:
        http.send(b"".join(http.request("POST", "/v1/check", {"rule": name, "key": f"{key}-{i}"})
                           for i, name in enumerate(names)))
        answers = [http.response() for _ in names]
    assert [a.json["rule"] for a in answers] == names
    assert {a.status for a in answers} == {200}


def test_a_thousand_keys_of_one_request(one, key):
    with one.resp() as resp:
        keys = [f"{key}-{i % 250}" for i in range(1000)]
        assert resp.call("LAJU.MCHECK", "allow", 2, *keys)[:500] == [3] * 250 + [1] * 250
        body = [{"rule": "there", "key": f"{key}-{i}"} for i in range(1000)]
        with one.http() as http:
            decisions = http.post("/v1/batch", body).json
    assert [d["remaining"] for d in decisions] == [999] * 1000


def test_an_answer_that_waits_its_turn_does_so_after_the_stores(one, two, key):
    began = time.monotonic()
    for i, server in enumerate((one, two, one)):
        with server.http() as http:
            answer = http.get("/auth/queue", headers=[f"X-User: {key}"])
            assert answer.status == 200
    waited = time.monotonic() - began
    assert 0.1 <= waited < 0.1 + 0.2 + SLACK_S


# ---- clients that go, rules that change, ends ----


def test_a_client_that_sends_its_end_still_gets_the_replies(one, key):
    with one.resp() as resp:
        resp.send(b"".join(resp.encode("LAJU.CHECK", "there", f"{key}-{i}") for i in range(300)))
        resp.half_close()
        assert resp.rest().count(b"*6\r\n:1\r\n") == 300


def test_clients_that_go_away_while_they_wait_leave_nothing_behind(frozen, key):
    server = frozen.servers[0]
    before = descriptors(server.process.pid)
    for turn in range(3):
        clients = [server.resp() for _ in range(50)]
        for i, resp in enumerate(clients):
            resp.send(resp.encode("LAJU.CHECK", "allow", f"{key}-{i}") * 20)
        for resp in clients:
            resp.close()
    deadline = time.monotonic() + PATIENCE_S
    while descriptors(server.process.pid) > before + 4:  # the workers' own try to reach the store meanwhile
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with server.http() as http:
        assert timed(lambda: http.check("allow", key)).status == 200


def load(server, stop, failures, counts, name, key):
    """Checks over one connection until told to stop; every answer must be a decision."""
    try:
        with server.resp() as resp:
            while not stop.is_set():
                replies = resp.pipeline([("LAJU.CHECK", name, f"{key}-{i}") for i in range(50)])
                bad = [r for r in replies if not isinstance(r, list)]
                assert not bad, bad[0]
                counts.append(len(replies))
    except (OSError, EOFError, AssertionError) as failure:
        failures.append(failure)


def test_rules_change_under_load(shared, one, key):
    stop, failures, counts = threading.Event(), [], []
    threads = [threading.Thread(target=load, args=(one, stop, failures, counts, "there", f"{key}-{i}"))
               for i in range(4)]
    told = Told(one)
    for thread in threads:
        thread.start()
    try:
        for i in range(8):
            changed = [{**r, "limit": 1_000_000 + i} if r["name"] == "there" else r for r in RULES]
            put(one, {**one.settings, "rules": changed})
            one.signal(signal.SIGHUP)
            told.line(DONE)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        told.close()
    assert not failures
    assert sum(counts) > 0
    with one.resp() as resp:
        assert resp.call("LAJU.PEEK", "there", f"{key}-fresh")[1] == 1_000_007


def test_a_store_that_is_another_needs_a_restart(one):
    told = Told(one)
    put(one, {**one.settings, "store": {**one.settings["store"], "timeout": "70ms"}})
    one.signal(signal.SIGHUP)
    assert "store.timeout" in told.line("the new configuration is refused")
    told.close()
    put(one, one.settings)
    one.signal(signal.SIGHUP)


def test_who_waits_when_laju_ends_is_answered(redis_server, key):
    redis = redis_server()
    with Server(settings(redis, RULES, timeout="1s")) as server:
        wait_for_store(server)
        clients = [server.resp() for _ in range(20)]
        redis.freeze()
        for resp in clients:
            resp.send(resp.encode("LAJU.CHECK", "allow", key) * 3)
        until_read(*clients)
        server.signal(signal.SIGTERM)
        for resp in clients:
            assert [resp.reply()[0] for _ in range(3)] == [1, 1, 1]
            assert resp.rest() == b""
            resp.close()
        assert server.wait() == 0
        redis.thaw()


def test_who_does_not_wait_any_longer_ends_at_once(redis_server, key):
    redis = redis_server()
    for _ in range(5):
        with Server(settings(redis, RULES, timeout="10s")) as server, server.resp() as resp:
            wait_for_store(server)
            redis.freeze()
            sent = time.monotonic()
            resp.send(resp.encode("LAJU.CHECK", "allow", key))
            until_read(resp)
            server.signal(signal.SIGTERM)
            time.sleep(0.12)  # longer than the same signal is taken for one
            server.signal(signal.SIGTERM)
            answer = resp.rest()
            took = time.monotonic() - sent
            assert server.wait() == 0
            redis.thaw()
        if took < 0.8:  # else the silent connection may have been given up before, and the check been answered
            assert answer == b"" and "cut=1" in server.log()
            return
    raise AssertionError("too slow to see it, five times")


def test_what_waits_is_decided_by_the_rules_of_its_time(redis_server, key):
    redis = redis_server()
    with Server(settings(redis, RULES, timeout="1500ms")) as server, server.http() as http, server.resp() as resp:
        wait_for_store(server)
        redis.freeze()
        http.send(http.request("POST", "/v1/check", {"rule": "deny", "key": key}))
        resp.send(resp.encode("LAJU.CHECK", "deny", key, 2) + resp.encode("CL.THROTTLE", key, 6, 1, 60))
        until_read(http, resp)
        told = Told(server)
        put(server, {**server.settings, "rules": [r for r in RULES if r["name"] != "deny"]})
        server.signal(signal.SIGHUP)
        told.line(DONE)
        told.close()
        answer = http.response()
        assert answer.status == 503 and answer.json["rule"] == "deny" and '"deny"' in answer.header("RateLimit")
        assert resp.reply()[:4] == [0, 5, 0, 1000]
        assert resp.reply() == [0, 7, 6, -1, 0]
        assert isinstance(resp.call("LAJU.CHECK", "deny", key), RespError)  # now there is none


# ---- while Redis is not well ----


def test_a_frozen_store_is_answered_for_by_each_rule(frozen, key):
    server = frozen.servers[0]
    with server.http() as http, server.resp() as resp:
        for turn in range(7):  # before the breaker opens, and behind it
            allowed = timed(lambda: http.check("allow", key))
            assert allowed.status == 200 and allowed.header("X-RateLimit-Source") == "fallback"
            assert allowed.json["source"] == "fallback" and allowed.json["allowed"] is True

            denied = timed(lambda: http.check("deny", key))
            assert denied.status == 503 and denied.header("Retry-After") == "1"
            assert denied.json["allowed"] is False and denied.json["source"] == "fallback"
            assert denied.header("Content-Type") == "application/json"
            assert timed(lambda: http.get("/auth?rule=deny&deny=401")).status == 401
            assert timed(lambda: resp.call("LAJU.CHECK", "deny", key))[:4:3] == [0, 1000]

            local = timed(lambda: http.check("local", key))  # half of 6
            assert local.status == (200 if turn < 3 else 429) and local.json["limit"] == 3
            assert local.json["source"] == "fallback"

            assert timed(lambda: http.check("deny", key, 6)).status == 429  # no wait helps
            assert timed(lambda: http.check("here", key)).json.get("source") is None
        several = [{"rule": "allow", "key": key}, {"rule": "deny", "key": key}]
        assert timed(lambda: http.post("/v1/check", {"checks": several})).status == 503
        reset = timed(lambda: resp.call("LAJU.RESET", "allow", key))
        assert isinstance(reset, RespError) and "shared store" in reset.text
        throttled = timed(lambda: resp.call("CL.THROTTLE", key, 4, 5, 60))
        assert throttled[0] == 0


def test_nobody_waits_longer_than_the_timeout(frozen, key):
    """Hundreds of clients at once; the slowest answer counts."""
    server = frozen.servers[1]
    clients = [server.resp() for _ in range(200)]
    began = time.monotonic()
    for i, resp in enumerate(clients):
        resp.send(resp.encode("LAJU.CHECK", "allow", f"{key}-{i}") * 10)
    for resp in clients:
        assert all(resp.reply()[0] == 1 for _ in range(10))
    assert time.monotonic() - began < TIMEOUT_MS / 1000 + SLACK_S
    for resp in clients:
        resp.close()


def test_more_than_may_wait_are_answered_for_at_once(redis_server, key):
    redis = redis_server()
    alone = {**settings(redis, RULES, timeout=f"{SLACK_S + 1}s", max_inflight=20), "workers": 1}
    with Server(alone) as server, server.resp() as first, server.resp() as second:
        wait_for_store(server)
        redis.freeze()
        keys = [f"{key}-{i}" for i in range(20)]
        first.send(first.encode("LAJU.MCHECK", "allow", 1, *keys))
        until_read(first)
        began = time.monotonic()
        assert second.call("LAJU.MCHECK", "deny", 1, *keys) == [-1000] * 20
        assert time.monotonic() - began < SLACK_S
        assert first.reply() == [4] * 20


def test_readiness_tells_of_the_store(frozen, key):
    server = frozen.servers[0]
    with server.resp() as resp:
        while ready(server).json["store"] == "up":  # nobody has asked it yet
            resp.pipeline([("LAJU.CHECK", "allow", f"{key}-{i}") for i in range(10)])
    with server.http() as http:
        assert http.get("/readyz").status == 200
        wanting = http.get("/readyz?store=1")
        assert wanting.status == 503 and wanting.json == {"status": "degraded", "store": "down"}
    frozen.redis.thaw()
    wait_for_store(server)
    assert ready(server, "/readyz?store=1").status == 200


def test_a_store_that_returns_empty_is_exact_again_within_a_second(shared, key):
    shared.redis.kill()
    with shared.servers[0].http() as http:
        assert http.check("allow", key).json["source"] == "fallback"
    shared.redis.start()
    for server in shared.servers:
        wait_for_store(server, patience_s=1 + SLACK_S)
    admitted = 0
    for _ in range(5):
        for server in shared.servers:
            with server.http() as http:
                answer = http.check("allow", f"{key}-after")
                assert answer.json.get("source") is None
                admitted += answer.status == 200
    assert admitted == 5


# ---- the log ----


def test_the_log_tells_of_changes_once_and_never_a_password(redis_server):
    redis = redis_server(requirepass="open-sesame")
    wrong = {"redis": f"redis://:close-sesame@127.0.0.1:{redis.port}", "timeout": f"{TIMEOUT_MS}ms"}
    with Server({"store": wrong, "rules": [rule("allow")]}) as server:
        told = Told(server)
        with server.http() as http:
            assert timed(lambda: http.check("allow", "k")).json["source"] == "fallback"
        told.close()
        deadline = time.monotonic() + PATIENCE_S
        while "the shared store does not answer" not in server.log():
            assert time.monotonic() < deadline, server.log()
            time.sleep(0.01)
        assert "WRONGPASS" in server.log()
        assert ready(server, "/readyz?store=1").status == 503
    assert "sesame" not in server.log()
    right = {**PATIENT, "redis": redis.url}
    with Server({"store": right, "rules": [rule("allow")]}) as server:
        wait_for_store(server)
        with server.http() as http:
            assert "source" not in http.check("allow", "k").json
    assert server.log().count("the shared store answers") == 1
    assert "sesame" not in server.log()

"""The admin door as operators, browsers and those who should not be there find it."""

import json
import re
import time

import pytest

import law
from server import PATIENCE_S, Server, free_port, run_laju
from wire import Http

TOKEN = "open barley"
BEARER = [f"Authorization: Bearer {TOKEN}"]
RULES = [
    {"name": "login", "algorithm": "token-bucket", "limit": 5, "per": "1d", "burst": 10, "match": "none"},
    {"name": "day", "algorithm": "fixed-window", "limit": 3, "per": "1d", "match": {"path": "/day"}},
    {"name": "user", "algorithm": "fixed-window", "limit": 3, "per": "1d", "key": "header:X-User", "match": {"path": "/user"}},
    {"name": "vault", "algorithm": "fixed-window", "limit": 3, "per": "1d", "secret": True, "match": "none"},
]
SETTINGS = {"rules": RULES, "memory": "16MiB"}
SPREAD_S = 5  # within which every node knows of a change
LATE_S = 0.248  # that long a wrong token is not answered; the loop counts whole milliseconds


@pytest.fixture(scope="module")
def laju():
    with Server(SETTINGS, admin=True) as server:
        yield server


def key_of(rule, key):
    return f"/v1/keys?rule={rule}&key={key}"


def put(server, rule, key, limit, expires_in="1h", **members):
    with server.admin() as admin:
        return admin.exchange("PUT", key_of(rule, key), {"limit": limit, "expires_in": expires_in, **members})


def look(server, rule, key):
    with server.admin() as admin:
        answer = admin.get(key_of(rule, key))
        assert answer.status == 200, answer
        return answer.json


def within(seconds, condition):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ---- who may ask ----

@pytest.mark.parametrize("address", ["0.0.0.0", "*"])
def test_a_door_that_others_reach_needs_a_token(tmp_path, address):
    config = tmp_path / "laju.yaml"
    config.write_text(json.dumps({"listen": {"admin": f"{address}:{free_port()}"}}))
    done = run_laju("config", "check", config)
    assert done.returncode == 1 and "admin: " in done.stderr and "admin.token or admin.token_file" in done.stderr


def test_every_wrong_token_gets_the_same_answer_and_is_counted(serve, tmp_path):
    """Neither what is told nor when it is told says how much of a guess is right."""
    secret = tmp_path / "token"
    secret.write_text(TOKEN + "\n")
    server = serve({**SETTINGS, "admin": {"token_file": str(secret)}}, admin=True)
    with server.admin() as admin:
        assert admin.get("/v1/status").status == 401
        answers = set()
        for guess in ["x", "o", "op", "open barle", "open barlex", "open barleyy", "Open barley"]:
            began = time.monotonic()
            answer = admin.get("/v1/status", headers=[f"Authorization: Bearer {guess}"])
            assert time.monotonic() - began >= LATE_S
            assert "barle" not in answer.body.decode()
            answers.add((answer.status, answer.body, tuple(h for h in answer.headers if h[0] != "Date")))
        assert len(answers) == 1 and answers.pop()[0] == 401
        for path in ["/metrics", "/v1/rules", "/v1/top", "/v1/overrides", key_of("login", "a"), "/v1/status"]:
            assert admin.get(path).status == 401
            assert admin.get(path, headers=BEARER).status == 200
        assert admin.get("/healthz").status == 200 and admin.get("/no/such/file").status == 404
        metrics = admin.get("/metrics", headers=BEARER).body.decode()
        assert "\nlaju_admin_wrong_tokens_total 7\n" in metrics
    assert "barle" not in server.log()


def test_a_session_is_as_good_as_the_token_until_it_ends(serve):
    server = serve({**SETTINGS, "admin": {"token": TOKEN}}, admin=True)
    with server.admin() as admin:
        assert admin.get("/v1/session").json == {"needed": True, "open": False}
        answer = admin.post("/v1/session", {"token": TOKEN})
        cookie = re.fullmatch(r"(laju_session=[0-9a-f]{32}); Path=/; HttpOnly; SameSite=Strict; Max-Age=43200",
                              answer.header("Set-Cookie")).group(1)
        session = [f"Cookie: other=1; {cookie}"]
        assert admin.get("/v1/session", headers=session).json == {"needed": True, "open": True}
        assert admin.get("/v1/status", headers=session).status == 200
        reset = lambda *headers: admin.exchange("DELETE", key_of("login", "a"), headers=[*session, *headers]).status
        assert reset() == 403  # a form of another site's has the cookie, too
        assert reset("Origin: http://localhost") == 200
        assert reset("Sec-Fetch-Site: same-origin") == 200
        assert reset("Origin: http://evil.example") == 403
        assert reset("Sec-Fetch-Site: cross-site") == 403
        assert admin.exchange("DELETE", "/v1/session", headers=session).json == {"known": True}
        assert admin.get("/v1/status", headers=session).status == 401


def test_strange_hosts_and_origins_get_nothing(serve):
    server = serve({**SETTINGS, "admin": {"hosts": ["laju.example.com"]}}, admin=True)

    def asked(method, path, *fields):
        with server.admin() as admin:
            admin.send("\r\n".join([f"{method} {path} HTTP/1.1", *fields, "", ""]).encode())
            return admin.response().status

    for host in ["localhost", "LocalHost:8082", "127.0.0.1", "[::1]:1", "10.0.0.1:8082", "laju.example.com:443"]:
        assert asked("GET", "/v1/status", f"Host: {host}") == 200
    for host in ["evil.example", "127.0.0.1.evil.example", "laju.example.com.evil.example", "localhost@evil.example", ""]:
        assert asked("GET", "/v1/status", f"Host: {host}") == 421
        assert asked("DELETE", key_of("login", "a"), f"Host: {host}", f"Origin: http://{host}") == 421
        assert asked("GET", "/healthz", f"Host: {host}") == 200
    assert asked("DELETE", key_of("login", "a"), "Host: localhost:1", "Origin: http://localhost:2") == 403
    assert asked("DELETE", key_of("login", "a"), "Host: localhost:1", "Origin: null") == 403
    assert asked("GET", "/v1/status", "Host: localhost", "Sec-Fetch-Site: cross-site") == 403


def test_a_unix_socket_may_be_called_anything(serve):
    server = serve(SETTINGS, unix=True, admin=True)
    with server.admin() as admin:
        admin.send(b"GET /v1/status HTTP/1.1\r\nHost: whatever\r\n\r\n")
        assert admin.response().status == 200


# ---- the page ----

def test_the_page_is_framed_by_nobody_and_sent_once(laju):
    with laju.admin() as admin:
        page = admin.get("/")
        if page.status == 404:
            pytest.skip("laju was built without its page")
        policy = page.header("Content-Security-Policy")
        assert "frame-ancestors 'none'" in policy and "unsafe-inline" not in policy and "http" not in policy
        assert policy.startswith("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';")
        script = re.search(rb'src="\.?/?([\w.-]+\.js)"', page.body).group(1).decode()
        answer = admin.get(f"/{script}")
        assert answer.status == 200 and answer.header("Content-Type").startswith("text/javascript")
        again = admin.get(f"/{script}", headers=[f"If-None-Match: {answer.header('ETag')}"])
    assert again.status == 304 and again.body == b""


# ---- keys and overrides ----

def test_a_key_is_looked_at_and_reset(laju, key):
    assert laju.check("login", key, 4).status == 200
    standing = look(laju, "login", key)
    assert (standing["limit"], standing["remaining"], standing["override"]) == (10, 6, None)
    assert look(laju, "login", key)["remaining"] == 6  # nothing was charged
    with laju.admin() as admin:
        assert admin.exchange("DELETE", key_of("login", key)).json == {"known": True}
        assert admin.exchange("DELETE", key_of("login", key)).json == {"known": False}
    assert look(laju, "login", key)["remaining"] == 10


def test_an_override_is_in_force_at_every_door_for_its_key_alone(laju, key):
    law.keep_clear_of_edge(law.DAY_S, 60)
    assert put(laju, "day", key, 5).status == 200
    assert [laju.check("day", key).status for _ in range(4)] == [200] * 4
    with laju.resp() as resp:
        assert resp.call("LAJU.CHECK", "day", key)[0] == 1
        assert resp.call("LAJU.CHECK", "day", key)[0] == 0
        assert [resp.call("LAJU.CHECK", "day", f"{key}-other")[0] for _ in range(4)] == [1, 1, 1, 0]
        assert [reply >= 0 for reply in resp.call("LAJU.MCHECK", "day", 1, key, f"{key}-third")] == [False, True]
    with laju.admin() as admin:
        assert admin.exchange("DELETE", f"/v1/overrides?rule=day&key={key}").json == {"known": True}
    assert look(laju, "day", key)["limit"] == 3


def test_forward_auth_is_decided_by_overrides_too(laju, key):
    """Of a key as forward-auth makes it."""
    law.keep_clear_of_edge(law.DAY_S, 60)
    assert put(laju, "user", key, 1).status == 200
    assert put(laju, "day", "127.0.0.1", 0).status == 200
    with laju.http() as http:
        user = [f"X-User: {key}"]
        assert [http.get("/auth/user", headers=user).status for _ in range(2)] == [200, 429]
        assert http.get("/auth/day").status == 429
    with laju.admin() as admin:
        assert admin.exchange("DELETE", "/v1/overrides?rule=day&key=127.0.0.1").json == {"known": True}
    with laju.http() as http:
        assert http.get("/auth/day").status == 200


def test_a_raised_limit_counts_on_from_what_was_used(laju, key):
    assert laju.check("login", key, 8).status == 200
    assert put(laju, "login", key, 5, burst=20).status == 200
    assert look(laju, "login", key)["remaining"] == 12


def test_an_override_ends_by_itself(laju, key):
    assert put(laju, "login", key, 100, "1s").status == 200
    assert look(laju, "login", key)["limit"] == 100
    within(4, lambda: look(laju, "login", key)["limit"] == 10)
    with laju.admin() as admin:
        assert not [o for o in admin.get("/v1/overrides").json["overrides"] if o["key"] == key]


def test_overrides_outlive_a_restart_by_the_snapshot(serve, key):
    server = serve({**SETTINGS, "snapshot": {"path": "table.snap"}}, admin=True)
    assert put(server, "login", key, 100, "1h").status == 200
    assert put(server, "login", f"{key}-short", 100, "1s").status == 200
    assert put(server, "vault", "hunter2hunter2", 100).status == 200
    time.sleep(1.1)
    server.stop()
    assert b"hunter2" not in (server.home / "table.snap").read_bytes()
    server.settings["rules"] = [{"name": "before", "limit": 1, "per": "1d"}, *RULES]  # other numbers
    server.start()
    assert look(server, "login", key)["limit"] == 100
    assert look(server, "login", f"{key}-short")["limit"] == 10
    assert look(server, "vault", "hunter2hunter2")["limit"] == 100


def test_overrides_outlive_a_reload(serve, key):
    server = serve(SETTINGS, admin=True)
    assert put(server, "login", key, 100).status == 200
    server.config_path.write_text(json.dumps({**server.settings, "rules": [{**RULES[0], "limit": 7}, *RULES[1:]]}))
    within(PATIENCE_S, lambda: look(server, "login", f"{key}-other")["limit"] == 10 and "reloaded" in server.log())
    assert look(server, "login", key)["limit"] == 100


def test_two_nodes_share_overrides_by_redis(redis_server, serve, key):
    redis = redis_server()
    settings = {**SETTINGS, "store": {"redis": redis.url, "timeout": "2s"}}
    one, two = serve(settings, admin=True), serve(settings, admin=True)
    within(PATIENCE_S, lambda: look(one, "login", key).get("source") is None)
    assert put(one, "login", key, 100, burst=200).status == 200
    assert look(one, "login", key)["limit"] == 200  # at once, where it was set
    within(SPREAD_S, lambda: look(two, "login", key)["limit"] == 200)
    assert put(two, "login", key, 50).status == 200
    within(SPREAD_S, lambda: look(one, "login", key)["limit"] == 50)
    with one.admin() as admin:
        assert admin.exchange("DELETE", f"/v1/overrides?rule=login&key={key}").json == {"known": True}
    within(SPREAD_S, lambda: look(two, "login", key)["limit"] == 10)
    assert put(one, "login", key, 70).status == 200
    third = serve(settings)  # who comes later learns of it, without an admin door too
    within(SPREAD_S, lambda: third.check("login", key, 0).json["limit"] == 70)
    assert redis.call("HGET", "laju:{!overrides}", f"login:{key}").split()[:2] == [b"70", b"70"]
    redis.kill()
    with one.admin() as admin:
        answer = admin.exchange("PUT", key_of("login", key), {"limit": 1, "expires_in": "1h"})
        assert answer.status == 503 and "store" in answer.json["detail"]
    assert look(one, "login", key)["override"]["limit"] == 70  # what was known stands


def test_what_others_put_into_redis_is_passed_over_and_the_stale_swept(redis_server, serve, key):
    redis = redis_server()
    now_ms = int(time.time() * 1000)
    fields = {"login:good": f"50 60 {now_ms + 3600_000}", "nosuch:rule": f"1 1 {now_ms + 3600_000}", "nocolon": "1 1 1",
              "login:": "1 1 9", "login:text": "many", "login:stale": f"50 60 {now_ms - 120_000}",
              "login:fresh": f"50 60 {now_ms - 1000}", "login:negative": "-1 1 9999999999999", "bad rule:x": "1 1 1"}
    redis.call("HSET", "laju:{!overrides}", *[word for field in fields.items() for word in field])
    server = serve({**SETTINGS, "store": {"redis": redis.url, "timeout": "2s"}}, admin=True)
    within(PATIENCE_S, lambda: look(server, "login", "good")["override"] is not None)
    with server.admin() as admin:
        assert [(o["rule"], o["key"]) for o in admin.get("/v1/overrides").json["overrides"]] == [("login", "good")]
    within(PATIENCE_S, lambda: redis.call("HEXISTS", "laju:{!overrides}", "login:stale") == 0)
    assert redis.call("HLEN", "laju:{!overrides}") == len(fields) - 1


def test_ten_thousand_in_the_store_are_all_that_there_can_be(redis_server, serve):
    redis = redis_server()
    expires_ms = int(time.time() * 1000) + 3600_000
    redis.call("HSET", "laju:{!overrides}", *[word for i in range(10_000) for word in (f"login:k{i}", f"50 60 {expires_ms}")])
    server = serve({**SETTINGS, "store": {"redis": redis.url, "timeout": "2s"}}, admin=True)
    within(PATIENCE_S, lambda: look(server, "login", "k9999")["override"] is not None)
    body = {"limit": 7, "expires_in": "1h"}
    with server.admin() as admin:
        assert admin.exchange("PUT", "/v1/keys?rule=login&key=another", body).status == 409
        assert admin.exchange("PUT", "/v1/keys?rule=login&key=k1", body).status == 200  # in the place of the one before
    assert redis.call("HLEN", "laju:{!overrides}") == 10_000


# ---- who is refused most ----

def test_who_is_refused_most_is_told_and_secrets_are_not(serve):
    server = serve(SETTINGS, admin=True)
    with server.http() as http:
        for name, times in [("ordinary", 9), ("someone", 5)]:
            for _ in range(times):
                http.check("day", name)
        for _ in range(8):
            http.check("vault", "hunter2hunter2hunter2")
        for _ in range(7):
            http.get("/auth/user", headers=["X-User: Bearer abcdefghijklmnop"])
    with server.admin() as admin:
        text = admin.get("/v1/top?limit=3").body.decode()
        keys = json.loads(text)["keys"]
    assert [(k["rule"], k["denied"], k["masked"]) for k in keys] == [("day", 6, False), ("vault", 5, True), ("user", 4, True)]
    assert keys[0]["key"] == "ordinary" and re.fullmatch(r"hunt…[0-9a-f]{8}", keys[1]["key"])
    assert re.fullmatch(r"Bear…[0-9a-f]{8}", keys[2]["key"]) and "hunter2" not in text and "abcdef" not in text
    server.config_path.write_text(json.dumps({**server.settings, "admin": {"reveal": True}}))
    with server.admin() as admin:
        within(PATIENCE_S, lambda: "hunter2hunter2hunter2" in admin.get("/v1/top").body.decode())


# ---- events ----

class Events(Http):
    """A subscriber."""

    def __init__(self, address):
        super().__init__(address)
        self.send(self.request("GET", "/v1/events"))
        while line := self.line():
            assert not line.lower().startswith(b"content-length"), line

    def next(self):
        while b"\n\n" not in self.unread:
            self.fill()
        event, self.unread = self.unread.split(b"\n\n", 1)
        kind, data = event.decode().split("\n")
        assert kind == "event: status" and data.startswith("data: ")
        return json.loads(data[6:])


def test_events_tell_what_happens_about_once_a_second(laju, key):
    with Events(laju.admin_address) as events:
        first = events.next()
        laju.check("day", key)
        began = time.monotonic()
        while (event := events.next())["checks"]["allowed"] == first["checks"]["allowed"]:
            assert time.monotonic() - began < PATIENCE_S
        assert event["checks"]["allowed"] == first["checks"]["allowed"] + 1
        assert event["now_ms"] > first["now_ms"] and event["latency"]["count"] >= 1
        later = [events.next()["now_ms"] for _ in range(2)]
        assert 500 < later[1] - later[0] < 5000


def test_seventeen_subscribers_are_one_too_many(serve):
    server = serve(SETTINGS, admin=True)
    subscribers = [Events(server.admin_address) for _ in range(16)]
    with server.admin() as admin:
        assert admin.get("/v1/events").status == 503
        subscribers.pop().close()
        within(PATIENCE_S, lambda: admin.get("/metrics").status == 200 and not refused(server, subscribers))
    began = time.monotonic()
    server.stop()  # nobody is waited for
    assert time.monotonic() - began < 5
    for subscriber in subscribers:
        subscriber.rest()
        subscriber.close()


def refused(server, subscribers):
    with server.admin() as admin:
        admin.send(admin.request("GET", "/v1/events"))
        if not admin.line().startswith(b"HTTP/1.1 200"):
            return True
    return False


# ---- while others drain ----

def test_it_ends_last(serve):
    """What a drain does can be watched."""
    server = serve(SETTINGS, admin=True)
    with server.http() as http, server.admin() as admin:
        request = http.request("POST", "/v1/check", {"rule": "login", "key": "late"})
        http.send(request[:-5])
        time.sleep(0.1)
        server.signal(15)
        within(PATIENCE_S, lambda: "draining" in server.log())
        time.sleep(0.3)  # past the grace that connections are given
        with server.admin() as fresh:
            assert fresh.get("/v1/status").json["stage"] == "draining"
        http.send(request[-5:])
        assert http.response().status == 200
        assert server.wait() == 0


# ---- the log ----

def test_decisions_are_logged_where_that_is_asked_for(serve, key):
    server = serve({**SETTINGS, "log": {"format": "json", "decisions": "denied"}})
    with server.http() as http:
        for _ in range(5):
            http.check("day", key)
        for _ in range(5):
            http.get("/auth/user", headers=["X-User: Bearer abcdefghijklmnop"])
    server.stop()
    lines = [json.loads(line) for line in server.log().splitlines()]
    decisions = [line for line in lines if line["msg"] == "decision"]
    assert [(d["rule"], d["decision"], d["door"], d["remaining"]) for d in decisions] == [
        ("day", "denied", "http", "0")] * 2 + [("user", "denied", "http", "0")] * 2
    assert decisions[0]["key"] == key and re.fullmatch(r"Bear…[0-9a-f]{8}", decisions[2]["key"])
    assert "abcdef" not in server.log()

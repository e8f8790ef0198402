"""What a reload takes from those at the admin door, and what it must not give them."""

import signal
import time

import pytest

TOKEN = "a token that nobody guesses"


def reload(server, **settings):
    server.settings.update(settings)
    server.write_config()
    server.signal(signal.SIGHUP)
    deadline = time.monotonic() + 10
    while "cause=SIGHUP" not in server.log():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.1)  # the desk takes the terms in force at its next turn


def rule(**members):
    return {"name": "api", "limit": 0, "per": "1m", **members}


@pytest.mark.parametrize("before, parts", [({"key": ["header:X-Key", "path"]}, "ip"),
                                           ({"key": ["header:X-Key", "path"]}, ["ip", "header:X-Key"]),
                                           ({"key": "query:key", "secret": True}, "ip")])
def test_a_key_that_was_a_secret_stays_one_when_its_rule_is_given_other_parts(serve, before, parts):
    server = serve({"rules": [rule(**before)]}, admin=True)
    with server.http() as http, server.admin() as admin:
        assert http.exchange("GET", "/auth?key=0123456789abcdef", headers=["X-Key: 0123456789abcdef"]).status == 429
        reload(server, rules=[rule(key=parts)])
        (top,) = admin.get("/v1/top").json["keys"]
        assert top["masked"] and "56789" not in top["key"]


@pytest.mark.parametrize("before, key, parts", [("header:X-Key", "0123456789abcdef", "ip"),
                                                (["ip", "header:X-Key"], "192.0.2.1:0123456789abcdef", ["header:X-Key", "ip"])])
def test_the_key_of_an_override_stays_the_secret_that_it_was(serve, before, key, parts):
    server = serve({"rules": [rule(key=before)], "snapshot": {"path": "laju.snapshot"}}, admin=True)
    with server.admin() as admin:
        assert admin.exchange("PUT", f"/v1/keys?rule=api&key={key}", {"limit": 1, "expires_in": "1h"}).status == 200
        reload(server, rules=[rule(key=parts)])
        (told,) = admin.get("/v1/overrides").json["overrides"]
        assert told["masked"] and "56789" not in told["key"]
    server.stop()
    server.start()
    with server.admin() as admin:
        (again,) = admin.get("/v1/overrides").json["overrides"]
        assert again["masked"] and again["key"][:-8] == told["key"][:-8]  # the digits are another process's


@pytest.mark.parametrize("algorithm", ["fixed-window", "sliding-window-counter", "sliding-window-log"])
def test_an_override_outlives_its_rule_s_algorithm(serve, algorithm):
    server = serve({"rules": [rule(limit=10, algorithm="token-bucket", burst=10)]}, admin=True)
    with server.http() as http, server.admin() as admin:
        body = b'{"limit":20,"burst":100,"expires_in":"1h"}'
        assert admin.exchange("PUT", "/v1/keys?rule=api&key=k", body).status == 200
        reload(server, rules=[rule(limit=10, algorithm=algorithm)])
        key = admin.get("/v1/keys?rule=api&key=k").json
        assert (key["limit"], key["remaining"]) == (20, 20)
        assert http.check("api", "k", 21).json["retry_after_ms"] is None
        assert http.check("api", "k", 20).status == 200


def test_an_override_decides_at_every_door(serve):
    server = serve({"rules": [rule(limit=1, key="ip")]}, admin=True)
    with server.http() as http, server.resp() as resp, server.admin() as admin:
        body = b'{"limit":3,"expires_in":"1h"}'
        assert admin.exchange("PUT", "/v1/keys?rule=api&key=127.0.0.1", body).status == 200
        assert http.check("api", "127.0.0.1").json["remaining"] == 2
        assert resp.call("LAJU.CHECK", "api", "127.0.0.1")[2] == 1
        assert http.get("/auth").header("X-RateLimit-Remaining") == "0"
        assert http.get("/auth").status == 429


def subscribe(server, *headers):
    events = server.admin()
    events.send(events.request("GET", "/v1/events", headers=headers))
    assert events.line() == b"HTTP/1.1 200 OK"
    return events


def test_a_subscriber_s_stream_ends_with_what_let_it_in(serve):
    server = serve({"admin": {"token": TOKEN}}, admin=True)
    bearer = f"Authorization: Bearer {TOKEN}"
    with server.admin() as admin:
        cookies = []
        for _ in range(2):
            answer = admin.exchange("POST", "/v1/session", b"", headers=[bearer])
            cookies.append("Cookie: " + answer.header("Set-Cookie").split(";")[0])
        by_token, left, stays = subscribe(server, bearer), subscribe(server, cookies[0]), subscribe(server, cookies[1])
        site = "Sec-Fetch-Site: same-origin"
        assert admin.exchange("DELETE", "/v1/session", headers=[cookies[0], site]).json == {"known": True}
        left.rest()  # comes to its end
        for events in (by_token, stays):
            events.unread = b""
            events.fill()
            assert b"data: " in events.unread
        reload(server, admin={"token": "another"})
        by_token.rest()
        stays.rest()
        for events in (by_token, left, stays):
            events.close()

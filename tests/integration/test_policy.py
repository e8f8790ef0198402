"""Rules as a file says them, over both doors: overrides, exemptions, shadows, and what forward-auth makes of match and key."""

import itertools

import pytest

from server import Server, run_laju

LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit-Policy", "RateLimit"]


def day(name, limit, **members):
    """A bucket that does not refill while a test runs."""
    return {"name": name, "algorithm": "token-bucket", "limit": limit, "per": "1d", "match": "none", **members}


RULES = [
    day("tiers", 2, overrides=[
        {"key": "team-*", "limit": 5},
        {"key": "team-1*", "limit": 7},
        {"key": "team-12", "limit": 9},
        {"key": "slow-*", "limit": 2, "per": "2d"},
        {"key": "dear", "limit": 10, "cost": 4},
        {"key": "banned", "limit": 0},
    ]),
    day("open", 2, exempt=["key:health", "key:probe-*"]),
    day("enforced", 3),
    day("watched", 1, shadow=True),
    day("watched-wide", 100, shadow=True),
    day("by-user", 3, match={"host": "*.example.com", "path": "/by-user/*", "method": ["GET", "POST"]},
        key=["header:X-User", "path"], overrides=[{"key": "gold:*", "limit": 6}], exempt=["key:root:*"]),
    day("by-address", 1, match={"path": "/by-address"}, exempt=["203.0.113.0/24"]),
    day("strict", 5, match={"path": "/strict"}, key="cookie:session", missing="deny"),
    day("lenient", 5, match={"path": "/lenient"}, key="query:token", missing="skip"),
    day("crowd", 2, match={"path": "/crowd"}, key="header:X-User", missing="shared"),
    day("secret", 2, match={"path": "/secret"}, key="header:Authorization", secret=True),
    day("silent", 1, match={"path": "/silent"}, key="header:X-User", shadow=True),
    day("loud", 3, match={"path": "/silent"}, key="header:X-User"),
]
SETTINGS = {"rules": RULES, "resp_admin": True, "memory": "64MiB"}
numbers = itertools.count()


@pytest.fixture(scope="module")
def policies():
    with Server(SETTINGS) as server:
        yield server


@pytest.fixture
def http(policies):
    with policies.http() as client:
        yield client


@pytest.fixture(params=[2, 3])
def resp(policies, request):
    with policies.resp(protocol=request.param) as client:
        yield client


@pytest.fixture
def user():
    """One that no other test has used."""
    return f"user-{next(numbers)}"


def auth(http, path, host="api.example.com", **headers):
    lines = [f"X-Forwarded-Uri: {path}", f"X-Forwarded-Host: {host}"]
    return http.get("/auth", headers=lines + [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()])


# ---- overrides ----


def test_the_named_key_comes_first_and_then_the_first_pattern(http):
    limits = {key: http.check("tiers", key, 0).json["limit"] for key in ["anyone", "team-2", "team-11", "team-12", "team-"]}
    assert limits == {"anyone": 2, "team-2": 5, "team-11": 5, "team-12": 9, "team-": 5}


def test_an_override_is_what_limits(http, user):
    key = f"team-{user}"
    assert [http.check("tiers", key).status for _ in range(6)] == [200] * 5 + [429]
    assert http.check("tiers", "banned").status == 429


def test_the_doors_agree_on_overrides(http, resp, user):
    key = f"team-{user}"
    assert http.check("tiers", key).json["remaining"] == 4
    assert resp.call("LAJU.CHECK", "tiers", key)[1:3] == [5, 3]
    assert resp.call("LAJU.MCHECK", "tiers", 1, key, user) == [2, 1]
    assert resp.call("LAJU.ALL", "tiers", key, 1, "tiers", user, 1)[1:4] == [1, 5, 1]
    answers = http.post("/v1/batch", [{"rule": "tiers", "key": key}, {"rule": "tiers", "key": user}]).json
    assert [answer["allowed"] for answer in answers] == [True, False]


def test_a_check_that_says_no_cost_has_the_overrides(http, resp):
    assert http.post("/v1/check", {"rule": "tiers", "key": "dear"}).json["remaining"] == 6
    assert resp.call("LAJU.CHECK", "tiers", "dear")[2] == 2
    assert resp.call("LAJU.CHECK", "tiers", "dear", 1)[2] == 1
    assert resp.call("LAJU.RESET", "tiers", "dear") == 1


def test_reset_forgets_the_state_of_the_overrides_own_period(resp, user):
    key = f"slow-{user}"
    assert resp.call("LAJU.CHECK", "tiers", key)[2] == 1
    assert resp.call("LAJU.RESET", "tiers", key) == 1
    assert resp.call("LAJU.PEEK", "tiers", key)[2] == 2


# ---- exempt ----


def test_an_exempt_key_is_answered_and_never_charged(http, resp, user):
    for key in ("health", "probe-7"):
        for _ in range(5):
            assert resp.call("LAJU.CHECK", "open", key)[:4] == [1, 2, 2, 0]
            response = http.check("open", key, 2)
            assert response.status == 200 and response.json["remaining"] == 2
            assert response.header("X-RateLimit-Remaining") == "2"
    assert [http.check("open", f"health-{user}").status for _ in range(3)] == [200, 200, 429]


def test_an_exempt_address_is_never_charged(http):
    """The address is the proxy's word: this test is the proxy."""
    for _ in range(5):
        assert auth(http, "/by-address", X_Forwarded_For="203.0.113.9").status == 200
    assert [auth(http, "/by-address", X_Forwarded_For="198.51.100.9").status for _ in range(2)] == [200, 429]


# ---- shadow ----


def test_a_shadow_refuses_nothing_and_says_what_it_would(http, user):
    first, second = http.check("watched", user), http.check("watched", user)
    assert first.status == second.status == 200
    assert (first.json["allowed"], first.json["shadow"]) == (True, "allowed")
    assert (second.json["allowed"], second.json["shadow"], second.json["retry_after_ms"]) == (True, "denied", 0)
    assert not any(second.header(name) for name in LIMIT_HEADERS)


def test_a_shadow_over_resp_is_allowed(resp, user):
    assert [resp.call("LAJU.CHECK", "watched", user)[:4] for _ in range(2)] == [[1, 1, 0, 0]] * 2
    assert resp.call("LAJU.MCHECK", "watched", 1, user) == [0]


def test_a_shadow_holds_no_other_rule_back_and_is_charged_by_itself(http, user):
    request = {"checks": [{"rule": rule, "key": user} for rule in ("watched", "enforced", "watched-wide")]}
    statuses = [http.post("/v1/check", request).status for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert http.peek("enforced", user) == 0
    assert http.peek("watched", user) == 0
    assert http.peek("watched-wide", user) == 95  # refused requests too: it is decided by itself


def test_only_the_enforced_rule_is_shown(http, user):
    response = auth(http, "/silent", X_User=user)
    assert response.header("RateLimit-Policy").startswith('"loud"')
    assert [auth(http, "/silent", X_User=user).status for _ in range(3)] == [200, 200, 429]
    assert http.peek("silent", user) == 0


# ---- match and key, as forward-auth uses them ----


def test_a_rule_is_for_what_it_matches_alone(http, user):
    assert auth(http, "/by-user/a", X_User=user).header("X-RateLimit-Limit") == "3"
    for path, host in [("/by-user", "api.example.com"), ("/by-user/a", "example.com"), ("/other", "api.example.com")]:
        response = auth(http, path, host, X_User=user)
        assert response.status == 200 and response.header("X-RateLimit-Limit") is None
    assert auth(http, "/by-user/a", "API.Example.Com:443", X_User=user).header("X-RateLimit-Remaining") == "1"
    assert auth(http, "/by-user/a", X_User=user, X_Forwarded_Method="DELETE").header("X-RateLimit-Limit") is None


def test_several_parts_make_one_key(http, user):
    assert [auth(http, "/by-user/a", X_User=user).status for _ in range(4)] == [200, 200, 200, 429]
    assert auth(http, "/by-user/b", X_User=user).status == 200
    assert http.peek("by-user", f"{user}:/by-user/a") == 0
    assert http.peek("by-user", f"{user}:/by-user/b") == 2


def test_overrides_and_exemptions_hold_for_keys_that_are_made(http, user):
    assert auth(http, f"/by-user/{user}", X_User="gold").header("X-RateLimit-Limit") == "6"
    for _ in range(8):
        assert auth(http, f"/by-user/{user}", X_User="root").status == 200


def test_who_lacks_a_part_is_refused_passed_or_counted_together(http, user):
    assert auth(http, "/strict").status == 403
    assert auth(http, "/strict", Cookie=f"a=b; session={user}").status == 200
    assert auth(http, "/lenient").header("X-RateLimit-Limit") is None
    assert auth(http, f"/lenient?token={user}").header("X-RateLimit-Limit") == "5"
    shared = [auth(http, "/crowd", X_Forwarded_For=f"198.51.100.{i}").status for i in range(3)]
    assert shared == [200, 200, 429]
    assert auth(http, "/crowd", X_User=user).status == 200


def test_a_secret_is_not_stored(http, user, policies):
    assert auth(http, "/secret", Authorization=f"Bearer {user}").header("X-RateLimit-Remaining") == "1"
    assert http.peek("secret", f"Bearer {user}") == 2  # the key is another one


# ---- headers ----


@pytest.mark.parametrize("headers, shown", [
    ({"x_ratelimit": False}, LIMIT_HEADERS[3:]),
    ({"ratelimit": False}, LIMIT_HEADERS[:3]),
    ({"x_ratelimit": False, "ratelimit": False}, []),
])
def test_headers_are_shown_as_asked(serve, headers, shown):
    laju = serve({"rules": [day("a", 5)], "headers": headers})
    response = laju.check("a", "k")
    assert [name for name in LIMIT_HEADERS if response.header(name)] == shown


def test_a_reset_may_be_a_delta(serve):
    laju = serve({"rules": [{"name": "a", "algorithm": "token-bucket", "limit": 1, "per": "1h"}], "headers": {"reset": "delta"}})
    assert 3590 <= int(laju.check("a", "k").header("X-RateLimit-Reset")) <= 3600


# ---- the file ----


def test_config_check_says_what_can_never_happen(tmp_path):
    path = tmp_path / "laju.yaml"
    path.write_text("rules:\n- {name: a, limit: 1, per: 1s, overrides: [{key: 'a*', limit: 1}, {key: 'ab*', limit: 2}]}\n")
    done = run_laju("config", "check", path)
    assert done.returncode == 0
    assert "rules[0] (a): overrides[1].key: \"ab*\" is never reached: overrides[0] (\"a*\") comes first" in done.stderr
    assert done.stdout == f"{path}: good: 1 rule, 1 warning\n"


def test_ten_thousand_overrides_start_and_answer(serve):
    overrides = [{"key": f"user-{i}" if i % 2 else f"team-{i}-*", "limit": i} for i in range(10_000)]
    laju = serve({"rules": [day("a", 1, overrides=overrides)]})
    with laju.http() as http:
        assert http.check("a", "user-9999", 0).json["limit"] == 9999
        assert http.check("a", "team-9998-x", 0).json["limit"] == 9998
        assert http.check("a", "nobody", 0).json["limit"] == 1

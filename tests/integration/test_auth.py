"""Forward-auth over real connections: docs/protocols.md, "Forward-auth", taken at its word.

What laju made of a request is seen by the key that it charged: `derive` below is the manual's rule for keys, written again.
"""

import base64
import hashlib
import random
import signal
import threading
import time

import pytest

from server import PATIENCE_S, Server, descriptors, memory_kib, settled_descriptors
from test_reload import DONE, Told, put
from wire import RespError

MIB = 1024


def day(name, limit=5, **members):
    """A bucket into which no token comes back while a test runs."""
    return {"name": name, "algorithm": "token-bucket", "limit": limit, "per": "1d", **members}


def queue(name, limit, burst, **members):
    """A leaky bucket whose delays are waited out."""
    return {"name": name, "algorithm": "leaky-bucket", "limit": limit, "per": "1s", "burst": burst, "wait": "server",
            **members}


PARTS = ["method", "path", "host", "ip"]
CRAFTED = ["header:X-A", "header:X-B", "header:X-C"]
RULES = [
    day("seen", 100, match={"path": "/seen/*"}, key=PARTS),
    day("named", 3, match="none", key="header:X-User"),
    day("too", 5, match="none", key="header:X-User"),
    day("crafted", 100, match={"path": "/crafted"}, key=CRAFTED),
    day("single", 100, match={"path": "/single"}, key="header:X-A"),
    day("shared", 100, match={"path": "/shared"}, key=CRAFTED, missing="shared"),
    day("deny", 100, match={"path": "/deny"}, key=["header:X-User", "cookie:id"], missing="deny"),
    day("beside", 100, match={"path": "/deny"}, key="header:X-Beside"),
    day("skip", 100, match={"path": "/skip"}, key="query:user", missing="skip"),
    day("cookie", 100, match={"path": "/cookie"}, key="cookie:id", missing="skip"),
    day("query", 100, match={"path": "/query"}, key="query:user", missing="skip"),
    day("secret", 100, match={"path": "/secret"}, key=["header:X-User"], secret=True),
    day("wide", 10, match={"path": "/all/*"}, key="header:X-User"),
    day("narrow", 3, match={"path": "/all/n*"}, key="header:X-User"),
    day("watching", 1, match={"path": "/all/*"}, key="header:X-User", shadow=True),
    day("free", 1, match={"path": "/exempt"}, key="ip", exempt=["10.9.0.0/16", "key:198.51.100.7"]),
    queue("even", 10, 20, match={"path": "/even"}, key="header:X-User"),
    queue("slow", 1_000_000, 60_000_000, match={"path": "/slow"}, key="header:X-User"),
    queue("watched-queue", 1, 60, match={"path": "/watched"}, key="header:X-User", shadow=True),
    queue("full", 1, 1, per="1m", match={"path": "/full"}, key="header:X-User"),
    *(day(f"sixteen-{i}", 100, match={"path": "/sixteen"}, key="header:X-User") for i in range(16)),
    *(day(f"seventeen-{i}", 100, match={"path": "/seventeen"}, key="header:X-User") for i in range(17)),
]
SETTINGS = {"rules": RULES, "memory": "64MiB", "resp_admin": True,
            "trusted_proxies": ["127.0.0.0/8", "::1", "unix:", "10.0.0.0/8"]}


@pytest.fixture(scope="module")
def front():
    with Server(SETTINGS) as server:
        yield server


@pytest.fixture(scope="module")
def wary():
    """Who trusts nobody."""
    with Server({**SETTINGS, "trusted_proxies": []}) as server:
        yield server


@pytest.fixture
def door(front):
    with front.http() as http:
        yield http


@pytest.fixture
def eye(front):
    with front.resp() as resp:
        yield resp


def call(target, *lines, method="GET", host="localhost", version="1.1"):
    """A request with just these header lines."""
    head = [f"{method} {target} HTTP/{version}", *([f"Host: {host}"] if host is not None else []), *lines]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n"


def ask(http, target, *lines, **options):
    http.send(call(target, *lines, **options))
    return http.response(head_only=options.get("method") == "HEAD")


def user(name, path):
    return f"X-User: {name}", f"X-Original-URI: {path}"


def used(resp, rule, key):
    answer = resp.call("LAJU.PEEK", rule, key)
    assert not isinstance(answer, RespError), answer
    return answer[1] - answer[2]


def escape(value):
    return value.replace(b"%", b"%25").replace(b":", b"%3A")


def derive(parts, marks=()):
    """The key of a rule with several parts; `marks` are those of parts that are missing, by their place."""
    key = b":".join(dict(marks).get(i) or escape(part) for i, part in enumerate(parts))
    return key if len(key) <= 1024 else hashed(key)


def hashed(key):
    return b"%sha256=" + base64.urlsafe_b64encode(hashlib.sha256(key).digest()).rstrip(b"=")


# ---- which request ----

# What is sent, and what is seen: (target, header lines, method, host), (method, path, host, ip). @ stands for a path of the case's own.
CASES = {
    "the call itself, behind /auth": (("/auth@", [], "GET", "shop.example"), ("GET", "@", "shop.example", "127.0.0.1")),
    "nginx": (("/auth", ["X-Original-URI: @", "X-Original-Method: POST", "X-Forwarded-Host: a.example",
                         "X-Forwarded-For: 203.0.113.5"], "GET", "laju"), ("POST", "@", "a.example", "203.0.113.5")),
    "Traefik and Caddy": (("/auth", ["X-Forwarded-Uri: @?a=b", "X-Forwarded-Method: PUT", "X-Forwarded-Host: a.example:8443",
                                     "X-Forwarded-For: 203.0.113.5", "X-Forwarded-Proto: https"], "GET", "laju"),
                          ("PUT", "@", "a.example", "203.0.113.5")),
    "Envoy": (("/auth@?x=/other", ["X-Forwarded-For: 203.0.113.5"], "DELETE", "A.Example.:10000"),
              ("DELETE", "@", "a.example", "203.0.113.5")),
    "a whole URL": (("/auth", ["X-Original-URL: https://A.example:443@#x"], "GET", "laju"), ("GET", "@", "a.example", "127.0.0.1")),
    "a target that is a whole URL": (("http://laju/auth@", [], "GET", "a.example"), ("GET", "@", "a.example", "127.0.0.1")),
    "a method of nobody's": (("/auth@", ["X-Original-Method: BREW"], "GET", "a"), ("BREW", "@", "a", "127.0.0.1")),
    "methods are as they are written": (("/auth@", ["X-Original-Method: get"], "GET", "a"), ("get", "@", "a", "127.0.0.1")),
    "the right-most host": (("/auth@", ["X-Forwarded-Host: evil, a.example"], "GET", "b"), ("GET", "@", "a.example", "127.0.0.1")),
    "the last line's host": (("/auth@", ["X-Forwarded-Host: evil", "X-Forwarded-Host: a.example"], "GET", "b"),
                             ("GET", "@", "a.example", "127.0.0.1")),
    "a host in brackets": (("/auth@", [], "GET", "[2001:DB8::1]:80"), ("GET", "@", "2001:db8::1", "127.0.0.1")),
    "empty fields": (("/auth@", ["X-Original-URI:", "X-Forwarded-Method: ", "X-Forwarded-Host:", "X-Forwarded-For:  ",
                                 "X-Real-IP: 203.0.113.5"], "GET", "a"), ("GET", "@", "a", "203.0.113.5")),
    "names in any case": (("/auth", ["x-ORIGINAL-uri: @", "x-forwarded-FOR: 203.0.113.5"], "GET", "a"),
                          ("GET", "@", "a", "203.0.113.5")),
    "the list from the right": (("/auth@", ["X-Forwarded-For: 198.51.100.1, 203.0.113.5"], "GET", "a"),
                                ("GET", "@", "a", "203.0.113.5")),
    "past trusted hops": (("/auth@", ["X-Forwarded-For: 198.51.100.1, 203.0.113.5, 10.1.1.1, 127.0.0.9"], "GET", "a"),
                          ("GET", "@", "a", "203.0.113.5")),
    "several lines are one list": (("/auth@", ["X-Forwarded-For: 203.0.113.5", "X-Forwarded-For: 10.1.1.1"], "GET", "a"),
                                   ("GET", "@", "a", "203.0.113.5")),
    "all trusted": (("/auth@", ["X-Forwarded-For: 10.2.2.2, 10.1.1.1"], "GET", "a"), ("GET", "@", "a", "10.2.2.2")),
    "garbage in the list": (("/auth@", ["X-Forwarded-For: 203.0.113.5, unknown, 10.1.1.1"], "GET", "a"), ("GET", "@", "a", "10.1.1.1")),
    "garbage at its end": (("/auth@", ["X-Forwarded-For: 203.0.113.5, x"], "GET", "a"), ("GET", "@", "a", "127.0.0.1")),
    "garbage, and another way": (("/auth@", ["X-Forwarded-For: x", "X-Real-IP: 203.0.113.5"], "GET", "a"),
                                 ("GET", "@", "a", "127.0.0.1")),
    "ports": (("/auth@", ["X-Forwarded-For: 203.0.113.5:4711"], "GET", "a"), ("GET", "@", "a", "203.0.113.5")),
    "the list before Forwarded and X-Real-IP": (
        ("/auth@", ["X-Real-IP: 198.51.100.1", "Forwarded: for=198.51.100.2", "X-Forwarded-For: 203.0.113.5"], "GET", "a"),
        ("GET", "@", "a", "203.0.113.5")),
    "Forwarded before X-Real-IP": (("/auth@", ["X-Real-IP: 198.51.100.1", "Forwarded: for=203.0.113.5;proto=http"], "GET", "a"),
                                   ("GET", "@", "a", "203.0.113.5")),
    "Forwarded from the right": (("/auth@", ['Forwarded: for=198.51.100.1, for="203.0.113.5:80", For=10.1.1.1'], "GET", "a"),
                                 ("GET", "@", "a", "203.0.113.5")),
    "Forwarded with an open quote": (("/auth@", ['Forwarded: for="198.51.100.1, for=203.0.113.5'], "GET", "a"),
                                     ("GET", "@", "a", "203.0.113.5")),
    "X-Real-IP": (("/auth@", ["X-Real-IP: 203.0.113.5"], "GET", "a"), ("GET", "@", "a", "203.0.113.5")),
    "IPv6 by its network": (("/auth@", ['Forwarded: for="[2001:DB8:1:2:3::4]:80"'], "GET", "a"),
                            ("GET", "@", "a", "2001:db8:1:2::/64")),
    "IPv4 in IPv6": (("/auth@", ["X-Forwarded-For: ::ffff:203.0.113.5"], "GET", "a"), ("GET", "@", "a", "203.0.113.5")),
    "HTTP/1.0 without a host": (("/auth@", [], "GET", None), ("GET", "@", "%", "127.0.0.1")),
}
numbers = iter(range(1_000_000))


def of_case(case):
    """Its request, its path and its expected parts."""
    (target, lines, method, host), expected = case
    path = f"/seen/{next(numbers)}"
    request = call(target.replace("@", path), *(line.replace("@", path) for line in lines), method=method, host=host,
                   version="1.1" if host is not None else "1.0")
    return request, path, tuple(path if part == "@" else part for part in expected)


def key_seen(expected):
    marks = {i: b"%ip=127.0.0.1" for i, part in enumerate(expected) if part == "%"}
    return derive([part.encode() for part in expected], marks.items())


@pytest.mark.parametrize("name", CASES)
def test_a_trusted_peer_tells_the_original_request(front, eye, name):
    request, _, expected = of_case(CASES[name])
    with front.http() as http:
        http.send(request)
        assert http.response().status == 200
    assert used(eye, "seen", key_seen(expected)) == 1, expected


@pytest.mark.parametrize("name", [n for n in CASES if CASES[n][0][3] is not None])
def test_nothing_that_a_stranger_says_counts(wary, name):
    """The same requests: all that is known is the call's own method, host and path, and who it comes from."""
    (target, lines, method, host), _ = CASES[name]
    request, path, _ = of_case(((target, lines, method, host), ()))
    with wary.http() as http, wary.resp() as resp:
        http.send(request)
        response = http.response()
        assert response.status == 200
        own = "@" in target
        assert (response.header("X-RateLimit-Limit") is not None) == own  # plain /auth is about "/", which no rule is for
        if own:
            bare = {"A.Example.:10000": "a.example", "[2001:DB8::1]:80": "2001:db8::1"}.get(host, host)
            assert used(resp, "seen", key_seen((method, path, bare, "127.0.0.1"))) == 1


def test_a_strangers_forwarding_fields_are_counted(wary):
    def count():
        with wary.resp() as resp:
            text = resp.call("INFO").decode()
        return int(dict(line.split(":", 1) for line in text.splitlines() if ":" in line)["untrusted_forwards"])

    before = count()
    with wary.http() as http:
        ask(http, "/auth", "X-Forwarded-For: 203.0.113.5")
        ask(http, "/auth", "X-Real-IP: 203.0.113.5", "X-Original-URI: /x")
        ask(http, "/auth")
        ask(http, "/auth", "X-Other: 1")
    assert count() - before == 2


def test_a_request_that_is_told_in_two_ways_is_refused(door, eye):
    for lines, field in (
            (("X-Original-URI: /seen/a", "X-Forwarded-Uri: /free"), "target"),
            (("X-Original-URI: /free", "X-Original-URL: http://localhost/seen/a"), "target"),
            (("X-Original-URI: /seen/a", "X-Original-URI: /seen/b"), "target"),
            (("X-Original-URI: /seen/a", "X-Original-Method: GET", "X-Forwarded-Method: POST"), "method"),
            (("X-Original-URL: http://a.example/seen/a", "X-Forwarded-Host: b.example"), "host")):
        response = ask(door, "/auth", *lines)
        assert response.status == 403 and response.json["field"] == field, (lines, response)
    response = ask(door, "/auth/seen/a", "X-Original-URI: /free")
    assert response.status == 403
    assert ask(door, "/auth/seen/told-twice", "X-Original-URI: /seen/told-twice").status == 200
    assert used(eye, "seen", key_seen(("GET", "/seen/a", "localhost", "127.0.0.1"))) == 0


SPELLINGS = ["/seen/%70", "//seen/%70", "/seen//%70", "/x/../seen/%70", "/seen/./%70", "/seen/%2e/%70", "/%73een/%70", "/seen%2F%70",
             "/./seen/%70", "/../../seen/%70", "/seen/x/%2e%2e/%70", "/seen/x/..%2f%70", "/seen/%70?x=/free", "/seen/%70#/free",
             "/seen/%70?/../../free", "/seen/;/../%70", "/x/%2e%2e%2fseen/%70", "/%2Fseen/%70", "/seen/%2f%2f%70"]


def test_no_spelling_of_a_path_is_another_path(door, eye, key):
    expected = key_seen(("GET", "/seen/" + key, "localhost", "127.0.0.1"))
    count = 0
    for spelling in SPELLINGS:
        target = spelling.replace("%70", key)
        assert ask(door, "/auth", f"X-Original-URI: {target}").status == 200
        count += 1
        assert used(eye, "seen", expected) == count, target
        if "#" not in target:  # no target has one
            assert ask(door, "/auth" + target).status == 200
            count += 1
            assert used(eye, "seen", expected) == count, "/auth" + target


def test_the_client_of_a_unix_socket(serve):
    def keys_of(trusted):
        server = serve({**SETTINGS, "trusted_proxies": trusted}, unix=True)
        with server.http() as http, server.resp() as resp:
            ask(http, "/auth/seen/a", "X-Forwarded-For: 203.0.113.5")
            ask(http, "/auth/seen/b")
            ask(http, "/auth/seen/c", "X-Forwarded-For: unknown")
            return [ip for path in "abc" for ip in ("203.0.113.5", "unix")
                    if used(resp, "seen", key_seen(("GET", "/seen/" + path, "localhost", ip)))]

    assert keys_of(["unix:"]) == ["203.0.113.5", "unix", "unix"]
    assert keys_of(["127.0.0.0/8"]) == ["unix", "unix", "unix"]


# ---- parameters ----


def test_a_refusal_has_the_status_that_was_asked_for(door, key):
    lines = user(key, "/x")
    for _ in range(3):
        assert ask(door, "/auth?rule=named", *lines).status == 200
    for deny in (401, 403, 429, 503):
        response = ask(door, f"/auth?rule=named&deny={deny}", *lines)
        assert response.status == deny
        assert response.json["allowed"] is False and response.json["rule"] == "named"
        assert response.header("X-RateLimit-Remaining") == "0" and int(response.header("Retry-After")) >= 1
    assert ask(door, "/auth?rule=named", *lines).status == 429
    assert ask(door, "/auth?other=1&rule=named", *lines).status == 429  # others are passed over


@pytest.mark.parametrize("query", ["deny=200", "deny=404", "deny=", "deny", "deny=4033", "deny=403&deny=403", "deny=-403",
                                   "deny=500", "rule=nobody", "rule=", "rule",
                                   "&".join(f"rule=seventeen-{i}" for i in range(17))])
def test_a_parameter_that_cannot_be_is_an_error(door, eye, key, query):
    response = ask(door, "/auth?rule=named&" + query, *user(key, "/x"))
    assert response.status == 400 and response.header("Content-Type") == "application/problem+json"
    assert response.json["field"] in ("deny", "rule")
    assert used(eye, "named", key) == 0


def test_named_rules_are_asked_and_no_others(door, eye, key):
    assert ask(door, "/auth?rule=named&rule=too&rule=named", *user(key, "/all/n")).status == 200
    assert [used(eye, rule, key) for rule in ("named", "too", "wide", "narrow")] == [1, 1, 0, 0]
    assert ask(door, "/auth?" + "&".join(f"rule=sixteen-{i}" for i in range(16)), *user(key, "/x")).status == 200
    assert used(eye, "sixteen-15", key) == 1


def test_behind_auth_the_query_is_the_clients(door, eye, key):
    """Or a client would name the rules that limit it."""
    assert ask(door, "/auth/all/n?rule=too&deny=200", *user(key, "/all/n?rule=too&deny=200")).status == 200
    assert [used(eye, rule, key) for rule in ("too", "wide", "narrow")] == [0, 1, 1]
    assert ask(door, "/auth", *user(key, "/all/n?rule=too&deny=503")).status == 200
    assert [used(eye, rule, key) for rule in ("too", "wide", "narrow")] == [0, 2, 2]


def test_paths_beside_auth_are_none(door):
    for target in ("/authx", "/auth%2fx", "/Auth", "//auth", "/auth.", "/auth;x"):
        assert ask(door, target).status == 404, target


# ---- several rules ----


def test_all_that_match_are_charged_or_none_and_the_tightest_is_told(door, eye, key):
    for n in (1, 2, 3):
        response = ask(door, "/auth", *user(key, "/all/n"))
        assert response.status == 200
        assert response.header("X-RateLimit-Limit") == "3" and response.header("X-RateLimit-Remaining") == str(3 - n)
        assert response.header("RateLimit-Policy") == '"wide";q=10;w=86400, "narrow";q=3;w=86400'
        assert [part.split(";t=")[0] for part in response.header("RateLimit").split(", ")] == [f'"wide";r={10 - n}',
                                                                                            f'"narrow";r={3 - n}']
    for _ in range(5):
        response = ask(door, "/auth", *user(key, "/all/n"))
        assert response.status == 429 and response.json["rule"] == "narrow"
        assert response.header("X-RateLimit-Limit") == "3" and response.header("X-RateLimit-Remaining") == "0"
    assert [used(eye, rule, key) for rule in ("wide", "narrow", "watching")] == [3, 3, 1]
    response = ask(door, "/auth", *user(key, "/all/w"))
    assert response.status == 200 and response.header("X-RateLimit-Remaining") == "6"


def test_sixteen_rules_are_decided_as_one_and_seventeen_are_an_error(door, eye, key):
    response = ask(door, "/auth", *user(key, "/sixteen"))
    assert response.status == 200 and response.header("RateLimit").count("sixteen-") == 16
    assert [used(eye, f"sixteen-{i}", key) for i in range(16)] == [1] * 16
    response = ask(door, "/auth", *user(key, "/seventeen"))
    assert response.status == 500 and "16" in response.json["detail"]
    assert [used(eye, f"seventeen-{i}", key) for i in range(17)] == [0] * 17
    assert ask(door, "/auth", *user(key, "/sixteen")).status == 200  # the connection stays


def test_the_exempt_are_never_refused_and_never_charged(door, eye):
    for client in ("10.9.1.1", "198.51.100.7"):
        for _ in range(3):
            response = ask(door, "/auth", "X-Original-URI: /exempt", f"X-Forwarded-For: {client}")
            assert response.status == 200 and response.header("X-RateLimit-Remaining") == "1"
        assert used(eye, "free", client) == 0
    statuses = [ask(door, "/auth", "X-Original-URI: /exempt", "X-Forwarded-For: 10.8.1.1").status for _ in range(2)]
    assert statuses == [200, 429]


# ---- keys ----


def random_value(rng):
    """What is most likely to be mistaken for something else."""
    atoms = [b":", b"%", b"%3A", b"%25", b"%253A", b"a", b"b", b"ip=", b"%ip=127.0.0.1", b"%shared", b"%sha256=", b"=", b"/", b",",
             b"\xff", b"\xc3\xa9", b'"', b"a b"]
    return b"".join(rng.choice(atoms) for _ in range(rng.randint(1, 4))).strip()


def test_different_values_never_meet_in_one_key(front, eye):
    """Each list of values is charged to the manual's key, and no two lists have the same."""
    rng = random.Random(4)
    lists = {tuple(random_value(rng) for _ in range(3)) for _ in range(400)}
    lists |= {(b"a", b"b", b"c:d"), (b"a", b"b:c", b"d"), (b"a:b", b"c", b"d"), (b"a", b"b%3Ac", b"d"), (b"a%", b"3Ab", b"c")}
    keys = {derive(values): values for values in lists}
    assert len(keys) == len(lists)
    with front.http() as http:
        for values in lists:
            lines = b"".join(b"X-%c: %s\r\n" % (b"ABC"[i], value) for i, value in enumerate(values))
            http.send(b"GET /auth HTTP/1.1\r\nHost: a\r\nX-Original-URI: /crafted\r\n" + lines + b"\r\n")
            assert http.response().status == 200
    answers = eye.pipeline([("LAJU.PEEK", "crafted", key) for key in keys])
    wrong = [keys[key] for key, answer in zip(keys, answers) if answer[2] != 99]
    assert not wrong, wrong[:5]


def test_one_value_stands_as_it_is_and_passes_for_no_mark(door, eye):
    for value, expected in ((b"a:b%", b"a:b%"), (b"%ip=127.0.0.1", b"%25ip=127.0.0.1"), (b"%shared", b"%25shared"),
                            (hashed(b"x"), b"%25" + hashed(b"x")[1:]), (b"%%25", b"%25%25")):
        door.send(b"GET /auth HTTP/1.1\r\nHost: a\r\nX-Original-URI: /single\r\nX-A: " + value + b"\r\n\r\n")
        assert door.response().status == 200
        assert used(eye, "single", expected) == 1, value
    assert ask(door, "/auth", "X-Original-URI: /single").status == 200  # missing: ip
    assert used(eye, "single", b"%ip=127.0.0.1") == 1


def test_a_missing_part_is_marked_in_its_place(door, eye):
    for lines, expected in ((["X-A: %shared"], b"%25shared:%shared:%shared"), ([], b"%shared:%shared:%shared"),
                            (["X-B: b", "X-C:"], b"%shared:b:%shared"), (["X-A: a", "X-A:", "X-A: c"], b"a, c:%shared:%shared")):
        assert ask(door, "/auth", "X-Original-URI: /shared", *lines).status == 200
        assert used(eye, "shared", expected) == 1, lines


def test_a_missing_part_denies_before_anything_is_charged(door, eye, key):
    beside = f"X-Beside: {key}"
    for lines, field in (([], "header:X-User"), (["X-User: a"], "cookie:id"), (["X-User: a", "Cookie: id=; other=1"], "cookie:id"),
                         (["Cookie: id=5", "X-User:   "], "header:X-User")):
        response = ask(door, "/auth?deny=429", "X-Original-URI: /deny", beside, *lines)
        assert response.status == 403 and response.json["field"].lower() == field.lower(), response
        assert response.header("X-RateLimit-Limit") is None
    assert used(eye, "beside", key) == 0
    assert ask(door, "/auth", "X-Original-URI: /deny", beside, "X-User: a", "Cookie: id=5").status == 200
    assert used(eye, "beside", key) == 1 and used(eye, "deny", "a:5") == 1


def test_cookies_and_parameters(door, eye):
    for number, (lines, expected) in enumerate([
            (["Cookie: id=N1"], "N1"), (["Cookie: a=b; id=N2; id=other"], "N2"), (["Cookie: a=b", "Cookie: id=N3"], "N3"),
            (["Cookie: xid=bad; id = N4"], "N4"), (["Cookie: id=;id=N5"], "N5"), (['Cookie: id="N6"'], '"N6"'),
            (["Cookie: id=N7%20x"], "N7%20x"), (["Cookie: id=N8=y"], "N8=y")]):
        assert ask(door, "/auth", "X-Original-URI: /cookie", *lines).status == 200
        assert used(eye, "cookie", expected) == 1, lines
    for query, expected in (("user=N1", "N1"), ("a=b&user=N2&user=other", "N2"), ("user=&user=N3", "N3"), ("%75ser=N4", "N4"),
                            ("user=N5%26a%3Db+c", "N5&a=b c"), ("user=%25N6", "%25N6"), ("user=N7#user=x", "N7"),
                            ("users=bad&user=N8", "N8"), ("user=N9%zz", "N9%zz")):
        assert ask(door, "/auth", f"X-Original-URI: /query?{query}").status == 200
        assert used(eye, "query", expected) == 1, query
    for lines in ((), ("Cookie: id",), ("Cookie: ID=1",), ("Cookie: ",)):  # missing: skip
        assert ask(door, "/auth", "X-Original-URI: /cookie", *lines).header("X-RateLimit-Limit") is None


def test_a_secret_and_what_is_too_long_are_hashed(door, eye, key):
    assert ask(door, "/auth", *user(key, "/secret")).status == 200
    assert used(eye, "secret", key) == 0 and used(eye, "secret", hashed(key.encode())) == 1
    for length in (1023, 1024, 1025, 8000):
        value = "v" * length
        assert ask(door, "/auth", "X-Original-URI: /single", f"X-A: {value}").status == 200
        stored = value.encode() if length <= 1024 else hashed(value.encode())
        assert used(eye, "single", stored) == 1, length
    thirds = [b"%" * 341, b"a", b"b"]  # 1,023 bytes of it, and four more
    assert ask(door, "/auth", "X-Original-URI: /crafted", *(f"X-{n}: {v.decode()}" for n, v in zip("ABC", thirds))).status == 200
    assert derive(thirds).startswith(b"%sha256=") and used(eye, "crafted", derive(thirds)) == 1


# ---- calls and connections ----


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND", "PURGE", "REPORT"])
def test_any_method_may_ask(door, eye, key, method):
    response = ask(door, f"/auth/seen/{key}", method=method)
    assert response.status == 200 and response.body == b"" and response.header("Connection") is None
    assert used(eye, "seen", key_seen((method, f"/seen/{key}", "localhost", "127.0.0.1"))) == 1


def test_the_answer_to_head_has_no_body_when_it_refuses_either(door, key):
    for _ in range(3):
        ask(door, "/auth?rule=named", *user(key, "/"))
    response = ask(door, "/auth?rule=named", *user(key, "/"), method="HEAD")
    assert response.status == 429 and int(response.header("Content-Length")) > 0
    assert ask(door, "/auth").status == 200  # the next answer begins where this one ended


@pytest.mark.parametrize("announced", ["Content-Length: 1", "Content-Length: 5000000000", "Content-Length: 9223372036854775807",
                                       "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_an_announced_body_is_not_awaited_and_the_connection_ends(front, eye, key, announced, method):
    with front.http() as http:
        response = ask(http, "/auth?rule=named", f"X-User: {key}", announced, method=method)
        assert response.status == 200 and response.header("Connection") == "close"
        assert http.rest() == b""
    assert used(eye, "named", key) == 1


def test_a_body_is_no_request(front, eye, key):
    inner = call("/auth?rule=too", f"X-User: {key}")
    for framing, body in ((f"Content-Length: {len(inner)}", inner), ("Content-Length: 1", b"x" + inner),
                          ("Transfer-Encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner) + inner)):
        with front.http() as http:
            http.send(call("/auth?rule=named", f"X-User: {key}", framing, method="POST") + body)
            assert http.rest().count(b"HTTP/1.1 ") == 1
    assert used(eye, "named", key) == 3 and used(eye, "too", key) == 0


def test_continue_is_not_said_where_no_body_is_wanted(front, key):
    with front.http() as http:
        response = ask(http, "/auth?rule=named", f"X-User: {key}", "Content-Length: 5", "Expect: 100-continue", method="POST")
        assert response.status == 200 and response.header("Connection") == "close"


def test_without_a_body_the_connection_stays(door, key):
    for _ in range(3):
        response = ask(door, "/auth?rule=named", f"X-User: {key}", "Content-Length: 0", method="POST")
        assert response.status == 200 and response.header("Connection") is None
    assert ask(door, "/auth?rule=named", f"X-User: {key}", "Content-Length: 0", method="POST").status == 429


def test_pipelined_calls_are_answered_in_order(door, key):
    """Between other requests, cut at every byte."""
    check = door.request("POST", "/v1/check", {"rule": "too", "key": key})
    bytes_ = b"".join(call("/auth?rule=named", f"X-User: {key}") + check + call("/auth") for _ in range(4))
    for at in range(0, len(bytes_), 7):
        door.send(bytes_[at:at + 7])
    seen = []
    for _ in range(12):
        response = door.response()
        seen.append((response.status, response.header("X-RateLimit-Remaining")))
    assert seen == [(200, "2"), (200, "4"), (200, None), (200, "1"), (200, "3"), (200, None), (200, "0"), (200, "2"), (200, None),
                    (429, "0"), (200, "1"), (200, None)]


def test_old_clients(front, key):
    with front.http() as http:
        response = ask(http, "/auth?rule=named", f"X-User: {key}", version="1.0", host=None)
        assert response.status == 200
        assert http.rest() == b""
    with front.http() as http:
        for expected in ("1", "0"):
            response = ask(http, "/auth?rule=named", f"X-User: {key}", "Connection: keep-alive", version="1.0")
            assert response.status == 200 and response.header("X-RateLimit-Remaining") == expected


@pytest.mark.parametrize("lines", [[f"X-{i}: 1" for i in range(101)], ["X-Long: " + "x" * 16384], ["Host: b"],
                                   ["Content-Length: 5", "Content-Length: 6"], ["Content-Length: 99999999999999999999999"],
                                   ["Content-Length: 5", "Transfer-Encoding: chunked"], ["Transfer-Encoding: gzip"],
                                   ["Expect: something"], ["X-A: 1", " folded"], ["Cookie: " + "x" * 9000, "X-B: " + "y" * 9000]],
                         ids=range(10))
def test_a_clients_fields_bring_about_no_error_of_lajus_own(front, lines):
    """nginx sends them all along, and takes any status but 2xx, 401 and 403 for a reason to let the request pass."""
    with front.http() as http:
        http.send(call("/auth", "X-Original-URI: /x", *lines))
        response = http.response()
        assert response.status in (200, 403), response


# ---- waiting ----


def held_call(server, name, path="/even", *lines):
    client = server.http(timeout=60)
    client.send(call("/auth", *user(name, path), *lines))
    return client


def fill(resp, rule, key, cost):
    assert resp.call("LAJU.CHECK", rule, key, cost)[0] == 1


def wait_until(condition, what, patience_s=PATIENCE_S):
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def test_answers_leave_evenly_and_none_too_early(front, key):
    """Ten a second: the n-th of a burst waits n tenths, whoever asks first."""
    began = time.monotonic()
    clients = [held_call(front, key) for _ in range(8)]
    times = []

    def wait(client):
        assert client.response().status == 200
        times.append(time.monotonic() - began)
        client.close()

    threads = [threading.Thread(target=wait, args=(c,), daemon=True) for c in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(times) == 8
    for n, t in enumerate(sorted(times)):
        assert t >= 0.1 * n - 0.02, (n, times)  # the bucket's ticks
    assert max(times) < 10


def test_while_one_waits_others_on_its_worker_are_served(serve):
    server = serve({**SETTINGS, "workers": 1})
    with server.resp() as resp, server.http() as http:
        fill(resp, "slow", "a", 30_000_000)
        held = [held_call(server, "a", "/slow") for _ in range(20)]
        began = time.monotonic()
        for _ in range(100):
            assert ask(http, "/auth?rule=too", "X-User: b").status in (200, 429)
            assert resp.call("PING") == "PONG"
        assert time.monotonic() - began < 20
        for client in held:
            client.socket.settimeout(0.01)
            with pytest.raises(TimeoutError):
                client.fill()
            client.close()


def test_a_refusal_and_a_shadow_do_not_wait(door, eye, key):
    fill(eye, "full", key, 1)
    fill(eye, "watched-queue", key, 50)
    began = time.monotonic()
    response = ask(door, "/auth", *user(key, "/full"))
    assert response.status == 429 and response.json["rule"] == "full"
    response = ask(door, "/auth", *user(key, "/watched"))
    assert response.status == 200 and response.header("X-RateLimit-Limit") is None
    assert time.monotonic() - began < 20


def test_who_goes_away_frees_its_place_but_not_its_token(front, eye, key):
    fill(eye, "slow", key, 40_000_000)
    before, base = used(eye, "slow", key), settled_descriptors(front.process.pid)
    clients = [held_call(front, key, "/slow") for _ in range(50)]
    wait_until(lambda: descriptors(front.process.pid) == base + 50, "they are not let in")
    time.sleep(0.2)  # so that their requests are read
    for client in clients:
        client.close()
    wait_until(lambda: descriptors(front.process.pid) == base, "they are still there")
    began = time.monotonic()
    left = 60_000_000 - used(eye, "slow", key)
    assert before - used(eye, "slow", key) <= (time.monotonic() - began + 30) * 1_000_000  # what has drained since, and no more
    assert left >= 0


def test_a_held_answer_is_followed_by_what_was_sent_behind_it(front, key):
    with front.resp() as resp, front.http() as http:
        fill(resp, "even", key, 5)
        began = time.monotonic()
        http.send(call("/auth?rule=even", f"X-User: {key}") + call("/healthz") + call("/auth?rule=even", f"X-User: {key}")
                  + call("/auth?rule=too", f"X-User: {key}"))
        first, second, third, fourth = (http.response() for _ in range(4))
    assert [r.status for r in (first, second, third, fourth)] == [200] * 4
    assert b"ok" in second.body and third.header("X-RateLimit-Limit") == "20" and fourth.header("X-RateLimit-Limit") == "5"
    assert 0.35 <= time.monotonic() - began < 10


@pytest.mark.parametrize("last", ["Connection: close", "Content-Length: 12"])
def test_the_last_answer_of_a_connection_is_held_too(front, eye, key, last):
    fill(eye, "even", key, 4)
    began = time.monotonic()
    with held_call(front, key, "/even", last) as client:
        response = client.response()
        assert response.status == 200 and response.header("Connection") == "close"
        assert time.monotonic() - began >= 0.3
        assert client.rest() == b""


def end_at_once(server):
    """A signal that follows at once counts as the same one, so it is said again."""
    deadline = time.monotonic() + 8
    while server.process.poll() is None and time.monotonic() < deadline:
        server.signal(signal.SIGTERM)
        time.sleep(0.2)
    assert server.wait(1) == 0


def test_what_is_sent_behind_a_held_answer_is_bounded(serve):
    server = serve({**SETTINGS, "workers": 1})
    with server.resp() as resp:
        fill(resp, "slow", "a", 50_000_000)
    client = held_call(server, "a", "/slow")
    client.socket.settimeout(0.5)
    before, sent = memory_kib(server.process.pid), 0
    with pytest.raises(TimeoutError):
        while sent < 64 * 1024 * MIB:
            sent += client.socket.send(call("/auth") * 1000)
    assert memory_kib(server.process.pid) - before < 16 * MIB
    assert server.answers()
    client.close()
    end_at_once(server)


def test_held_answers_go_out_at_their_time_while_draining(serve):
    server = serve(SETTINGS)
    with server.resp() as resp:
        fill(resp, "slow", "soon", 1_500_000)
        fill(resp, "slow", "late", 55_000_000)
    began = time.monotonic()
    soon, late = held_call(server, "soon", "/slow"), held_call(server, "late", "/slow")
    time.sleep(0.3)
    server.signal(signal.SIGTERM)
    response = soon.response()
    assert response.status == 200 and time.monotonic() - began >= 1.0
    assert soon.rest() == b""
    assert server.process.poll() is None
    end_at_once(server)
    assert late.rest() == b""


def test_a_held_answer_outlives_its_rule(serve):
    server = serve(SETTINGS)
    with server.resp() as resp:
        fill(resp, "slow", "a", 1_000_000)
    with held_call(server, "a", "/slow") as client:
        time.sleep(0.2)
        told = Told(server)
        put(server, {**server.settings, "rules": [day("other", match="none")]})
        for _ in range(10):
            server.signal(signal.SIGHUP)
            told.line(DONE)
        told.close()
        assert client.response().status == 200
        assert ask(client, "/auth", *user("a", "/slow")).header("X-RateLimit-Limit") is None


def test_random_calls_never_end_a_server(front):
    """Bytes that are nearly calls: each connection is answered or closed, and laju lives."""
    rng = random.Random(5)
    seeds = [call("/auth", *user("u", "/even")), call("/auth/seen/x?y", "X-Forwarded-For: 1.2.3.4, [::1]:5", method="POST"),
             call("/auth?rule=named&deny=403", 'Forwarded: for="[::1]";by=x', "Cookie: id=1; a=b")]
    for _ in range(150):
        data = bytearray(rng.choice(seeds) * rng.randint(1, 3))
        for _ in range(rng.randint(0, 6)):
            at = rng.randrange(len(data))
            data[at:at + rng.choice((0, 1, 1, 5))] = rng.choice([b"\r\n", b"%", b",", b"\0", b"\xff", b":", b'"', b"=", b"/", b""])
        with front.http(timeout=10) as http:
            http.send(bytes(data))
            http.half_close()
            http.rest()
    assert front.answers()

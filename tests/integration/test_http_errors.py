"""A request that cannot be read is a 400 with a problem document, and charges nothing."""

import json

import pytest


def problem(response, status, *words):
    """The document of RFC 9457, and that it says these words."""
    assert response.status == status, response
    assert response.header("Content-Type").split(";")[0] == "application/problem+json"
    document = response.json
    assert document["status"] == status
    assert isinstance(document["title"], str) and document["title"]
    assert isinstance(document["detail"], str) and document["detail"]
    text = json.dumps(document, ensure_ascii=False)
    for word in words:
        assert word in text, f"{word!r} is not in {text}"
    return document


# What is sent instead of a good check; what the problem must name: the field, the value, what is allowed.
BAD_CHECKS = [
    ({"rule": "nobody"}, ["rule", "nobody"]),
    ({"rule": "Login"}, ["rule", "Login"]),
    ({"rule": ""}, ["rule"]),
    ({"rule": 5}, ["rule", "5"]),
    ({"rule": None}, ["rule"]),
    ({"rule": "a b"}, ["rule", "a b"]),
    ({"rule": "r" * 65}, ["rule"]),
    ({"key": ""}, ["key", "1", "1024"]),
    ({"key": "k" * 1025}, ["key", "1024"]),
    ({"key": "ж" * 513}, ["key", "1024"]),
    ({"key": 42}, ["key", "42"]),
    ({"key": True}, ["key"]),
    ({"key": ["a"]}, ["key"]),
    ({"key": {"a": 1}}, ["key"]),
    ({"cost": -1}, ["cost", "-1", "0", "4294967295"]),
    ({"cost": 4294967296}, ["cost", "4294967296", "4294967295"]),
    ({"cost": 99999999999999999999999}, []),  # not an integer that JSON's reader holds
    ({"cost": 1.5}, ["cost", "1.5"]),
    ({"cost": 1.0}, ["cost"]),
    ({"cost": "1"}, ["cost"]),
    ({"cost": None}, ["cost"]),
    ({"cost": True}, ["cost"]),
    ({"costs": 1}, ["costs"]),
    ({"Cost": 1}, ["Cost"]),
    ({"limit": 10, "per": "1m"}, ["rule", "limit"]),
    ({"limit": 10}, ["limit"]),
    ({"burst": 10}, ["burst"]),
    ({"checks": []}, ["checks"]),
]


@pytest.mark.parametrize("change,words", BAD_CHECKS, ids=[json.dumps(c)[:40] for c, _ in BAD_CHECKS])
def test_a_bad_check_is_named_and_charges_nothing(laju, key, change, words):
    good = {"rule": "login", "key": key}
    with laju.http() as http:
        problem(http.post("/v1/check", {**good, "cost": 1, **change}), 400, *words)
        problem(http.post("/v1/check", {"checks": [good, {**good, **change}]}), 400, *words)
        problem(http.post("/v1/batch", [good, {**good, **change}, good]), 400, *words)
        assert http.peek("login", key) == 10


BAD_LIMITS = [
    ({"limit": -1}, ["limit", "-1", "4294967295"]),
    ({"limit": 4294967296}, ["limit", "4294967296", "4294967295"]),
    ({"limit": 1.5}, ["limit", "1.5"]),
    ({"limit": "10"}, ["limit"]),
    ({"limit": 65537, "algorithm": "sliding-window-log"}, ["limit", "65537", "65536"]),
    ({"per": "0s"}, ["per", "0s"]),
    ({"per": "999us"}, ["per"]),
    ({"per": "367d"}, ["per", "367d", "366"]),
    ({"per": "1"}, ["per", "unit"]),
    ({"per": "1y"}, ["per", "1y"]),
    ({"per": "-1m"}, ["per", "-1m"]),
    ({"per": "1.5m"}, ["per", "1.5m"]),
    ({"per": "1 m"}, ["per"]),
    ({"per": ""}, ["per"]),
    ({"per": 60}, ["per", "60"]),
    ({"per": "99999999999999999999s"}, ["per"]),
    ({"per": "1048577s"}, ["per", "1048577s"]),
    ({"algorithm": "gcra"}, ["algorithm", "gcra", "token-bucket"]),
    ({"algorithm": "Token-Bucket"}, ["algorithm", "Token-Bucket"]),
    ({"algorithm": 1}, ["algorithm"]),
    ({"burst": 20}, ["burst"]),
    ({"burst": 0, "algorithm": "token-bucket"}, ["burst", "0", "1"]),
    ({"burst": -1, "algorithm": "token-bucket"}, ["burst", "-1"]),
    ({"burst": 4294967296, "algorithm": "leaky-bucket"}, ["burst", "4294967296", "4294967295"]),
    ({"cost": -1}, ["cost", "-1"]),
    ({"unit": "m"}, ["unit"]),
    ({"name": "x"}, ["name"]),
]


@pytest.mark.parametrize("change,words", BAD_LIMITS, ids=[json.dumps(c)[:40] for c, _ in BAD_LIMITS])
def test_a_bad_inline_limit_is_named(laju, key, change, words):
    good = {"key": key, "limit": 10, "per": "1d"}
    with laju.http() as http:
        problem(http.post("/v1/check", {**good, **change}), 400, *words)
        problem(http.post("/v1/batch", [good, {**good, **change}]), 400, *words)
        assert http.post("/v1/check", {**good, "cost": 0}).json["remaining"] == 10


@pytest.mark.parametrize("missing", ["rule", "key"])
def test_a_missing_member_is_named(laju, key, missing):
    check = {"rule": "login", "key": key}
    del check[missing]
    with laju.http() as http:
        problem(http.post("/v1/check", check), 400, missing)
        problem(http.post("/v1/check", {"checks": [{"rule": "login", "key": key}, check]}), 400, missing)


@pytest.mark.parametrize("missing", ["limit", "per"])
def test_an_inline_limit_needs_both_of_limit_and_per(laju, key, missing):
    check = {"key": key, "limit": 1, "per": "1m"}
    del check[missing]
    with laju.http() as http:
        problem(http.post("/v1/check", check), 400, missing)


NOT_JSON = [
    "", " ", "{", "}", "[", "nul", "null", "5", '"text"', "true", "[]", "{}", '{"rule"', '{"rule":', '{"rule":"login",}',
    '{rule:"login"}', "{'rule':'login'}", '{"rule":"login" "key":"a"}', '{"rule":"login","key":"a"}x',
    '{"rule":"login","key":"a"}{}', '{"rule":"login","key":"a","cost":01}', '{"rule":"login","key":"a","cost":+1}',
    '{"rule":"login","key":"a","cost":.5}', '{"rule":"login","key":"a","cost":1.}', '{"rule":"login","key":"a","cost":NaN}',
    '{"rule":"login","key":"a","cost":1e999}', '{"rule":"login","key":"\\x"}', '{"rule":"login","key":"\\ud800"}',
    '{"rule":"login","key":"\\udc00"}', '{"rule":"login","key":"\\u12"}', '{"rule":"login","key":"a\nb"}',
    '{"rule":"login","key":"a\tb"}', '{"rule":"login","key":"a', '\ufeff{"rule":"login","key":"a"}',
    "/* c */{}", '{"rule":"login","key":"a",,"cost":1}', '{"rule":"login","key":"a\\u0000b"}', "[" * 100, "[" * 50000, '{"a":' * 50000,
]


@pytest.mark.parametrize("body", NOT_JSON, ids=range(len(NOT_JSON)))
def test_what_is_not_a_check_in_json_is_refused(laju, body):
    with laju.http() as http:
        problem(http.post("/v1/check", body), 400)
        assert http.get("/healthz").status == 200  # the connection goes on


@pytest.mark.parametrize("key_bytes", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"])
def test_text_that_is_not_utf8_is_refused(laju, key_bytes):
    with laju.http() as http:
        problem(http.post("/v1/check", b'{"rule":"login","key":"' + key_bytes + b'"}'), 400)


def test_a_duplicate_member_is_refused_and_charges_nothing(laju, key):
    with laju.http() as http:
        problem(http.post("/v1/check", f'{{"rule":"login","key":"{key}","key":"{key}"}}'), 400, "key")
        problem(http.post("/v1/check", f'{{"rule":"login","key":"{key}","k\\u0065y":"{key}"}}'), 400, "key")
        problem(http.post("/v1/check", f'{{"rule":"login","cost":1,"key":"{key}","cost":1}}'), 400, "cost")
        assert http.peek("login", key) == 10


def test_checks_must_be_a_list_of_checks(laju, key):
    with laju.http() as http:
        for checks in (5, None, {}, "a", [[]], [5], [None], [{"checks": []}], []):
            problem(http.post("/v1/check", {"checks": checks}), 400)
        problem(http.post("/v1/check", {"checks": [{"rule": "login", "key": key}], "x": 1}), 400, "x")
        for batch in ({}, 5, None, "a", {"rule": "login", "key": key}, [[{"rule": "login", "key": key}]]):
            problem(http.post("/v1/batch", json.dumps(batch)), 400)
        assert http.peek("login", key) == 10


def test_a_value_in_a_problem_is_cut_and_escaped(laju):
    with laju.http() as http:
        document = problem(http.post("/v1/check", {"rule": '"\\\n\u0001<' + "x" * 60000, "key": "a"}), 400, "rule")
        assert len(json.dumps(document)) < 4096


def test_a_problem_carries_no_limit_headers(laju):
    with laju.http() as http:
        response = http.post("/v1/check", {"rule": "nobody", "key": "a"})
    assert [n for n, _ in response.headers if "ratelimit" in n.lower() or n.lower() == "retry-after"] == []


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/", "/v1/checks", "/v1/check/", "/V1/check", "/healthz/x", "/v1/check%00",
                                  "//v1/check", "/v1/../v1/check"])
def test_an_unknown_path_is_a_404(laju, path):
    with laju.http() as http:
        problem(http.post(path, {"rule": "login", "key": "a"}), 404)
        problem(http.get(path), 404)


@pytest.mark.parametrize("method,path,allowed", [("GET", "/v1/check", "POST"), ("PUT", "/v1/check", "POST"),
                                                 ("DELETE", "/v1/batch", "POST"), ("POST", "/healthz", "GET"),
                                                 ("PATCH", "/readyz", "GET"), ("OPTIONS", "/v1/check", "POST")])
def test_another_method_is_a_405_that_names_the_right_one(laju, method, path, allowed):
    with laju.http() as http:
        response = http.exchange(method, path, b"{}")
        problem(response, 405)
        assert allowed in response.header("Allow")
        assert http.get("/healthz").status == 200


def test_a_query_is_refused_where_it_would_be_ignored(laju, key):
    """{"rule"} in the body and ?key= in the query is a mistake that must not pass unseen."""
    with laju.http() as http:
        problem(http.post("/v1/check?cost=5", {"rule": "login", "key": key}), 400, "cost=5")
        assert http.peek("login", key) == 10

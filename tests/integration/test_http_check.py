"""POST /v1/check and /v1/batch, as a user meets them."""

import json
import math
import time

import pytest

import law

LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit-Policy", "RateLimit"]


def test_an_admission_tells_the_decision_in_body_and_headers(laju, key):
    with laju.http() as http:
        before = time.time()
        response = http.post("/v1/check", {"rule": "login", "key": key, "cost": 1})
        after = time.time()
    assert response.status == 200
    assert response.header("Content-Type").startswith("application/json")
    # 5 a minute: a token comes back in 12 s, ten of them in 120 s.
    assert response.json == {"allowed": True, "rule": "login", "limit": 10, "remaining": 9, "retry_after_ms": 0,
                             "reset_after_ms": 12000, "delay_ms": 0}
    assert response.header("RateLimit-Policy") == '"login";q=10;w=120'
    assert response.header("RateLimit") == '"login";r=9;t=12'
    assert response.header("X-RateLimit-Limit") == "10"
    assert response.header("X-RateLimit-Remaining") == "9"
    assert math.ceil(before + 12 - 0.001) <= int(response.header("X-RateLimit-Reset")) <= math.ceil(after + 12)
    assert response.header("Retry-After") is None


def test_a_denial_is_a_429_that_says_when_to_come_back(laju, key):
    with laju.http() as http:
        for left in range(9, -1, -1):
            assert http.check("login", key).json["remaining"] == left
        response = http.check("login", key)
    assert response.status == 429
    answer = response.json
    assert answer["allowed"] is False and answer["remaining"] == 0 and answer["delay_ms"] == 0
    assert 1000 < answer["retry_after_ms"] <= 12000
    assert response.header("Retry-After") == str(law.ceil_div(answer["retry_after_ms"], 1000))
    assert response.header("RateLimit").startswith('"login";r=0;t=')


def test_a_refused_client_is_not_pushed_back_by_asking_again(laju, key):
    with laju.http() as http:
        http.check("login", key, 10)
        waits = [http.check("login", key).json["retry_after_ms"] for _ in range(50)]
    assert waits == sorted(waits, reverse=True)


def test_a_cost_above_the_capacity_is_refused_without_a_time_to_retry(laju, key):
    with laju.http() as http:
        response = http.check("login", key, 11)
        assert response.status == 429
        assert response.json == {"allowed": False, "rule": "login", "limit": 10, "remaining": 10, "retry_after_ms": None,
                                 "reset_after_ms": 0, "delay_ms": 0}
        assert response.header("Retry-After") is None
        # As good as new: nothing more will come, so no t.
        assert response.header("RateLimit") == '"login";r=10'
        assert http.peek("login", key) == 10


def test_a_peek_changes_nothing(laju, key):
    with laju.http() as http:
        for _ in range(20):
            assert http.check("login", key, 0).json["remaining"] == 10
        http.check("login", key, 10)
        response = http.check("login", key, 0)
    assert response.status == 200 and response.json["allowed"] is True and response.json["remaining"] == 0


def test_a_limit_of_zero_refuses_everything(laju, key):
    with laju.http() as http:
        response = http.check("none", key)
    assert response.status == 429
    assert response.json == {"allowed": False, "rule": "none", "limit": 0, "remaining": 0, "retry_after_ms": None,
                             "reset_after_ms": 0, "delay_ms": 0}
    assert response.header("RateLimit-Policy") == '"none";q=0'
    assert response.header("RateLimit") == '"none";r=0'
    assert response.header("Retry-After") is None


def test_a_check_without_a_cost_takes_the_rules_own(laju, key):
    with laju.http() as http:
        assert http.post("/v1/check", {"rule": "login", "key": key}).json["remaining"] == 9
        assert http.post("/v1/check", {"rule": "priced", "key": key}).json["remaining"] == 6
        assert http.post("/v1/check", {"rule": "priced", "key": key, "cost": 1}).json["remaining"] == 5


def test_a_leaky_bucket_tells_how_long_to_wait_in_the_queue(laju, key):
    rule = {"key": key, "limit": 10, "per": "1h", "algorithm": "leaky-bucket"}
    with laju.http() as http:
        first, second = (http.post("/v1/check", rule).json for _ in range(2))
    assert first["delay_ms"] == 0
    assert 359_000 < second["delay_ms"] <= 360_000


def test_reset_is_one_instant_however_often_it_is_asked(laju, key):
    """The end of the window is one second, and does not wobble with the instant of asking."""
    law.keep_clear_of_edge(law.DAY_S, 120)
    with laju.http() as http:
        resets = set()
        for _ in range(60):
            resets.add(http.check("fixed-window-day", key, 0 if resets else 1).header("X-RateLimit-Reset"))
            time.sleep(0.003)
    assert resets == {str(math.ceil(time.time() / law.DAY_S) * law.DAY_S)}


# ---- several checks in one request ----


def test_all_or_none_when_one_refuses_nothing_is_charged(laju, key):
    with laju.http() as http:
        http.check("login", key, 10)
        response = http.post("/v1/check", {"checks": [{"rule": "token-bucket-day", "key": key, "cost": 3},
                                                      {"rule": "login", "key": key}]})
        assert response.status == 429
        answer = response.json
        assert answer["allowed"] is False and answer["rule"] == "login"
        assert [d["allowed"] for d in answer["decisions"]] == [True, False]
        # Told as if it had been charged, and not charged.
        assert answer["decisions"][0]["remaining"] == 7
        assert http.peek("token-bucket-day", key) == 10


def test_several_checks_tell_the_tightest_at_the_top_and_each_rule_once_in_the_headers(laju, key):
    checks = [{"rule": "token-bucket-day", "key": key, "cost": 2}, {"rule": "login", "key": key, "cost": 9},
              {"rule": "login", "key": key + "b", "cost": 1}]
    with laju.http() as http:
        response = http.post("/v1/check", {"checks": checks})
    assert response.status == 200
    answer = response.json
    assert answer["rule"] == "login" and answer["remaining"] == 1
    assert [d["remaining"] for d in answer["decisions"]] == [8, 1, 9]
    assert response.header("X-RateLimit-Remaining") == "1"
    assert response.header("RateLimit-Policy") == '"token-bucket-day";q=10;w=86400, "login";q=10;w=120'
    assert response.header("RateLimit") == '"token-bucket-day";r=8;t=8640, "login";r=1;t=12'


def test_retry_after_is_the_longest_of_the_refusals(laju, key):
    with laju.http() as http:
        http.check("login", key, 10)
        http.check("token-bucket-day", key, 10)
        response = http.post("/v1/check", {"checks": [{"rule": "login", "key": key}, {"rule": "token-bucket-day", "key": key},
                                                      {"rule": "login", "key": key + "b"}]})
        assert response.status == 429
        assert response.json["rule"] == "token-bucket-day"
        assert 8600 < int(response.header("Retry-After")) <= 8640
        never = http.post("/v1/check", {"checks": [{"rule": "login", "key": key}, {"rule": "login", "key": key, "cost": 11}]})
        assert never.status == 429 and never.header("Retry-After") is None
        assert never.json["retry_after_ms"] is None


def test_a_key_that_comes_twice_in_one_request_is_charged_twice(laju, key):
    twice = {"checks": [{"rule": "login", "key": key, "cost": 6}] * 2}
    with laju.http() as http:
        response = http.post("/v1/check", twice)
        assert response.status == 429
        assert [d["remaining"] for d in response.json["decisions"]] == [4, 4]
        assert http.peek("login", key) == 10
        twice["checks"] = [{"rule": "login", "key": key, "cost": 5}] * 2
        assert http.post("/v1/check", twice).status == 200
        assert http.peek("login", key) == 0


def test_sixteen_checks_pass_and_seventeen_are_refused(laju, key):
    checks = [{"rule": "login", "key": f"{key}-{i}"} for i in range(17)]
    with laju.http() as http:
        response = http.post("/v1/check", {"checks": checks[:16]})
        assert response.status == 200 and len(response.json["decisions"]) == 16
        assert http.post("/v1/check", {"checks": checks}).status == 400
        assert http.peek("login", f"{key}-16") == 10
        assert http.peek("login", f"{key}-0") == 9


def test_one_check_in_a_list_answers_with_its_decisions(laju, key):
    with laju.http() as http:
        answer = http.post("/v1/check", {"checks": [{"rule": "login", "key": key}]}).json
    assert answer == {**answer["decisions"][0], "decisions": answer["decisions"]}
    assert len(answer["decisions"]) == 1


# ---- batches ----


def test_a_batch_decides_each_for_itself(laju, key):
    with laju.http() as http:
        response = http.post("/v1/batch", [{"rule": "login", "key": key, "cost": 10}, {"rule": "login", "key": key},
                                           {"rule": "login", "key": key, "cost": 11}, {"rule": "priced", "key": key}])
        assert response.status == 200
        assert [d["allowed"] for d in response.json] == [True, False, False, True]
        assert [d["rule"] for d in response.json] == ["login"] * 3 + ["priced"]
        assert [name for name in LIMIT_HEADERS + ["Retry-After"] if response.header(name)] == []


def test_a_thousand_checks_make_a_batch_and_one_more_is_refused(laju, key):
    batch = [{"rule": "login", "key": f"{key}-{i}"} for i in range(1001)]
    with laju.http() as http:
        response = http.post("/v1/batch", batch[:1000])
        assert response.status == 200 and len(response.json) == 1000
        assert {d["remaining"] for d in response.json} == {9}
        assert http.post("/v1/batch", batch).status == 400
        assert http.peek("login", f"{key}-0") == 9


def test_one_malformed_check_refuses_the_whole_batch(laju, key):
    good = {"rule": "login", "key": key}
    with laju.http() as http:
        for bad in ({"rule": "login"}, {"rule": "nobody", "key": "a"}, {**good, "cost": -1}, 5, None, [], {**good, "x": 1}):
            assert http.post("/v1/batch", [good, bad, good]).status == 400, bad
        assert http.peek("login", key) == 10
        assert http.post("/v1/batch", []).status == 400


def test_batches_of_the_longest_keys_fit(laju):
    long_keys = ["%04d" % i + "k" * 1020 for i in range(1000)]
    with laju.http() as http:
        response = http.post("/v1/batch", [{"rule": "login", "key": k, "cost": 4294967295} for k in long_keys])
        assert response.status == 200, response
        assert {d["retry_after_ms"] for d in response.json} == {None}


# ---- inline limits ----


def test_an_inline_limit_needs_no_rule(laju, key):
    with laju.http() as http:
        response = http.post("/v1/check", {"key": key, "limit": 10, "per": "1m", "algorithm": "token-bucket", "burst": 20})
        assert response.json == {"allowed": True, "rule": "inline", "limit": 20, "remaining": 19, "retry_after_ms": 0,
                                 "reset_after_ms": 6000, "delay_ms": 0}
        assert response.header("RateLimit-Policy") == '"inline";q=20;w=120'
        assert response.header("RateLimit") == '"inline";r=19;t=6'


def test_an_inline_limit_has_the_default_algorithm_and_keeps_its_state_under_another_limit(laju, key):
    law.keep_clear_of_edge(law.DAY_S, 120)
    ask = {"key": key, "per": "1d"}
    with laju.http() as http:
        assert http.post("/v1/check", {**ask, "limit": 10, "cost": 4}).json["remaining"] == 6
        assert http.post("/v1/check", {**ask, "limit": 100}).json["remaining"] == 95
        same = http.post("/v1/check", {**ask, "limit": 10, "algorithm": "sliding-window-counter"})
        assert same.json["remaining"] == 4
        # Another algorithm or another period is another state.
        assert http.post("/v1/check", {**ask, "limit": 10, "algorithm": "fixed-window"}).json["remaining"] == 9
        assert http.post("/v1/check", {"key": key, "per": "1w", "limit": 10}).json["remaining"] == 9


@pytest.mark.parametrize("per,limit,window", [("250ms", 4, ";w=1"), ("1s", 3, ";w=1"), ("90s", 1, ";w=90"), ("2h", 7, ";w=7200"),
                                              ("1w", 10, ";w=604800"), ("100ms", 5, "")])
def test_every_unit_of_a_period_is_understood(laju, key, per, limit, window):
    """w is there only where the capacity comes back in whole seconds: 4 in 250 ms do so in a quarter of one."""
    with laju.http() as http:
        response = http.post("/v1/check", {"key": key, "limit": limit, "per": per, "algorithm": "token-bucket",
                                           "burst": 16 if per == "250ms" else limit})
    assert response.status == 200
    q = 16 if per == "250ms" else limit
    assert response.header("RateLimit-Policy") == f'"inline";q={q}{window}'


def test_the_largest_numbers_keep_their_last_digit(laju, key):
    most = 2**32 - 1
    with laju.http() as http:
        answer = http.post("/v1/check", {"key": key, "limit": 1, "per": "366d", "algorithm": "token-bucket", "burst": most,
                                         "cost": most})
    assert answer.json["remaining"] == 0 and answer.json["limit"] == most
    # most * 366 days are above 2^53 us: told as the longest wait that is told.
    assert answer.json["reset_after_ms"] == law.ceil_div(2**53 - 1, 1000)
    w = 366 * 86400 * most
    assert answer.header("RateLimit-Policy") == f'"inline";q={most};w={w}'


def test_inline_limits_can_be_forbidden(serve, key):
    server = serve({"rules": [law.rule("token-bucket", 5, name="a")], "inline_limits": False})
    with server.http() as http:
        response = http.post("/v1/check", {"key": key, "limit": 10, "per": "1m"})
        assert response.status == 403
        assert response.header("Content-Type").startswith("application/problem+json")
        assert "limit" in response.json["detail"]
        assert http.check("a", key).status == 200


# ---- what a check may look like ----


@pytest.mark.parametrize("content_type", ["application/json", "application/x-www-form-urlencoded", "text/plain", "", "nonsense"])
def test_any_content_type_is_taken_for_json(laju, key, content_type):
    with laju.http() as http:
        response = http.post("/v1/check", {"rule": "login", "key": key}, headers=[f"Content-Type: {content_type}"])
    assert response.status == 200


KEYS = ["a", "k" * 1024, "ключ", "\"quoted\\\"", "\n", "😀" * 256, "\u007f", " ", "{}", "\u2028"]


@pytest.mark.parametrize("text", KEYS, ids=range(len(KEYS)))
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_key_is_any_text_of_1_to_1024_bytes(laju, key, text, ascii_only):
    """Escaped or plain, the same text is the same key, and no other is."""
    limit = {"limit": 9, "per": "1d", "algorithm": "token-bucket", "key": text}
    if len(text.encode()) < 1000:
        limit["key"] = text + key
    with laju.http() as http:
        first = http.post("/v1/check", json.dumps(limit, ensure_ascii=ascii_only))
        assert first.status == 200, first
        again = http.post("/v1/check", json.dumps({**limit, "cost": 1}, ensure_ascii=not ascii_only))
        assert again.json["remaining"] == first.json["remaining"] - 1


def test_a_key_over_http_is_the_same_bytes_over_resp(laju, key):
    name = f"ключ {key}"
    with laju.http() as http, laju.resp() as resp:
        http.check("login", name, 3)
        assert resp.call("LAJU.PEEK", "login", name.encode())[2] == 7


def test_the_members_may_come_in_any_order_and_with_any_white_space(laju, key):
    with laju.http() as http:
        for body in (f'{{"cost":1,"key":"{key}","rule":"login"}}', f'\t\r\n {{ "key" :\n"{key}" , "rule":"login" }} \n',
                     f'{{"ru\\u006ce":"login","key":"{key}"}}'):
            assert http.post("/v1/check", body).status == 200, body
        assert http.peek("login", key) == 7


def test_the_first_curl_works_without_any_rule(serve):
    server = serve({})
    answers = [server.check("default", "somebody").json for _ in range(2)]
    assert [a["remaining"] for a in answers] == [99, 98]
    assert answers[0]["limit"] == 100

"""Every number of every answer is the oracle's, over both doors on one state."""

import random
import time

import pytest

import law
from conftest import RULES

BY_NAME = {r["name"]: r for r in RULES}
COSTS = [1, 1, 1, 1, 2, 3, 0, 7, 20, 40, 41, 60, 61, 2**32 - 1]


def random_checks(rng, most, prefix):
    return [(rng.choice(law.ALGORITHMS), f"{prefix}-{rng.randrange(4)}", rng.choice(COSTS))
            for _ in range(rng.randint(1, most))]


def as_members(checks):
    return [{"rule": r, "key": k, "cost": c} for r, k, c in checks]


def expect_all(state, checks, probe_reset_ms):
    at_us = law.decided_at_us(probe_reset_ms)
    allowed, decisions = state.all(at_us, checks)
    return at_us, allowed, decisions, [BY_NAME[name] for name, _, _ in checks]


def http_all(laju_http, state, checks):
    """{"checks": [...]} answers, to the last member and header, as the oracle does."""
    response = laju_http.post("/v1/check", {"checks": as_members(checks)})
    answer = response.json
    at_us, allowed, decisions, rules = expect_all(state, checks, answer["decisions"][0]["reset_after_ms"])
    told = [law.as_json(d, r) for d, r in zip(decisions, rules)]
    t = law.tightest(decisions, [law.capacity(r) for r in rules])
    assert answer == {**told[t], "decisions": told}
    assert response.status == (200 if allowed else 429)
    assert answer["allowed"] == allowed
    wanted = law.headers(at_us, decisions, rules)
    names = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-policy", "ratelimit",
             "retry-after"]
    assert {n: response.header(n) for n in names if response.header(n) is not None} == wanted


def http_batch(laju_http, state, checks):
    response = laju_http.post("/v1/batch", as_members(checks))
    assert response.status == 200
    answer = response.json
    decisions = state.each(law.decided_at_us(answer[0]["reset_after_ms"]), checks)
    assert answer == [law.as_json(d, BY_NAME[name]) for d, (name, _, _) in zip(decisions, checks)]
    assert not [name for name, _ in response.headers if "ratelimit" in name.lower() or name.lower() == "retry-after"]


def resp_all(laju_resp, state, checks):
    reply = laju_resp.call("LAJU.ALL", *(word for check in checks for word in check))
    _, allowed, decisions, rules = expect_all(state, checks, reply[5])
    flat = [n for d, r in zip(decisions, rules) for n in law.as_integers(d, r)]
    assert reply == [int(allowed), *flat]


def resp_mcheck(laju_resp, state, checks):
    """Between two probes that show the same tick, all between them was decided in it."""
    rule, _, cost = checks[1]
    keys = [key for _, key, _ in checks[1:]]
    probe = ("LAJU.CHECK", *checks[0])
    before, reply, after = laju_resp.pipeline([probe, ("LAJU.MCHECK", rule, cost, *keys), probe])
    at_us = law.decided_at_us(before[4])
    state.each(at_us, [checks[0]])
    decisions = state.each(at_us, [(rule, key, cost) for key in keys])
    state.each(law.decided_at_us(after[4]), [checks[0]])
    wanted = [d["remaining"] if d["allowed"] else None if d["retry_after_us"] < 0 else -law.ceil_div(d["retry_after_us"], 1000)
              for d in decisions]
    assert before[4] != after[4] or reply == wanted
    return before[4] == after[4]


@pytest.mark.parametrize("seed", range(4))
def test_random_requests_over_both_doors_are_answered_as_by_the_oracle(laju, seed):
    rng = random.Random(seed)
    state = law.Law(RULES)
    probe = ("probe", f"law-{seed}", 1)
    with laju.http() as http, laju.resp() as resp:
        for _ in range(250):
            kind = rng.choice([http_all, http_all, http_batch, resp_all])
            most = 40 if kind is http_batch else 15
            kind(resp if kind is resp_all else http, state, [probe, *random_checks(rng, most, f"law-{seed}")])
            if rng.random() < 0.3:
                time.sleep(rng.random() * 0.05)


@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_many_keys_in_one_mcheck_are_answered_as_by_the_oracle(laju, algorithm):
    rng = random.Random(algorithm)
    state = law.Law(RULES)
    probe = ("probe", f"mcheck-{algorithm}", 1)
    with laju.resp() as resp:
        shown = 0
        for cost in (1, 3, 30, 61, 0, 25) * 5:
            checks = [(algorithm, f"mcheck-{rng.randrange(6)}", cost) for _ in range(12)]
            if not resp_mcheck(resp, state, [probe, *checks]):  # decided in two ticks: the states are not known any more
                state = law.Law(RULES)
                rng = random.Random(f"{algorithm} {rng.random()}")
                for i in range(6):
                    resp.call("LAJU.RESET", algorithm, f"mcheck-{i}")
            else:
                shown += 1
        assert shown > 5


@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_a_thousand_checks_in_one_batch_are_answered_as_by_the_oracle(laju, algorithm):
    rng = random.Random(algorithm)
    checks = [(algorithm, f"thousand-{rng.randrange(9)}", rng.choice(COSTS)) for _ in range(999)]
    with laju.http() as http:
        http_batch(http, law.Law(RULES), [("probe", f"thousand-{algorithm}", 1), *checks])


@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_the_eleventh_of_ten_a_day_is_refused_whichever_door_it_comes_by(laju, key, algorithm):
    law.keep_clear_of_edge(law.DAY_S, 120)
    rule = f"{algorithm}-day"
    with laju.http() as http, laju.resp() as resp:
        for left in (9, 7, 5, 3, 1):
            answer = http.check(rule, key).json
            assert (answer["allowed"], answer["remaining"]) == (True, left)
            assert resp.call("LAJU.CHECK", rule, key)[:3] == [1, 10, left - 1]
        assert http.check(rule, key).status == 429
        assert resp.call("LAJU.CHECK", rule, key)[:3] == [0, 10, 0]
        assert http.peek(rule, key) == 0


def test_waiting_as_long_as_told_is_enough(laju, key):
    """20 a second: a token comes every 50 ms."""
    with laju.http() as http:
        inline = {"key": key, "limit": 20, "per": "1s", "algorithm": "token-bucket", "burst": 5}
        assert http.post("/v1/check", {**inline, "cost": 5}).status == 200
        refused = http.post("/v1/check", {**inline, "cost": 1})
        assert refused.status == 429
        wait_ms = refused.json["retry_after_ms"]
        assert 0 < wait_ms <= 50
        time.sleep(wait_ms / 1000)
        assert http.post("/v1/check", {**inline, "cost": 1}).status == 200

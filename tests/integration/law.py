"""What laju must answer, by the reference oracle (tests/vectors/oracle.py), for whole requests.

Real time passes while a server is tested, so a test first learns the very tick at which a request was decided: a
fixed-window check beside the others (`PROBE`) tells by its reset how far the window has come. With a period of 200 s a tick
is a millisecond, which is what the answers are told in; so every other number of the request is then known exactly.
"""

import copy
import fractions
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vectors"))
from oracle import ALGORITHMS, Limiter  # noqa: E402, F401

PERIOD_S = 200
PERIOD_US = PERIOD_S * 1_000_000
TICK_US = 1000
BUCKETS = ("token-bucket", "leaky-bucket")

HOUR_S, DAY_S = 3600, 86400


def ceil_div(a, b):
    return -(-a // b)


def rule(algorithm, limit, *, per=f"{PERIOD_S}s", burst=None, name=None):
    """A rule as laju.yaml has it."""
    out = {"name": name or algorithm, "algorithm": algorithm, "limit": limit, "per": per}
    if burst is not None:
        out["burst"] = burst
    return out


PROBE = rule("fixed-window", 4_000_000_000, name="probe")


def limiter(settings, period_us=PERIOD_US):
    return Limiter({"algorithm": settings["algorithm"], "limit": settings["limit"], "period_us": period_us,
                    "burst": settings.get("burst")})


def capacity(settings):
    return limiter(settings).capacity


def keep_clear_of_edge(period_s, margin_s):
    """Sleeps where a window of `period_s` turns within `margin_s`: a test that counts admissions must not straddle it."""
    left = period_s - time.time() % period_s
    if left < margin_s:
        time.sleep(left + 1)


def decided_at_us(reset_after_ms, period_us=PERIOD_US):
    """The time of a decision, from the reset of a fixed window that is in use; to the millisecond."""
    left_us = reset_after_ms * 1000
    now_us = time.time_ns() // 1000
    window = round((now_us + left_us) / period_us)
    at_us = window * period_us - left_us
    assert abs(at_us - now_us) < 60_000_000, "the probe's window is not the clock's"
    return at_us


class Law:
    """The states of many keys under a set of rules."""

    def __init__(self, rules, period_us=PERIOD_US):
        self.rules = {r["name"]: r for r in rules}
        self.period_us = period_us
        self.keys = {}

    def _limiter(self, keys, name, key):
        if (name, key) not in keys:
            known = self.keys.get((name, key))
            keys[name, key] = copy.copy(known) if known else limiter(self.rules[name], self.period_us)
        return keys[name, key]

    def each(self, at_us, checks):
        """Independent checks, in order."""
        return [self._limiter(self.keys, name, key).check(at_us, cost) for name, key, cost in checks]

    def all(self, at_us, checks):
        """All or none: (allowed, decisions)."""
        would = {}
        decisions = [self._limiter(would, name, key).check(at_us, cost) for name, key, cost in checks]
        allowed = all(d["allowed"] for d in decisions)
        if allowed:
            self.keys.update(would)
        return allowed, decisions


def share(d, limit):
    return fractions.Fraction(d["remaining"], limit) if limit else fractions.Fraction(0)


def tightness(d, limit):
    """Sorts the tightest decision first."""
    wait = d["retry_after_us"]
    return (d["allowed"], -(float("inf") if wait < 0 else wait), share(d, limit), -d["reset_after_us"])


def tightest(decisions, limits):
    return min(range(len(decisions)), key=lambda i: (tightness(decisions[i], limits[i]), i))


def as_json(d, settings):
    """A decision as HTTP tells it."""
    return {"allowed": d["allowed"], "rule": settings["name"], "limit": capacity(settings), "remaining": d["remaining"],
            "retry_after_ms": None if d["retry_after_us"] < 0 else ceil_div(d["retry_after_us"], 1000),
            "reset_after_ms": ceil_div(d["reset_after_us"], 1000), "delay_ms": ceil_div(d["delay_us"], 1000)}


def as_integers(d, settings):
    """A decision as LAJU.CHECK tells it."""
    j = as_json(d, settings)
    retry = -1 if j["retry_after_ms"] is None else j["retry_after_ms"]
    return [int(j["allowed"]), j["limit"], j["remaining"], retry, j["reset_after_ms"], j["delay_ms"]]


def policy_window_s(settings, period_us=PERIOD_US):
    """The seconds in which the capacity comes back whole, or None where that is not a whole number above 0."""
    if settings["limit"] == 0:
        return None
    w = fractions.Fraction(period_us * capacity(settings), settings["limit"] * 1_000_000)
    return int(w) if w.denominator == 1 and w > 0 else None


def headers(at_us, decisions, rules, period_us=PERIOD_US):
    """The limit headers of one request's answer, lower-case names."""
    limits = [capacity(r) for r in rules]
    t = tightest(decisions, limits)
    out = {"x-ratelimit-limit": str(limits[t]), "x-ratelimit-remaining": str(decisions[t]["remaining"]),
           "x-ratelimit-reset": str(ceil_div(at_us + decisions[t]["reset_after_us"], 1_000_000))}
    policies, states, seen = [], [], []
    for r in rules:
        if r["name"] in seen:
            continue
        seen.append(r["name"])
        mine = [i for i, other in enumerate(rules) if other["name"] == r["name"]]
        d = decisions[mine[tightest([decisions[i] for i in mine], [limits[i] for i in mine])]]
        q, w = capacity(r), policy_window_s(r, period_us)
        policies.append(f'"{r["name"]}";q={q}' + (f";w={w}" if w is not None else ""))
        states.append(f'"{r["name"]}";r={d["remaining"]}'
                      + (f";t={ceil_div(d['more_after_us'], 1_000_000)}" if d["remaining"] < q else ""))
    out["ratelimit-policy"], out["ratelimit"] = ", ".join(policies), ", ".join(states)
    refused = [d["retry_after_us"] for d in decisions if not d["allowed"]]
    if refused and min(refused) >= 0:
        out["retry-after"] = str(max(1, ceil_div(max(refused), 1_000_000)))
    return out

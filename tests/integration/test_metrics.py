"""/metrics: what Prometheus' own tool says of it, and that it is what clients saw, to the unit."""

import collections
import re
import signal
import subprocess
import threading
import time

import pytest

import law
from conftest import plain_only, tool
from server import PATIENCE_S, Server
from test_store import wait_for_store

BOUND = 4  # of what may be lost to a scraper on a machine that does other things too; nothing is what is aimed at


def rule(name, algorithm, limit, match="none", **members):
    return {"name": name, "algorithm": algorithm, "limit": limit, "per": "1d", "match": match, **members}


def scrape(server):
    with server.admin() as admin:
        answer = admin.get("/metrics")
    assert answer.status == 200 and answer.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    return answer.body.decode()


def values_of(text):
    """{(name, ((label, value), ...)): number}"""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, number = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? (\S+)", line).groups()
        pairs = tuple(re.findall(r'(\w+)="([^"]*)"', labels or ""))
        assert (name, pairs) not in found, line
        found[name, pairs] = float(number)
    return found


def labelled(values, name):
    """{(value of each label, ...): number} of one metric."""
    return {tuple(value for _, value in pairs): number for (n, pairs), number in values.items() if n == name}


def check_metrics(text):
    done = subprocess.run([tool("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- form ----

def test_promtool_finds_nothing(serve, key):
    server = serve({"rules": [rule("token-bucket", "token-bucket", 3), rule("sliding-window-log", "sliding-window-log", 3, shadow=True)]}, admin=True)
    for name in ("token-bucket", "sliding-window-log"):
        for _ in range(5):
            server.check(name, key)
    text = scrape(server)
    check_metrics(text)
    assert labelled(values_of(text), "laju_checks_total")[("sliding-window-log", "shadow_denied")] == 2


def test_promtool_finds_nothing_with_a_store(redis_server, serve, key):
    redis = redis_server()
    server = serve({"rules": [rule("token-bucket", "token-bucket", 3)], "store": {"redis": redis.url, "timeout": "2s"}}, admin=True)
    wait_for_store(server)
    for _ in range(5):
        server.check("token-bucket", key)
    text = scrape(server)
    check_metrics(text)
    values = values_of(text)
    assert values["laju_store_checks_total", ()] == 4  # the fifth was refused from memory
    assert values["laju_remembered_denials_total", ()] == 1
    assert values["laju_store_duration_seconds_count", ()] == 4


def test_a_thousand_rules_and_hostile_keys_leave_labels_bounded(serve):
    names = [f"rule-{i}" for i in range(1000)]
    server = serve({"rules": [{"name": name, "limit": 1, "per": "1d"} for name in names]}, admin=True)
    hostile = ['"} 1\nevil 1', "\\", "a" * 1024, "{}", "\u0000".replace("\u0000", "é"), "laju_rules 9"]
    with server.http() as http:
        for i, key in enumerate(hostile * 20):
            assert http.check(names[i], key).status == 200
            assert http.post("/v1/check", {"limit": 1, "per": "1s", "key": key}).status in (200, 429)
            http.check(key[:60], key)  # a rule that there is not
        for i in range(200):
            http.get(f"/auth/{i}?rule={names[i]}", headers=[f"X-Forwarded-For: 10.0.0.{i % 250}"])
    with server.resp() as resp:
        for i in range(200):
            resp.call("CL.THROTTLE", f"throttle-{i}", 5, 10, 60)
    text = scrape(server)
    check_metrics(text)
    checks = labelled(values_of(text), "laju_checks_total")
    assert {name for name, _ in checks} == {*names, "(other)"}
    assert len(text) < 400_000 and "evil" not in text and "throttle" not in text
    with server.admin() as admin:
        status = admin.get("/v1/status")
        assert len(status.json["rules"]) == 100 and status.json["rule_count"] == 1000 and len(status.body) < 20_000
        assert len(admin.get("/v1/rules").json["rules"]) == 1000


# ---- what clients saw ----

RULES = [
    rule("bucket", "token-bucket", 60),
    rule("window", "fixed-window", 40),
    rule("log", "sliding-window-log", 20),
    rule("ghost", "sliding-window-counter", 15, shadow=True),
    rule("page", "fixed-window", 30, {"path": "/page"}),
]


class Seen:
    """What one client was told, counted as the metrics count it."""

    def __init__(self):
        self.requests, self.checks = collections.Counter(), collections.Counter()

    def add(self, other):
        self.requests += other.requests
        self.checks += other.checks

    def decision(self, rule, allowed, shadow=None):
        verdict = "shadow_denied" if shadow == "denied" else "allowed" if allowed else "denied"
        self.checks[rule, verdict] += 1

    def decisions(self, door, decisions):
        """One request's, as JSON tells them."""
        for d in decisions:
            self.decision(d["rule"] if d["rule"] != "inline" else "(other)", d["allowed"], d.get("shadow"))
        self.requests[door, "allowed" if all(d["allowed"] for d in decisions) else "denied"] += 1


def use_http(server, seen, number, turns):
    keys = [f"key-{i}" for i in range(3)]
    with server.http() as http:
        for turn in range(turns):
            key = keys[(turn + number) % 3]
            rule = ["bucket", "window", "log", "ghost"][turn % 4]
            answer = http.check(rule, key)
            seen.decisions("http", [answer.json])
            answer = http.post("/v1/check", {"checks": [{"rule": "bucket", "key": key}, {"rule": "ghost", "key": key},
                                                        {"rule": "window", "key": f"{key}-all"}]})
            seen.decisions("http", answer.json["decisions"])
            answer = http.post("/v1/batch", [{"rule": rule, "key": key}, {"limit": 5, "per": "1d", "key": key},
                                             {"rule": "log", "key": key, "cost": 0}])
            seen.decisions("http", answer.json)
            answer = http.get("/auth/page", headers=[f"X-Forwarded-For: 10.0.0.{turn % 2}"])
            seen.decision("page", answer.status == 200)
            seen.requests["http", "allowed" if answer.status == 200 else "denied"] += 1
            assert http.post("/v1/check", {"rule": "nosuch", "key": key}).status == 400
            assert http.get("/nosuch").status == 404
            seen.requests["http", "error"] += 2
            assert http.get("/healthz").status == 200


def use_resp(server, seen, number, turns):
    with server.resp() as resp:
        for turn in range(turns):
            key = f"key-{(turn + number) % 3}"
            rule = ["bucket", "window", "log"][turn % 3]
            allowed = resp.call("LAJU.CHECK", rule, key)[0] == 1
            seen.decision(rule, allowed)
            seen.requests["resp", "allowed" if allowed else "denied"] += 1
            seen.decision(rule, resp.call("LAJU.PEEK", rule, key)[0] == 1)
            seen.requests["resp", "allowed"] += 1
            replies = resp.call("LAJU.MCHECK", "bucket", 2, *[f"key-{i}" for i in range(3)])
            for reply in replies:
                seen.decision("bucket", reply >= 0)
            seen.requests["resp", "allowed" if min(replies) >= 0 else "denied"] += 1
            allowed = resp.call("CL.THROTTLE", f"{key}-{number}", 4, 5, 3600)[0] == 0
            seen.decision("(other)", allowed)
            seen.requests["resp", "allowed" if allowed else "denied"] += 1
            resp.call("PING")


def test_metrics_are_what_clients_saw_to_the_unit(serve):
    """A mixed load over both doors from many connections."""
    law.keep_clear_of_edge(law.DAY_S, 60)
    server = serve({"rules": RULES, "memory": "16MiB", "workers": 2}, admin=True)
    before = values_of(scrape(server))
    sights = [Seen() for _ in range(12)]
    threads = [threading.Thread(target=(use_http, use_resp)[i % 2], args=(server, sights[i], i, 25)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    seen = Seen()
    for sight in sights:
        seen.add(sight)
    after = values_of(scrape(server))

    def grown(name):
        old = labelled(before, name)
        new = {labels: number - old.get(labels, 0) for labels, number in labelled(after, name).items()}
        return {labels: number for labels, number in new.items() if number}

    assert grown("laju_requests_total") == dict(seen.requests)
    assert grown("laju_checks_total") == dict(seen.checks)
    assert seen.checks["ghost", "shadow_denied"] > 0 and seen.requests["http", "denied"] > 0
    answered = sum(seen.requests.values())
    assert after["laju_request_duration_seconds_count", ()] == answered
    assert after['laju_request_duration_seconds_bucket', (("le", "+Inf"),)] == answered
    with server.admin() as admin:
        status = admin.get("/v1/status").json
        rules = {rule["name"]: rule["counts"] for rule in admin.get("/v1/rules").json["rules"]}
    assert status["requests"]["http"] == {v: seen.requests["http", v] for v in ("allowed", "denied", "error")}
    assert rules["bucket"]["denied"] == seen.checks["bucket", "denied"]
    assert sum(status["checks"].values()) == sum(seen.checks.values())


def becomes(expected, look):
    """What `look` sees in the end: a server learns of a connection, or of a signal, a little after its client's act."""
    deadline = time.monotonic() + PATIENCE_S
    while (seen := look()) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    return seen


def test_what_operators_do_is_counted_under_its_name(serve, key):
    server = serve({"rules": RULES}, admin=True)

    def gauges():
        values = values_of(scrape(server))
        return [int(values[f"laju_{name}", ()]) for name in ("overrides", "rules", "workers")]

    def reloads():
        values = values_of(scrape(server))
        return [int(values["laju_reloads_total", (("result", result),)]) for result in ("done", "refused")]

    def connections():
        return int(values_of(scrape(server))["laju_connections", ()])

    def reload(rules):
        server.settings["rules"] = rules
        server.write_config()
        server.signal(signal.SIGHUP)

    assert becomes(0, connections) == 0  # the one that saw it start has gone
    assert (gauges(), reloads()) == ([0, 5, 2], [0, 0])
    with server.admin() as admin, server.resp() as resp:
        resp.call("PING")
        assert connections() == 1
        assert admin.exchange("PUT", f"/v1/keys?rule=bucket&key={key}", {"limit": 7, "expires_in": "1m"}).status == 200
        reload([*RULES, rule("bucket", "fixed-window", 1)])
        assert becomes(True, lambda: reloads()[1] > 0)  # twice, where it saw by itself as well that the file is another
        assert reloads()[0] == 0
        reload(RULES[:3])
        assert becomes(True, lambda: reloads()[0] > 0)
        assert gauges() == [1, 3, 2]
    assert becomes(0, connections) == 0


def test_looking_at_keys_is_counted_nowhere(serve, key):
    server = serve({"rules": RULES}, admin=True)
    before = scrape(server)
    with server.admin() as admin:
        assert admin.get(f"/v1/keys?rule=bucket&key={key}").status == 200
        assert admin.exchange("DELETE", f"/v1/keys?rule=bucket&key={key}").status == 200
    after = scrape(server)
    for name in ("laju_requests_total", "laju_checks_total", "laju_connections_accepted_total"):
        assert labelled(values_of(after), name) == labelled(values_of(before), name)


# ---- what it costs ----

@plain_only
@pytest.mark.alone
def test_scraping_under_load_costs_those_who_are_limited_nothing(serve):
    """A door of its own is answered by a thread of its own; with a thousand rules each look is at some hundred kilobytes."""
    rules = [{"name": f"rule-{i}", "limit": 4_000_000_000, "per": "1s", "algorithm": "token-bucket"} for i in range(1000)]
    server = serve({"rules": rules, "workers": 1}, admin=True)
    body = {"rule": "rule-7", "key": "whoever"}

    def answered(seconds):
        count, until = 0, time.monotonic() + seconds
        with server.http() as http:
            request = http.request("POST", "/v1/check", body) * 50
            while time.monotonic() < until:
                http.send(request)
                for _ in range(50):
                    assert http.response().status == 200
                count += 50
        return count

    stop = threading.Event()
    looks = []

    def look():
        while not stop.wait(0.1):
            looks.append(len(scrape(server)))

    answered(0.2)
    alone = answered(1)
    scraper = threading.Thread(target=look)
    scraper.start()
    beside = answered(1)
    stop.set()
    scraper.join(PATIENCE_S)
    assert len(looks) > 2 and min(looks) > 50_000
    assert beside * BOUND > alone, (alone, beside)

"""examples/redis, as it stands but for its addresses: good without a warning, and one limit for all that run with it."""

import itertools

import law
from conftest import tool
from redis_server import RedisServer
from server import ROOT, Server, run_laju
from test_store import wait_for_store

EXAMPLE = ROOT / "examples/redis/laju.yaml"


class Example(Server):
    """A laju with the example's file; doors and Redis are of the test."""

    def __init__(self, redis):
        super().__init__(arguments=["--admin", "off"])
        self.places = {"127.0.0.1:8080": "%s:%d" % self.http_address, "127.0.0.1:6380": "%s:%d" % self.resp_address,
                       "redis://127.0.0.1:6379": redis.url}

    def write_config(self):
        text = EXAMPLE.read_text()
        for place, ours in self.places.items():
            assert text.count(place) == 1
            text = text.replace(place, ours)
        self.config_path.write_text(text)


def login(server, name):
    with server.http() as http:
        return http.get(f"/auth/login?name={name}", headers=["X-Original-Method: POST"])


def test_the_example_is_good():
    done = run_laju("config", "check", EXAMPLE)
    assert (done.returncode, done.stderr) == (0, "") and ": good: 3 rules" in done.stdout


def test_ten_logins_pass_between_two_that_run_with_it():
    tool("redis-server")
    law.keep_clear_of_edge(law.HOUR_S, 30)
    with RedisServer() as redis:
        with Example(redis) as one, Example(redis) as two:
            wait_for_store(one)
            wait_for_store(two)
            nodes = itertools.cycle((one, two))
            assert [login(node, "ada").status for node in itertools.islice(nodes, 14)] == [200] * 10 + [429] * 4
            assert login(two, "grace").status == 200
            redis.kill()
            for node in (one, two):
                refused = login(node, "edith")
                assert refused.status == 429 and refused.header("Retry-After") == "1", "without Redis nobody guesses on"
                with node.http() as http:
                    passed = http.get("/auth/api/orders", headers=["X-User-Id: 7"])
                assert passed.status == 200 and passed.header("X-RateLimit-Source") == "fallback"

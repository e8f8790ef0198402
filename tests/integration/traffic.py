"""Clients under way while a store fails, and the books kept of what they were answered.

Each client asks one laju over one connection, one request behind the other, and judges every answer as it comes: is it what the
rule's `on_store_error` says, in time, and told as what it is? What was admitted is summed up by key, so that it can be compared
afterwards with what the store has charged.
"""

import collections
import itertools
import threading
import time

import law
from conftest import SANITIZED
from server import PATIENCE_S, memory_kib

TIMEOUT_S = 0.2  # of the lajus that must not wait
SLACK_S = 5 if SANITIZED else 1  # a machine with other things to do
FLAT_KIB = 8192
NODES = 3
LIMIT = 10
LOCAL = 9  # a share of 3 each
PLENTY = 20_000
TALLIES = 5  # keys
PAUSE_S = 0.001  # between two requests of a client
KEY_S = 0.05  # how long a key of a small limit is the clients' favourite

LONG = {"per": "365d"}  # nothing flows back while a test runs
RULES = [
    *({"name": f"ten-{a}", "algorithm": a, "limit": LIMIT, **LONG, "on_store_error": "deny"} for a in law.ALGORITHMS),
    *({"name": f"tally-{a}", "algorithm": a, "limit": PLENTY, **LONG} for a in law.ALGORITHMS),
    {"name": "pair", "algorithm": "token-bucket", "limit": LIMIT, **LONG, "on_store_error": "deny"},
    {"name": "twin", "algorithm": "fixed-window", "limit": PLENTY, **LONG},
    {"name": "here", "algorithm": "fixed-window", "limit": PLENTY, **LONG, "mode": "embedded"},
    {"name": "local", "algorithm": "token-bucket", "limit": LOCAL, **LONG, "on_store_error": "local"},
]
CAPACITY = {rule["name"]: rule["limit"] for rule in RULES}


def settings(url, *, timeout_s=TIMEOUT_S, **store):
    store = {"redis": url, "timeout": f"{round(timeout_s * 1000)}ms", "nodes": NODES, "deny_cache": False, **store}
    return {"store": store, "rules": RULES, "workers": 1, "memory": "4MiB"}


def used(server, checks):
    """What the store has charged for each of these, as it tells this laju."""
    charged = {}
    deadline = time.monotonic() + PATIENCE_S
    with server.http() as http:
        for check in checks:
            while "source" in (answer := http.check(*check, 0)).json:  # a peek costs nothing: it can be asked again
                assert time.monotonic() < deadline, answer
            charged[check] = CAPACITY[check[0]] - answer.json["remaining"]
    return charged


Answer = collections.namedtuple("Answer", "began ended checks status allowed fallback")


class Client(threading.Thread):
    """Asks one laju until it is told to stop. `failure` is what went wrong, if anything did."""

    def __init__(self, server, key, timeout_s, number):
        super().__init__(daemon=True)
        self.server, self.key, self.timeout_s, self.number = server, key, timeout_s, number
        self.answers, self.failure = [], None
        self.over = threading.Event()

    def run(self):
        try:
            with self.server.http() as http:
                for turn in itertools.count(self.number):
                    if self.over.is_set():
                        return
                    self.ask(http, self.checks(turn))
                    time.sleep(PAUSE_S)
        except BaseException as failure:
            self.failure = failure

    def checks(self, turn):
        """The next request: rules and keys. All clients use the same ones at the same time."""
        algorithm = law.ALGORITHMS[turn // 5 % len(law.ALGORITHMS)]
        scarce = f"{self.key}-{int(time.monotonic() / KEY_S)}"
        return [
            [(f"tally-{algorithm}", f"{self.key}-{turn // 25 % TALLIES}")],
            [(f"ten-{algorithm}", scarce)],
            [("pair", scarce), ("twin", scarce)],
            [("here", f"{self.key}-here"), (f"ten-{algorithm}", scarce)],
            [("local", scarce)],
        ][turn % 5]

    def ask(self, http, checks):
        began = time.monotonic()
        answer = http.post("/v1/check", {"checks": [{"rule": rule, "key": key} for rule, key in checks]})
        ended = time.monotonic()
        assert ended - began < self.timeout_s + SLACK_S, f"{ended - began:.3f} s: {answer}"
        self.answers.append(self.judge(began, ended, checks, answer))

    @staticmethod
    def judge(began, ended, checks, answer):
        body = answer.json
        decisions = body.get("decisions", [body])
        sources = {d["rule"]: d.get("source") for d in decisions}
        fallback = "fallback" in sources.values()
        assert answer.header("X-RateLimit-Source") == ("fallback" if fallback else None), answer
        assert body["allowed"] is (answer.status == 200), answer
        assert all(sources[rule] in (None, "fallback", "unasked") for rule, _ in checks), answer
        if not fallback:
            assert answer.status in (200, 429), answer
        elif len(checks) > 1 or checks[0][0].startswith("ten"):  # `deny` refuses, whatever the others say
            assert answer.status == 503 and answer.header("Retry-After") == "1", answer
        elif checks[0][0] == "local":
            assert answer.status in (200, 429) and body["limit"] == LOCAL // NODES, answer
        else:
            assert answer.status == 200, answer
        return Answer(began, ended, checks, answer.status, body["allowed"], fallback)


class Traffic:
    """Clients at all of `servers`: pairs of a Server and its timeout in s. Ended, it has judged what always holds."""

    def __init__(self, servers, key, each=2):
        self.servers = servers
        self.clients = [Client(server, key, timeout_s, number)
                        for number, (server, timeout_s) in enumerate(list(servers) * each)]

    def __enter__(self):
        self.memory = [memory_kib(server.process.pid) for server, _ in self.servers]
        for client in self.clients:
            client.start()
        self.wait_until_exact()
        return self

    def __exit__(self, kind, value, trace):
        for client in self.clients:
            client.over.set()
        for client in self.clients:
            client.join()
        if kind is None:
            self.check_clients()
            self.check_memory()
            self.check_local_shares()

    def check_clients(self):
        failures = [client.failure for client in self.clients if client.failure is not None]
        assert not failures, failures

    def check_memory(self):
        for (server, _), before in zip(self.servers, self.memory):
            assert SANITIZED or memory_kib(server.process.pid) < before + FLAT_KIB, "memory grows"

    def check_local_shares(self):
        """Without the store no laju admits more than its share."""
        admitted = collections.Counter((client.server, answer.checks[0][1]) for client in self.clients
                                       for answer in client.answers
                                       if answer.checks[0][0] == "local" and answer.fallback and answer.allowed)
        assert all(count <= LOCAL // NODES for count in admitted.values()), admitted

    # ---- how it goes ----

    def let_pass(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.check_clients()
            time.sleep(0.02)

    def wait_until_exact(self, since=None, quiet_s=0.1):
        """Until everybody was answered by the store for a while. From `since` on it takes a second at most until it is so."""
        begun = time.monotonic()
        for client in self.clients:
            while not self.is_exact(client, begun, quiet_s):
                self.check_clients()
                assert time.monotonic() - begun < PATIENCE_S, client.server.log()
                time.sleep(0.005)
        last = max((a.began for a in self.answers() if a.fallback), default=0)
        assert since is None or last - since < 1 + SLACK_S, f"exact again after {last - since:.3f} s"

    @staticmethod
    def is_exact(client, begun, quiet_s):
        for answer in reversed(client.answers):
            if answer.fallback or answer.began < begun:
                return False
            if client.answers[-1].began - answer.began > quiet_s:
                return True
        return False

    def wait_for_fallback(self):
        """Until all of those that must not wait do without the store."""
        begun = time.monotonic()
        for client in (client for client in self.clients if client.timeout_s == TIMEOUT_S):
            while not any(a.fallback and a.began > begun for a in client.answers[-5:]):
                self.check_clients()
                assert time.monotonic() - begun < PATIENCE_S, "nothing has failed"
                time.sleep(0.005)

    # ---- the books ----

    def answers(self):
        return [answer for client in self.clients for answer in list(client.answers)]

    def book(self, since=0, until=float("inf")):
        """What was admitted by the store, and what it was asked without an answer, by rule and key; of all that was under way
        at some time between the two."""
        admitted, unknown = collections.Counter(), collections.Counter()
        for answer in self.answers():
            if answer.ended < since or answer.began > until or not (answer.allowed or answer.fallback):
                continue
            for check in answer.checks:
                (unknown if answer.fallback else admitted)[check] += 1
        return admitted, unknown

    def assert_books(self, server, since=0, until=0):
        """Of what is limited to a few, the store has admitted no more. Each admission is charged once: not twice, not never.
        What nobody was answered may have been charged. Where the store has lost something, it is what was under way or had
        been answered between `since` and `until`, and is admitted again. `server` is any laju of the store's."""
        admitted, unknown = self.book()
        lost, _ = self.book(since, until)
        charged = used(server, [check for check in {*admitted, *unknown} if check[0] != "here"])
        for check, count in charged.items():
            assert admitted[check] <= CAPACITY[check[0]] + lost[check], check
            assert admitted[check] - lost[check] <= count <= admitted[check] + unknown[check], (check, count)
            if check[0] == "pair":
                assert charged["twin", check[1]] == count, "a request is charged whole or not at all"
        assert any(count == LIMIT for count in charged.values())

    def assert_given_back(self):
        """What the table was charged for requests that the store refused, or did not answer, is given back."""
        for server, _ in self.servers:
            kept = sum(1 for client in self.clients if client.server is server
                       for answer in client.answers if answer.checks[0][0] == "here" and answer.allowed)
            key = next(k for a in self.answers() for r, k in a.checks if r == "here")
            with server.http() as http:
                assert PLENTY - http.peek("here", key) == kept

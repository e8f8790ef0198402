"""The dashboard's page as somebody uses it, and a real laju behind it."""

import contextlib
import itertools
import math
import pathlib
import random
import sys
import threading

from playwright.sync_api import expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from server import Server  # noqa: E402

RULES = [
    {"name": "login", "algorithm": "token-bucket", "limit": 5, "per": "1d", "burst": 10},
    {"name": "api", "limit": 1000, "per": "1h", "key": "header:X-Api-Key"},
    {"name": "quota", "algorithm": "sliding-window-log", "limit": 3, "per": "1h", "shadow": True, "match": "none"},
    {"name": "uploads", "algorithm": "fixed-window", "limit": 4, "per": "1d", "match": "none"},
]


class Laju(Server):
    """One with an admin door."""

    def __init__(self, **settings):
        super().__init__({"rules": RULES, "memory": "16MiB", **settings}, admin=True)

    @property
    def page_url(self):
        return "http://%s:%d/" % self.admin_address

    def checks(self, rule, key, count):
        """So many requests with one check each; how many were admitted."""
        with self.http() as http:
            return sum(http.check(rule, key).status == 200 for _ in range(count))


SCENE = [
    {"name": "login", "algorithm": "token-bucket", "limit": 300, "per": "1m", "burst": 60},
    {"name": "api", "limit": 900, "per": "10s", "mode": "exact"},
    {"name": "search", "algorithm": "leaky-bucket", "limit": 12, "per": "1s", "burst": 12, "mode": "embedded"},
    {"name": "uploads", "algorithm": "fixed-window", "limit": 40, "per": "10s", "mode": "exact", "on_store_error": "local"},
    {"name": "new-quota", "algorithm": "sliding-window-log", "limit": 200, "per": "10s", "shadow": True},
]
ASKED = [("login", ["203.0.113.77"], 14), ("api", ["k-4711", "k-1138", "k-42"], 160), ("search", ["198.51.100.4", "2001:db8:1:2::/64"], 26),
         ("uploads", ["ada", "grace", "alan"], 9), ("new-quota", ["192.0.2.9"], 22)]


@contextlib.contextmanager
def traffic(laju):
    """Requests for the rules of SCENE, more and fewer as time goes, until it is left."""
    over = threading.Event()

    def send():
        dice = random.Random(5)
        with laju.http() as http:
            for turn in itertools.count():
                for rule, keys, rate in ASKED:
                    busy = 1 + 0.4 * math.sin(turn / 40 + len(rule)) + (5 if rule == "login" and 60 < turn % 160 < 110 else 0)
                    for _ in range(int(rate * busy / 4 + dice.random())):
                        http.check(rule, keys[int(len(keys) * dice.random() ** 2)])
                if over.wait(0.2):
                    return

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Dashboard:
    def __init__(self, page, laju):
        self.page = page
        self.url = laju.page_url
        # A stream ends with its page, and what laju refuses is told in the console.
        page.watch.expected = [self.url + "v1/events"]

    def expect_failures(self, *paths):
        self.page.watch.expected += [self.url + path for path in paths]

    def open(self, address=""):
        self.page.goto(self.url + address)
        return self

    def open_live(self, address=""):
        self.open(address)
        self.expect_hearing("live")
        expect(self.page.locator("[data-rule]").first).to_be_visible()
        return self

    # ---- doing ----

    def do(self, name):
        self.page.locator(f"[data-do={name}]").click()

    def look_up(self, rule, key):
        self.page.locator("#field-lookup-rule").select_option(rule)
        self.page.locator("#field-lookup-key").fill(key)
        self.do("look-up")
        return self.watched(key)

    def open_override(self, card, **fields):
        card.locator("[data-do=override]").click()
        return self.fill_override(card, **fields)

    def fill_override(self, card, **fields):
        for name, value in fields.items():
            card.locator(f"input[name$=-{name}]").fill(str(value))
        card.locator("[data-do=override-set]").click()

    # ---- looking ----

    def expect_hearing(self, how):
        expect(self.page.locator(".boardhead .state")).to_have_attribute("data-state", how)

    def expect_sums(self, admitted, refused):
        expect(self.sum("admitted")).to_have_text(f"{admitted} since the start")
        expect(self.sum("refused")).to_have_text(f"{refused} since the start")

    def expect_rule(self, rule, **counts):
        for name, text in counts.items():
            expect(self.page.locator(f"[data-rule={rule}] [data-rule-count={name}]")).to_have_text(text)

    def sum(self, name):
        return self.page.locator(f"[data-sum={name}]")

    def rate(self, name):
        return self.page.locator(f"[data-rate={name}]")

    def watched(self, key):
        return self.page.locator(f".watched[data-key='{key}']")

    def top(self, key):
        return self.page.locator(f"[data-top='{key}']")

    def override(self, key):
        return self.page.locator(f"[data-override='{key}']")

    def fact(self, name):
        return self.page.locator(f"[data-fact={name}]")

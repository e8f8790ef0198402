"""The dashboard's page as somebody uses it, and a real laju behind it."""

import pathlib
import sys

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

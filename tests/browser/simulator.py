"""The simulator's page as somebody uses it: by its buttons, fields and texts. And what the oracle says of the same requests."""

import bisect
import pathlib
import re
import sys
import urllib.parse

from playwright.sync_api import expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vectors"))
from oracle import Limiter  # noqa: E402

# In the order of the page's lanes.
ALGORITHMS = ["token-bucket", "leaky-bucket", "fixed-window", "sliding-window-counter", "sliding-window-log"]
BUCKETS = ("token-bucket", "leaky-bucket")
LOCAL = len(ALGORITHMS)  # the lane of limiters that each pod has for itself
UNITS_US = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}

TELL = """why => {
    const answers = [...why.querySelectorAll('[data-answer]')].map(e => [e.dataset.answer, Number(e.dataset.value)]);
    const sides = why.querySelector('.sides');
    return {...Object.fromEntries(answers), request: Number(why.dataset.request), pod: Number(why.dataset.pod),
      allowed: why.querySelector('.verdict').classList.contains('yes'),
      left: sides && Number(sides.dataset.left), right: sides && Number(sides.dataset.right)};
}"""


def duration_us(text):
    number, unit = re.fullmatch(r"(\d+)([a-z]+)", text).groups()
    return int(number) * UNITS_US[unit]


def digits(text):
    """The number in a text such as `1,234 bytes`."""
    return int(re.sub(r"\D", "", text))


class Simulator:
    def __init__(self, page, site):
        self.page = page
        self.site = site

    def open(self, **settings):
        """At an address that sets these."""
        query = urllib.parse.urlencode(settings)
        self.page.goto(f"{self.site}#/simulator?{query}")
        self.page.locator(".playback").wait_for()
        return self

    # ---- doing ----

    def do(self, name):
        self.page.locator(f"[data-do={name}]").click()

    def choose_tab(self, name):
        self.page.locator(f"#tab-{name}").click()

    def fill(self, field, text):
        self.page.locator(f"#field-{field}").fill(str(text))

    def select(self, field, value):
        self.page.locator(f"#field-{field}").select_option(str(value))

    def ahead(self):
        """Ten periods ahead, and there."""
        goal = self.now_us + 10 * duration_us(self.setting("per"))
        self.do("ahead")
        self.expect_now(goal)

    # ---- looking ----

    @property
    def clock(self):
        return self.page.locator("output.time")

    @property
    def now_us(self):
        return int(self.clock.get_attribute("data-time"))

    def expect_now(self, us):
        expect(self.clock).to_have_attribute("data-time", str(us))

    def lane(self, lane):
        return self.page.locator(f"[data-lane='{lane}']")

    def count(self, lane, what):
        return digits(self.lane(lane).locator(f"[data-count={what}]").inner_text())

    def totals(self, lane):
        return {what: self.count(lane, what) for what in ("admitted", "refused", "worst")}

    def expect_requests(self, lane, count):
        """Waits until so many have come."""
        expect(self.timeline(lane)).to_have_attribute("aria-valuemax", str(count))

    def timeline(self, lane):
        return self.page.locator(f"[data-timeline='{lane}']")

    def setting(self, name):
        """As the address has it; as the page has it by default where the address says nothing."""
        fields = {"per": "#field-per", "limit": "#field-limit"}
        return self.query.get(name) or self.page.locator(fields[name]).input_value()

    @property
    def query(self):
        _, _, query = self.page.evaluate("location.hash").partition("?")
        return dict(urllib.parse.parse_qsl(query))

    def times_us(self):
        """The times of all requests so far, as the page gives them to take along."""
        with self.page.expect_download() as download:
            self.do("times")
        text = pathlib.Path(download.value.path()).read_text()
        return [int(line.replace(".", "")) for line in text.split()]

    def walk(self, lane):
        """`Why` of each request of a lane that is kept, from the first on, by the timeline's keys."""
        return self.page.evaluate("""async lane => {
            const timeline = document.querySelector(`[data-timeline='${lane}']`);
            const press = key => timeline.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
            const drawn = () => new Promise(requestAnimationFrame); // the page's own frame was asked for before
            const told = [];
            for (let key = 'Home'; told.length < Number(timeline.ariaValueMax); key = 'ArrowRight') {
              press(key);
              await drawn();
              told.push((TELL)(document.querySelector('.why')));
            }
            return told;
        }""".replace("TELL", TELL), lane)

    def why(self):
        """What `Why` says of the request that is chosen now: the decision's numbers, and both sides of its formula."""
        why = self.page.locator(".why")
        why.wait_for()
        return why.evaluate(TELL)


# ---- what must come out ----


def oracle(algorithm, *, limit, per, burst=None, **_):
    rule = {"algorithm": algorithm, "limit": int(limit), "period_us": duration_us(per)}
    if algorithm in BUCKETS and burst is not None:
        rule["burst"] = int(burst)
    return Limiter(rule)


def worst(times_us, period_us, cost=1):
    """The most tokens in any window (t - period, t]: by looking at each that ends with an admission."""
    held = (bisect.bisect_right(times_us, t) - bisect.bisect_right(times_us, t - period_us) for t in times_us)
    return cost * max(held, default=0)


def decisions(algorithm, times_us, *, cost=1, **rule):
    limiter = oracle(algorithm, **rule)
    return [limiter.check(t, int(cost)) for t in times_us]


def expected_totals(algorithm, times_us, *, cost=1, **rule):
    """What a lane must show for these requests."""
    decided = decisions(algorithm, times_us, cost=cost, **rule)
    tick = oracle(algorithm, **rule).tick
    admitted = [t // tick * tick for t, decision in zip(times_us, decided) if decision["allowed"]]
    return {"admitted": len(admitted), "refused": len(times_us) - len(admitted),
            "worst": worst(admitted, duration_us(rule["per"]), int(cost))}

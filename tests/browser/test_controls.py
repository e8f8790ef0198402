"""Every control of the simulator does what it says."""

import re

import pytest
from playwright.sync_api import expect

from conftest import PHONE
from simulator import ALGORITHMS, LOCAL

TABS = [*ALGORITHMS, "compare", "pods"]


def left(page):
    return page.page.locator("[data-now=remaining]")


def test_the_rules_numbers_are_taken_as_they_are_typed(simulator):
    page = simulator(algorithm="token-bucket", traffic="none")
    expect(left(page)).to_have_text("10 / 10")
    page.fill("limit", 5)
    expect(left(page)).to_have_text("5 / 5")  # the burst was the limit, and stays so
    page.fill("burst", 8)
    expect(left(page)).to_have_text("8 / 8")
    page.fill("cost", 3)
    page.do("one")
    expect(left(page)).to_have_text("5 / 8")
    page.fill("per", "1m")
    expect(left(page)).to_have_text("8 / 8")  # a run of its own
    page.do("spike")
    expect(left(page)).to_have_text("2 / 8")
    expect(page.page.locator("[data-now=more]")).to_have_text("12 s")
    expect(page.page.locator("[data-now=reset]")).to_have_text("1 min 12 s")
    assert {name: page.query[name] for name in ("limit", "burst", "cost", "per")} == \
        {"limit": "5", "burst": "8", "cost": "3", "per": "1m"}
    page.choose_tab("fixed-window")
    expect(page.page.locator("#field-burst")).to_be_disabled()  # a window has none
    expect(page.page.locator(".about")).to_contain_text("5 in every 1m")


BAD = [("limit", "65537", "0 to 65,536"), ("limit", "-1", "0 to 65,536"), ("limit", "1.5", "A whole number"), ("limit", "", "A whole"),
       ("burst", "0", "1 to 65,536"), ("cost", "x", "A whole number"), ("rate", "0", "0.001 to 1,000"), ("rate", "1001", "A number"),
       ("seed", "4294967296", "0 to 4,294,967,295"), ("pods", "17", "1 to 16"), ("per", "10", "a unit"), ("per", "0s", "1ms to 366d"),
       ("per", "367d", "1ms to 366d"), ("per", "1048577ms", "The nearest that works: 1048576ms")]


def test_what_cannot_be_taken_is_said_beside_its_field_and_changes_nothing(simulator):
    page = simulator(show="pods", algorithm="token-bucket", traffic="bot", limit=10, per="10s", burst=10, cost=1, rate=2, pods=4, seed=1, speed=1)
    page.do("spike")
    page.expect_requests(LOCAL, 15)
    before = page.query
    good = {"limit": 10, "burst": 10, "cost": 1, "rate": 2, "seed": 1, "pods": 4, "per": "10s"}
    for field, text, message in BAD:
        page.fill(field, text)
        expect(page.page.locator(f"#error-{field}")).to_contain_text(message)
        expect(page.page.locator(f"#field-{field}")).to_have_attribute("aria-invalid", "true")
        page.fill(field, good[field])
        expect(page.page.locator(f"#error-{field}")).to_be_empty()
    assert page.query == before
    page.expect_requests(LOCAL, 15)  # the same run still


def test_one_fifteen_a_step_and_a_restart(simulator):
    page = simulator(algorithm="sliding-window-log", limit=20, per="10s", traffic="steady", rate=2)
    page.do("one")
    page.expect_requests(4, 1)
    page.do("spike")
    page.expect_requests(4, 16)
    page.do("step")  # on to the next request by itself
    page.expect_now(500_000)
    page.expect_requests(4, 17)
    page.do("step")
    page.expect_now(1_000_000)
    assert page.totals(4) == {"admitted": 18, "refused": 0, "worst": 18}
    page.do("restart")
    page.expect_now(0)
    assert page.totals(4) == {"admitted": 0, "refused": 0, "worst": 0}


PACE = """async () => {
    const now = () => Number(document.querySelector('output.time').dataset.time);
    const [real, virtual] = [performance.now(), now()];
    await new Promise(resolve => setTimeout(resolve, 350));
    return (now() - virtual) / 1000 / (performance.now() - real);
}"""


def test_time_plays_stands_goes_slowly_and_fast(simulator):
    page = simulator({"still": False}, algorithm="token-bucket", traffic="steady", rate=10, speed=10)
    pace = lambda: page.page.evaluate(PACE)  # noqa: E731
    assert pace() > 1  # ten, less what a busy machine's frames leave out
    page.do("slow")
    expect(page.page.locator("#field-speed")).to_be_disabled()
    assert 0 < pace() < 0.5  # a tenth, told ten times a second
    page.do("slow")
    page.do("play")
    expect(page.page.locator("[data-do=play]")).to_have_text("Play")
    assert pace() == 0
    page.select("speed", 1000)
    assert page.query["speed"] == "1000"
    page.do("play")
    expect(page.page.locator("[data-do=play]")).to_have_text("Pause")
    assert pace() > 10
    before = page.now_us
    page.do("ahead")
    page.page.wait_for_function("before => Number(document.querySelector('output.time').dataset.time) >= before + 1e8", arg=before)


FIELDS = {"none": set(), "steady": {"rate"}, "poisson": {"rate", "seed"}, "bot": {"rate", "seed", "pods"}, "edge": set()}


def test_each_kind_of_traffic_comes_as_its_name_says(simulator):
    page = simulator(algorithm="token-bucket", limit=10, per="10s", rate=2, seed=5)
    times = {}
    for kind, fields in FIELDS.items():
        page.select("traffic", kind)
        assert page.query["traffic"] == kind
        for field in ("rate", "seed", "pods"):
            expect(page.page.locator(f"#field-{field}")).to_be_visible(visible=field in fields)
        page.ahead()
        times[kind] = page.times_us()
    assert times["none"] == []
    assert times["steady"] == [500_000 * i for i in range(1, 201)]
    assert 130 < len(times["poisson"]) < 280
    gaps = [b - a for a, b in zip(times["bot"], times["bot"][1:])]
    assert sum(gap <= 50_000 for gap in gaps) > len(gaps) / 2  # sprees at ten times the rate
    before, after = times["edge"][:10], times["edge"][10:20]
    assert before[0] >= 9_800_000 and before[-1] < 10_000_000 <= after[0] and after[-1] < 10_200_000


def test_a_link_replays_a_run(simulator):
    page = simulator(show="compare", algorithm="leaky-bucket", traffic="poisson", limit=7, per="1m", burst=9, rate=0.7, seed=42)
    page.ahead()
    link, times = page.page.evaluate("location.href"), page.times_us()
    assert len(times) > 300
    again = simulator(**page.query)
    assert again.page.evaluate("location.href") == link
    again.ahead()
    assert again.times_us() == times
    assert [again.totals(lane) for lane in range(LOCAL)] == [page.totals(lane) for lane in range(LOCAL)]
    again.fill("seed", 43)
    again.ahead()
    assert again.times_us() != times
    again.page.evaluate("link => { location.href = link }", link)  # the page is there already
    again.expect_now(0)
    again.ahead()
    assert again.times_us() == times


def test_an_address_of_nonsense_gives_the_page_as_by_default(simulator):
    page = simulator(show="x", algorithm="<b>", limit="1e9", per="1048577ms", cost="-3", traffic="own", rate="NaN", pods="0", seed="", speed=3)
    expect(page.page.locator("#tab-token-bucket")).to_have_attribute("aria-selected", "true")
    expect(left(page)).to_have_text("10 / 10")
    expect(page.page.locator("#field-per")).to_have_value("1048576ms")  # the nearest that the law takes
    page.do("one")
    page.expect_requests(0, 1)


PICTURE = "() => document.querySelector('.stage canvas').toDataURL()"


def test_each_algorithm_shows_its_own_state_moving(simulator):
    page = simulator(algorithm="token-bucket", limit=10, per="10s", traffic="none")
    pictures = []
    for tab in ALGORITHMS:
        page.choose_tab(tab)
        name = page.page.locator(f"#tab-{tab}").inner_text()
        expect(page.page.locator("#panel-title")).to_have_text(name)
        expect(page.page.locator(".stage canvas")).to_have_attribute("aria-label", f"{name}: 10 of 10 left")
        page.page.evaluate("() => new Promise(requestAnimationFrame)")
        pictures.append(page.page.evaluate(PICTURE))
        page.do("spike")
        expect(left(page)).to_have_text("0 / 10")
        pictures.append(page.page.evaluate(PICTURE))
        page.do("step")
        page.expect_now(500_000)
        pictures.append(page.page.evaluate(PICTURE))
        page.do("restart")
        page.expect_now(0)
    assert len(set(pictures)) == 3 * len(ALGORITHMS)


def test_each_tab_shows_its_lanes(simulator):
    page = simulator({"size": PHONE}, traffic="none")
    lanes = {tab: [str(i)] for i, tab in enumerate(ALGORITHMS)} | {"compare": list("01234"), "pods": [str(LOCAL), "4"]}
    for tab in TABS:
        page.choose_tab(tab)
        expect(page.page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")
        expect(page.page.locator("#tab-token-bucket")).to_have_attribute("aria-selected", str(tab == "token-bucket").lower())
        assert [lane.get_attribute("data-lane") for lane in page.page.locator("[data-lane]").all()] == lanes[tab]
    assert page.query["traffic"] == "bot"  # what many pods are about


def test_pods_are_as_many_as_asked_for_and_of_the_algorithm_chosen(simulator):
    page = simulator(show="pods", traffic="bot", pods=3, limit=4, burst=4, algorithm="token-bucket")
    expect(page.page.locator(".pods li")).to_have_count(3)
    page.fill("pods", 6)
    expect(page.page.locator(".pods li")).to_have_count(6)
    page.do("spike")
    page.expect_requests(LOCAL, 15)
    assert page.count(0, "admitted") == 4
    assert page.count(LOCAL, "admitted") > 4
    page.select("algorithm", "fixed-window")
    expect(page.lane(2)).to_be_visible()
    assert page.query["algorithm"] == "fixed-window"


@pytest.mark.parametrize("algorithm", ["fixed-window", "sliding-window-log"])
def test_the_boundary_burst_is_shown_beside_the_other_four(simulator, picture, algorithm):
    page = simulator({"still": False, "size": {"width": 1320, "height": 1010}}, algorithm=algorithm, limit=10, per="10s", speed=10)
    page.do("boundary")
    own = ALGORITHMS.index(algorithm)
    page.expect_requests(2, 20)
    shown = [int(lane.get_attribute("data-lane")) for lane in page.page.locator("[data-lane]").all()]
    assert shown == [own] + [lane for lane in range(LOCAL) if lane != own]
    expect(page.page.locator(".trend canvas")).to_be_visible()
    assert page.count(2, "worst") == 20
    assert page.count(4, "worst") == 10
    expect(page.page.locator("[data-burst]")).to_have_text(re.compile(r"^The fixed window let 20 through in \d+ ms, though the limit is 10 in 10s. The sliding log let 10.$"))
    if algorithm == "fixed-window":
        picture.after(0.4)
        page.do("play")
        picture(page.page, "simulator-wide-light", top=".tabs")

"""What the page counts is what the oracle counts, for the very times at which the page's requests came."""

import pytest

from simulator import ALGORITHMS, LOCAL, decisions, digits, expected_totals, oracle, worst

RUNS = {
    "steady": {"limit": 10, "per": "10s", "burst": 4, "cost": 1, "traffic": "steady", "rate": 1.3},
    "poisson": {"limit": 10, "per": "10s", "burst": 10, "cost": 1, "traffic": "poisson", "rate": 1.8, "seed": 1},
    "costly": {"limit": 12, "per": "1m", "burst": 12, "cost": 5, "traffic": "poisson", "rate": 0.4, "seed": 3},
    "bot": {"limit": 7, "per": "1s", "burst": 9, "cost": 1, "traffic": "bot", "rate": 12, "pods": 3, "seed": 11},
    "edge": {"limit": 10, "per": "10s", "burst": 10, "cost": 1, "traffic": "edge"},
    "nothing allowed": {"limit": 0, "per": "10s", "cost": 1, "traffic": "steady", "rate": 1},
    "never enough": {"limit": 3, "per": "10s", "burst": 3, "cost": 4, "traffic": "steady", "rate": 1},
    "a day": {"limit": 50, "per": "1d", "burst": 50, "cost": 1, "traffic": "poisson", "rate": 0.002, "seed": 5},
}


def expect_law(simulator, settings):
    times = simulator.times_us()
    assert len(times) > 5
    for lane, algorithm in enumerate(ALGORITHMS):
        assert simulator.totals(lane) == expected_totals(algorithm, times, **settings), algorithm
    return times


@pytest.mark.parametrize("name", RUNS)
def test_all_five_totals_are_the_oracles(simulator, picture, name):
    settings = RUNS[name]
    page = simulator({"color_scheme": "dark", "size": {"width": 1080, "height": 900}}, show="compare", **settings)
    page.ahead()
    expect_law(page, settings)
    if name == "poisson":
        picture(page.page, "simulator-compare-dark", part=".card:has(> .lanes)")


def test_requests_by_hand_are_counted_too(simulator):
    settings = {"limit": 10, "per": "10s", "burst": 5, "cost": 2, "traffic": "none"}
    page = simulator(show="compare", **settings)
    page.do("one")
    page.do("spike")
    for _ in range(3):  # a twentieth of a period each
        page.do("step")
    page.do("spike")
    page.expect_requests(0, 31)
    times = expect_law(page, settings)
    assert times == [0] * 16 + [1_500_000] * 15


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_why_tells_each_decision_with_the_oracles_numbers(simulator, algorithm):
    settings = {"limit": 6, "per": "10s", "burst": 4, "cost": 2, "traffic": "poisson", "rate": 0.5, "seed": 4}
    page = simulator(show="one", algorithm=algorithm, **settings)
    page.ahead()
    times = page.times_us()
    told = page.walk(ALGORITHMS.index(algorithm))
    assert len(told) == len(times) > 20
    for number, (why, decision) in enumerate(zip(told, decisions(algorithm, times, **settings)), 1):
        assert why["request"] == number
        assert why["allowed"] == decision["allowed"] == (why["left"] <= why["right"])
        expected = {"remaining": decision["remaining"], "moreAfterUs": decision["more_after_us"],
                    "resetAfterUs": decision["reset_after_us"]}
        if not decision["allowed"]:
            expected["retryAfterUs"] = decision["retry_after_us"]
        if decision["delay_us"]:
            expected["delayUs"] = decision["delay_us"]
        assert {name: value for name, value in why.items() if name in expected} == expected, number
    assert {why["allowed"] for why in told} == {True, False}


def test_why_fills_the_formula_with_what_the_law_found(simulator):
    page = simulator(algorithm="token-bucket", limit=10, per="10s", burst=3, traffic="none")
    page.do("spike")
    page.expect_requests(0, 15)
    first, *_, last = page.walk(0)
    # 10 s are a million ticks of 10 us, and a token is a million units.
    assert (first["left"], first["right"]) == (1_000_000, 3_000_000)
    assert (last["left"], last["right"]) == (4_000_000, 3_000_000)
    why = page.page.locator(".why")
    assert why.locator(".symbols").inner_text() == "used + n × P ≤ B × P"
    assert why.locator(".filled").inner_text().replace("\u2009", "") == "3000000 + 1 × 1000000 ≤ 3 × 1000000"


def test_a_cost_of_nothing_and_one_that_is_never_there_have_no_formula(simulator):
    for cost, text in ((0, "only looks"), (11, "waiting does not help")):
        page = simulator(algorithm="fixed-window", limit=10, traffic="none", cost=cost)
        page.do("one")
        page.expect_requests(2, 1)
        why, = page.walk(2)
        assert why["allowed"] == (cost == 0)
        assert why.get("retryAfterUs", -1) == -1
        assert text in page.page.locator(".why .formula").inner_text()


def test_the_leaky_buckets_requests_leave_evenly(simulator):
    settings = {"limit": 10, "per": "10s", "burst": 10, "traffic": "none"}
    page = simulator(algorithm="leaky-bucket", **settings)
    page.do("spike")
    page.expect_requests(1, 15)
    told = page.walk(1)
    assert [why.get("delayUs", 0) for why in told if why["allowed"]] == [second * 1_000_000 for second in range(10)]
    leaves = [why.get("delayUs", 0) for why in told if why["allowed"]]
    assert digits(page.lane(1).locator("[data-count=leaving]").inner_text()) == worst(leaves, 10_000_000) == 10


def test_the_fixed_window_admits_the_limit_twice_around_its_edge_and_the_log_never_does(simulator):
    settings = {"limit": 10, "per": "10s", "burst": 10, "cost": 1}
    page = simulator({"still": False}, algorithm="fixed-window", speed=10, **settings)
    page.do("boundary")
    page.expect_requests(2, 20)
    page.do("play")
    times = page.times_us()
    assert len(times) == 20
    assert times[-1] - times[0] < 400_000
    assert {lane: page.totals(lane)["admitted"] for lane in range(LOCAL)} == {0: 10, 1: 10, 2: 20, 3: 10, 4: 10}
    for lane, algorithm in enumerate(ALGORITHMS):
        assert page.totals(lane) == expected_totals(algorithm, times, **settings)
        assert page.lane(lane).locator(".over").count() == (algorithm == "fixed-window")


def test_no_window_holds_more_than_the_limit_on_the_log(simulator):
    settings = {"limit": 9, "per": "1m", "burst": 9, "traffic": "poisson", "rate": 3, "seed": 2}
    page = simulator(show="compare", **settings)
    page.ahead()
    times = page.times_us()
    admitted = [t for t, d in zip(times, decisions("sliding-window-log", times, **settings)) if d["allowed"]]
    assert len(admitted) > 9 * 8
    assert page.totals(4) == {"admitted": len(admitted), "refused": len(times) - len(admitted), "worst": 9}


def test_a_keys_memory_is_told(simulator):
    page = simulator(show="compare", limit=40, per="10s", burst=40, traffic="none")
    for _ in range(3):
        page.do("spike")
    page.expect_requests(0, 45)
    assert [page.count(lane, "memory") for lane in range(4)] == [16] * 4
    assert page.count(4, "memory") == 16 + 8 * 64  # forty stamps, in a ring that doubles from eight


@pytest.mark.parametrize("algorithm", ["token-bucket", "sliding-window-log"])
def test_local_limiters_leak_and_a_shared_one_does_not(simulator, algorithm):
    settings = {"limit": 1, "per": "1s", "burst": 1, "cost": 1, "traffic": "bot", "rate": 6, "pods": 4, "seed": 9}
    page = simulator(show="pods", algorithm=algorithm, **settings)
    page.ahead()
    times = page.times_us()
    pods = [why["pod"] for why in page.walk(LOCAL)]
    assert set(pods) == {1, 2, 3, 4}
    limiters = {pod: oracle(algorithm, **settings) for pod in pods}
    local = sum(limiters[pod].check(t, 1)["allowed"] for t, pod in zip(times, pods))
    shared = expected_totals(algorithm, times, **settings)["admitted"]
    assert page.count(LOCAL, "admitted") == local
    assert page.count(ALGORITHMS.index(algorithm), "admitted") == shared
    assert local > 1.5 * shared
    headline = page.page.locator("[data-leak]").inner_text()
    assert headline == f"The 4 pods let {local} through; one shared limit lets {shared} through."

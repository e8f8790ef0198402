"""The dashboard in a browser, before a real laju: what it shows is what was sent, and what it does is done."""

import re

import pytest
from playwright.sync_api import expect

from conftest import PHONE, WIDE, need_page
from dashboard import RULES, SCENE, Dashboard, Laju, traffic
from redis_server import RedisServer

TOKEN = "correct horse battery staple, twice"
NOT_ZERO = re.compile(r"[1-9]")


@pytest.fixture(scope="module")
def laju():
    """One that most tests share; each asks for keys of its own."""
    with Laju() as server:
        need_page(server)
        yield server


@pytest.fixture
def serve(laju):
    """serve(token=..., ...): a laju of the test's own."""
    servers = []

    def start(**settings):
        servers.append(Laju(**settings))
        return servers[-1].start()

    yield start
    for server in servers:
        server.kill()


@pytest.fixture
def dashboard(open_page):
    """dashboard(laju, size=PHONE, ...): a page at a laju's address, not yet opened."""

    def start(laju, **options):
        return Dashboard(open_page(of=laju.page_url, **options), laju)

    return start


# ---- what is shown ----


def test_its_numbers_are_what_was_sent(serve, dashboard):
    laju = serve()
    board = dashboard(laju, size={"width": 1440, "height": 400}).open_live()  # who is refused is out of sight, and not asked for
    board.expect_sums("0", "0")
    assert laju.checks("login", "user:42", 30) == 10
    assert laju.checks("quota", "tenant", 5) == 5  # of which two would have been refused
    assert laju.checks("uploads", "ada", 3) == 3
    board.expect_sums("18", "20")
    board.expect_rule("login", admitted="10", refused="20")
    board.expect_rule("uploads", admitted="3", refused="0")
    expect(board.page.locator("[data-rule=quota] .would")).to_contain_text("(2)")
    expect(board.rate("admitted")).to_have_text(NOT_ZERO)
    expect(board.rate("share")).to_have_text("53 %")
    expect(board.fact("p99")).to_contain_text(re.compile(r"[1-9].*(µs|ms)"))
    expect(board.fact("keys")).to_contain_text("3 keys")
    for outcome, count in ("allowed", "18"), ("denied", "20"), ("error", "0"):
        expect(board.page.locator(f"[data-door=http] [data-count={outcome}]")).to_have_text(count)
    board.page.locator(".top").scroll_into_view_if_needed()
    expect(board.top("user:42").locator("[data-count=denied]")).to_have_text("20")
    expect(board.page.locator("[data-top]")).to_have_count(1)  # who is not refused is not there


def test_one_rule_can_be_looked_at_alone(serve, dashboard):
    laju = serve()
    laju.checks("login", "user:1", 12)
    laju.checks("uploads", "user:1", 3)
    board = dashboard(laju).open_live()
    board.expect_sums("13", "2")
    board.page.locator("[data-rule=uploads] button").click()
    expect(board.page.locator("#checks-title")).to_have_text("Checks of uploads")
    board.expect_sums("3", "0")
    expect(board.page.locator("[data-top]")).to_have_count(0)
    assert board.page.url.endswith("#/dashboard?rule=uploads")
    board.page.reload()  # the address holds it
    expect(board.page.locator("#checks-title")).to_have_text("Checks of uploads")
    board.do("all-rules")
    board.expect_sums("13", "2")
    board.page.locator("#field-find-rule").fill("UPL")
    expect(board.page.locator("[data-rule]")).to_have_count(1)
    board.page.locator("#field-find-rule").fill("")
    board.page.locator("#field-order").select_option("busiest")
    laju.checks("uploads", "user:1", 40)
    expect(board.page.locator("[data-rule]").first).to_have_attribute("data-rule", "uploads")


def test_a_secret_key_is_shown_masked(serve, dashboard):
    laju = serve(rules=[*RULES, {"name": "tight", "limit": 1, "per": "1d", "key": "header:X-Api-Key", "match": "none"}])
    laju.checks("tight", "sk-live-0123456789abcdef", 3)
    board = dashboard(laju).open_live()
    board.page.locator(".top").scroll_into_view_if_needed()
    expect(board.page.locator(".top")).to_contain_text("sk-l…")
    card = board.look_up("tight", "sk-live-0123456789abcdef")
    shown = board.page.locator(".watched")
    expect(shown).to_contain_text(re.compile("sk-l….*masked"))
    expect(shown).to_have_attribute("data-remaining", "0")
    expect(card).to_have_count(0)
    assert "0123456789" not in board.page.locator("body").inner_text()


def test_the_arrow_keys_tell_the_charts_numbers(laju, dashboard):
    board = dashboard(laju).open_live()
    laju.checks("login", "walker", 3)
    expect(board.rate("admitted")).to_have_text(NOT_ZERO)
    chart = board.page.locator(".overview [role=slider]")
    expect(chart).to_have_attribute("aria-valuemax", re.compile("[2-9]"))  # seconds
    chart.focus()
    board.page.keyboard.press("End")
    expect(chart).to_have_attribute("aria-valuetext", re.compile(r"^\d\d:\d\d:\d\d · Admitted [\d.]+/s · Refused"))
    expect(board.page.locator(".overview .told")).to_contain_text("Admitted")
    board.page.keyboard.press("Home")
    first = chart.get_attribute("aria-valuetext")
    board.page.keyboard.press("ArrowRight")
    assert chart.get_attribute("aria-valuetext") != first


# ---- keys ----


def test_a_key_is_looked_up_from_the_refused_watched_and_reset(laju, dashboard):
    laju.checks("login", "mallory", 13)
    board = dashboard(laju).open_live()
    board.page.locator(".top").scroll_into_view_if_needed()
    board.top("mallory").locator("button").click()
    card = board.watched("mallory")
    expect(card.locator(".left").first).to_have_text("0 of 10 left")
    card.locator("[data-do=reset]").click()
    expect(card.locator(".question")).to_contain_text("Forget what mallory has used?")
    card.locator("[data-do=reset-no]").click()
    assert laju.check("login", "mallory").status == 429  # nothing is done unasked
    card.locator("[data-do=reset]").click()
    card.locator("[data-do=reset-yes]").click()
    expect(card.locator(".left").first).to_have_text("10 of 10 left")
    expect(card).to_contain_text("Forgotten.")
    assert laju.checks("login", "mallory", 4) == 4
    expect(card.locator(".left").first).to_have_text("6 of 10 left")  # it is watched
    card.locator("[data-do=unwatch]").click()
    expect(card).to_have_count(0)


def test_an_override_is_given_counts_and_is_taken_away(laju, dashboard):
    board = dashboard(laju).open_live()
    card = board.look_up("uploads", "grace")
    board.open_override(card, limit=50, expires="2h")
    expect(card.locator(".in-force")).to_contain_text(re.compile(r"limit 50. Ends in (2 h|1 h 59 min)"))
    expect(card).to_have_attribute("data-limit", "50")
    expect(board.override("grace").locator("[data-count=limit]")).to_have_text("50")
    expect(board.override("grace").locator("[data-count=left]")).to_have_text(re.compile("2 h|1 h 59 min"))
    assert laju.checks("uploads", "grace", 60) == 50
    expect(card).to_have_attribute("data-remaining", "0")
    board.override("grace").locator("[data-do=take-away]").click()
    expect(board.override("grace")).to_have_count(0)
    expect(card).to_have_attribute("data-limit", "4")
    assert laju.check("uploads", "grace").status == 429


def test_an_override_that_ends_is_gone(laju, dashboard):
    board = dashboard(laju).open_live()
    card = board.look_up("login", "hopper")
    board.open_override(card, limit=7, burst=9, expires="1s")
    expect(card).to_have_attribute("data-limit", "9")
    expect(card).to_have_attribute("data-limit", "10")
    expect(card.locator(".in-force")).to_be_hidden()
    expect(board.override("hopper")).to_have_count(0)


def test_what_laju_does_not_take_is_said_beside_its_field(laju, dashboard):
    board = dashboard(laju)
    board.expect_failures("v1/keys")
    board.open_live()
    board.look_up("login", "")
    expect(board.page.locator("#error-lookup-key")).to_contain_text("1 to 1024 bytes")
    expect(board.page.locator("#field-lookup-key")).to_be_focused()
    card = board.look_up("login", "lovelace")
    card.locator("[data-do=override]").click()
    for fields, wrong, text in (({"limit": "many"}, "limit", "a whole number from 0 to 4294967295"),
                                ({"limit": "4294967296"}, "limit", "is out of range"),
                                ({"limit": "1", "burst": "0"}, "burst", "a whole number from 1"),
                                ({"burst": "", "expires": "31d"}, "expires", "1s to 30d"),
                                ({"limit": "", "expires": "1h"}, "limit", "is missing")):
        board.fill_override(card, **fields)
        expect(card.locator(f"[id$=-{wrong}][role=alert]")).to_contain_text(text)
        expect(card.locator(f"input[name$=-{wrong}]")).to_have_attribute("aria-invalid", "true")
    board.page.keyboard.press("Escape")
    expect(card.locator("form")).to_have_count(0)


def test_a_key_of_a_group_is_looked_up_in_its_group(serve, dashboard):
    name = '<b>Åsa & 木</b>' * 25  # 500 bytes
    rule = {"name": "seats", "limit": 5, "per": "1d", "key": "header:X-User", "group": "header:X-Tenant"}
    with RedisServer() as redis:
        laju = serve(rules=[rule], workers=1, store={"redis": redis.url})
        with laju.http() as http:
            for tenant, count in ("acme", 3), ("other", 1):
                for _ in range(count):
                    http.get("/auth", headers=[f"X-Tenant: {tenant}", f"X-User: {name}"])
        board = dashboard(laju).open_live()
        board.page.locator("#field-lookup-rule").select_option("seats")
        for tenant, left in ("acme", "2 of 5 left"), ("other", "4 of 5 left"):
            board.page.locator("#field-lookup-group").fill(tenant)
            board.page.locator("#field-lookup-key").fill(name)
            board.do("look-up")
            card = board.page.locator(".watched").filter(has_text=f"group {tenant}")
            expect(card.locator(".left").first).to_have_text(left)


def test_an_override_of_a_masked_key_is_taken_away_by_who_looked_it_up(serve, dashboard):
    laju = serve(rules=[{"name": "tight", "limit": 1, "per": "1d", "key": "header:X-Api-Key"}])
    with laju.http() as http:
        http.check("tight", "sk-live-0123456789abcdef")
    board = dashboard(laju).open_live()
    board.look_up("tight", "sk-live-0123456789abcdef")
    card = board.page.locator(".watched")
    board.open_override(card, limit=9, expires="1h")
    expect(card).to_have_attribute("data-limit", "9")
    board.page.reload()
    board.expect_hearing("live")
    row = board.page.locator("[data-override]")
    expect(row).to_contain_text(re.compile("sk-l….*masked"))
    expect(row.locator("[data-do=take-away]")).to_be_disabled()  # who has not got the key cannot name it
    board.look_up("tight", "sk-live-0123456789abcdef")
    row.locator("[data-do=take-away]").click()
    expect(row).to_have_count(0)
    expect(card).to_have_attribute("data-limit", "1")


def test_a_hundred_keys_are_watched_and_the_oldest_goes(laju, dashboard):
    board = dashboard(laju).open_live()
    for first in 0, 50:
        board.page.evaluate("""async (first) => {
            const form = document.querySelector('form[name=lookup]');
            document.querySelector('#field-lookup-rule').value = 'login';
            for (let n = first; n < first + 50 + (first > 0); n++) {
                document.querySelector('#field-lookup-key').value = `many-${n}`;
                form.requestSubmit();
                while (!document.querySelector(`.watched[data-key=many-${n}]`)) await new Promise((on) => setTimeout(on, 2));
            }
        }""", first)
    expect(board.page.locator(".watched")).to_have_count(100)
    expect(board.watched("many-0")).to_have_count(0)
    expect(board.page.locator(".keys")).to_contain_text("100 keys are watched at most: many-0 is not any more.")


# ---- who may look ----


def test_a_token_buys_a_session_that_no_script_can_read(serve, dashboard):
    laju = serve(admin={"token": TOKEN})
    board = dashboard(laju)
    board.expect_failures("v1/")
    board.open()
    board.expect_hearing("locked")
    expect(board.page.locator("#field-token")).to_be_focused()
    board.page.keyboard.type("not this one, though it is as long")
    board.page.keyboard.press("Enter")
    expect(board.page.locator(".token .error").last).to_contain_text("the token is not the right one")
    expect(board.page.locator(".body")).to_be_hidden()
    board.page.locator("#field-token").fill(TOKEN)
    board.page.keyboard.press("Enter")
    board.expect_hearing("live")
    board.page.reload()  # the session outlives the page
    board.expect_hearing("live")
    assert board.page.evaluate("document.cookie + JSON.stringify({...localStorage, ...sessionStorage})").count(TOKEN) == 0
    assert "laju_session" not in board.page.evaluate("document.cookie")
    cookie, = board.page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    card = board.look_up("login", "behind the token")
    expect(card).to_be_visible()
    board.do("sign-out")
    board.expect_hearing("locked")
    expect(card).to_have_count(0)
    assert not board.page.context.cookies()


# ---- when it is not well ----


def test_a_store_that_does_not_answer_is_told_and_its_fallbacks_counted(serve, dashboard):
    with RedisServer() as redis:
        rules = [{"name": "shared", "limit": 5, "per": "1d", "on_store_error": "deny"}, RULES[0] | {"mode": "embedded"}]
        laju = serve(rules=rules, workers=1, store={"redis": redis.url, "timeout": "100ms"})
        board = dashboard(laju).open_live()
        expect(board.page.locator(".store .state")).to_have_attribute("data-state", "up")
        expect(board.fact("nodes")).to_contain_text("1")
        expect(board.fact("workers")).to_have_text("2 of 2")  # the one, and the admin door's
        assert laju.checks("shared", "x", 2) == 2
        expect(board.fact("checks")).to_have_text(NOT_ZERO)
        redis.freeze()
        try:
            assert laju.checks("shared", "x", 20) == 0
            expect(board.page.locator("[data-alert=storeDown]")).to_contain_text("The shared store does not answer")
            expect(board.page.locator(".store .state")).to_have_text("Down")
            expect(board.fact("fallbacksDenied")).to_contain_text("20")
            expect(board.fact("timeouts")).to_have_text(NOT_ZERO)
        finally:
            redis.thaw()
        expect(board.page.locator(".store .state")).to_have_text("Up")
        expect(board.page.locator("[data-alert=storeDown]")).to_have_count(0)


def test_where_no_stream_opens_it_asks_again_and_again(laju, dashboard):
    board = dashboard(laju)
    board.page.route("**/v1/events", lambda route: route.abort())
    board.open()
    board.expect_hearing("polling")
    laju.checks("login", "polled", 11)
    expect(board.rate("refused")).to_have_text(NOT_ZERO)


def test_a_laju_that_goes_and_comes_back_is_told(serve, dashboard):
    laju = serve()
    board = dashboard(laju)
    board.expect_failures("v1/")
    board.open_live()
    laju.checks("login", "before", 3)
    board.expect_sums("3", "0")
    laju.stop()
    board.expect_hearing("lost")
    expect(board.page.locator(".boardhead")).to_contain_text(re.compile(r"last word \d\d:\d\d:\d\d"))
    laju.start()
    board.expect_hearing("live")
    board.expect_sums("0", "0")
    assert laju.checks("login", "after", 2) == 2
    board.expect_sums("2", "0")


def test_a_page_that_nobody_sees_asks_for_nothing(laju, dashboard):
    board = dashboard(laju).open_live()
    board.look_up("login", "unseen")
    turn = """(state) => {
        Object.defineProperty(document, 'visibilityState', {value: state, configurable: true});
        document.dispatchEvent(new Event('visibilitychange'));
    }"""
    with board.page.expect_event("requestfailed", lambda request: request.url.endswith("v1/events")):
        board.page.evaluate(turn, "hidden")
    board.page.wait_for_timeout(200)  # what was asked before is answered
    asked = len(board.page.watch.asked)
    board.page.wait_for_timeout(2200)  # longer than any of its intervals but that of who is refused
    assert board.page.watch.asked[asked:] == []
    board.page.evaluate(turn, "visible")
    board.expect_hearing("live")


# ---- for everybody ----


def test_both_languages_say_all_of_it(laju, dashboard):
    board = dashboard(laju).open_live()
    board.look_up("login", "polyglot")
    english = board.page.locator("main :is(h1, h2, dt, label, legend, th[scope=col])").all_inner_texts()
    board.do("language-id")
    expect(board.page.locator("h1")).to_have_text("Dasbor")
    assert board.page.locator("html").get_attribute("lang") == "id"
    expect(board.watched("polyglot").locator(".left").first).to_have_text("sisa 10 dari 10")
    indonesian = board.page.locator("main :is(h1, h2, dt, label, legend, th[scope=col])").all_inner_texts()
    same = {text for text in english if text.strip()} & set(indonesian)
    assert same <= {"p50", "p99", "Token"}
    expect(board.page).to_have_title("laju: dasbor")


def test_the_keyboard_alone_does_all_of_it(laju, dashboard):
    laju.checks("login", "keys only", 11)
    board = dashboard(laju).open_live()
    keyboard = board.page.keyboard

    def tab_to(selector):
        for _ in range(60):
            if board.page.evaluate("(s) => document.activeElement?.matches(s)", selector):
                return
            keyboard.press("Tab")
        raise AssertionError(f"Tab never comes to {selector}")

    tab_to("[data-do=view-dashboard]")
    tab_to("[data-rule=login] button")
    keyboard.press("Enter")
    expect(board.page.locator("#checks-title")).to_have_text("Checks of login")
    tab_to("#field-lookup-rule")
    keyboard.type("login")
    tab_to("#field-lookup-key")
    keyboard.type("keys only")
    keyboard.press("Enter")
    card = board.watched("keys only")
    expect(card).to_have_attribute("data-remaining", "0")
    tab_to("[data-do=reset]")
    keyboard.press("Enter")
    expect(card.locator("[data-do=reset-yes]")).to_be_focused()
    keyboard.press("Escape")
    expect(card.locator("[data-do=reset]")).to_be_focused()
    keyboard.press("Enter")
    keyboard.press("Enter")
    expect(card).to_have_attribute("data-remaining", "10")
    tab_to("[data-do=override]")
    keyboard.press("Enter")
    keyboard.type("3")
    keyboard.press("Enter")
    expect(card).to_have_attribute("data-limit", "3")
    tab_to("[data-do=take-away]")
    keyboard.press("Enter")
    expect(card).to_have_attribute("data-limit", "10")


@pytest.mark.parametrize("size, scheme", [(WIDE, "light"), (PHONE, "dark")], ids=["wide-light", "phone-dark"])
def test_axe_finds_nothing_serious_and_all_fits(laju, dashboard, axe, size, scheme):
    laju.checks("login", "axe", 12)
    laju.checks("quota", "axe", 6)
    board = dashboard(laju, size=size, color_scheme=scheme).open_live()
    card = board.look_up("login", "axe")
    expect(board.top("axe")).to_be_attached()
    card.locator("[data-do=override]").click()
    assert axe(board.page) == []
    assert board.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_fits_a_phone_with_all_that_is_wrong_on_it(serve, dashboard, picture):
    with RedisServer() as redis:
        laju = serve(rules=SCENE, workers=1, store={"redis": redis.url, "timeout": "100ms"})
        with traffic(laju):
            wide = dashboard(laju, size=WIDE).open_live()
            phone = dashboard(laju, size=PHONE, color_scheme="dark").open_live("#/dashboard?rule=api")
            picture.after(100)
            expect(wide.rate("refused")).to_have_text(NOT_ZERO)
            picture(wide.page, "dashboard-wide-light")
            redis.freeze()
            try:
                expect(phone.page.locator("[data-alert=storeDown]")).to_be_in_viewport()
                picture.after(12)
                assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                picture(phone.page, "dashboard-phone-dark")
            finally:
                redis.thaw()


def test_the_simulator_is_one_step_away_and_the_only_view_where_no_laju_is(laju, dashboard, open_page, site):
    board = dashboard(laju).open_live()
    board.do("view-simulator")
    expect(board.page.locator(".playback")).to_be_visible()
    expect(board.page.locator("[data-do=view-simulator]")).to_have_attribute("aria-current", "page")
    board.page.go_back()
    board.expect_hearing("live")
    alone = open_page()  # as on a server of files
    alone.watch.expected = ["v1/session"]
    alone.route("**/v1/session", lambda route: route.fulfill(status=404))
    alone.goto(site + "#/dashboard")
    expect(alone.locator(".playback")).to_be_visible()
    expect(alone.locator("nav")).to_be_hidden()

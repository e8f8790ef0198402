"""The page around the simulator: languages, themes, screens, keyboard, and that it needs nobody else."""

import re

import pytest
from playwright.sync_api import expect

from conftest import PHONE, WIDE
from simulator import ALGORITHMS

TABS = [*ALGORITHMS, "compare", "pods"]
# Texts that are the same in both languages: names, numbers, formulas and code.
SAME = re.compile(r"laju|EN|ID|EN: English|ID: Bahasa Indonesia|Simulator|laju\.yaml|Envoy|Pod \d|[BLPn]|used|[\W\d]*|\d+[smhd]|\d+ ms|used \+ .*|"
                  r"(rules|rate_limits):[\s\S]*")

TEXTS = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode.textContent.trim());
    const named = [...document.querySelectorAll('[aria-label]')].map(e => e.getAttribute('aria-label'));
    return [...texts, ...named].filter(Boolean);
}"""


def texts(page):
    return page.page.evaluate(TEXTS)


def test_both_languages_say_everything_and_the_run_goes_on(simulator):
    page = simulator({"size": PHONE}, show="pods", traffic="bot", limit=2000, burst=2000, seed=3)
    page.do("spike")
    page.expect_requests(5, 15)
    page.timeline(5).focus()
    page.page.keyboard.press("End")
    english = set(texts(page))
    page.do("language-id")
    expect(page.page.locator("html")).to_have_attribute("lang", "id")
    expect(page.page.locator("[data-do=language-id]")).to_be_focused()
    expect(page.page.locator("[data-do=language-id]")).to_have_attribute("aria-pressed", "true")
    expect(page.page.locator("[data-do=spike]")).to_contain_text("15")
    page.expect_requests(5, 15)
    expect(page.page.locator(".why")).to_be_visible()
    left = {text for text in english & set(texts(page)) if not SAME.fullmatch(text)}
    assert not left, sorted(left)
    assert "2.000" in page.page.locator(".pods").inner_text()  # as Indonesians write it
    page.page.reload()
    expect(page.page.locator("html")).to_have_attribute("lang", "id")
    page.do("language-en")
    expect(page.page.locator("#tab-compare")).to_have_text("Compare")


def test_who_reads_indonesian_gets_it_unasked(simulator):
    page = simulator({"locale": "id-ID"})
    expect(page.page.locator("html")).to_have_attribute("lang", "id")


def test_the_theme_is_the_systems_until_another_is_chosen(simulator):
    page = simulator({"color_scheme": "dark"})
    root = page.page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-theme", "light")
    ground = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    for chosen in ("light", "dark"):
        page.do("theme")
        expect(root).to_have_attribute("data-theme", chosen)
    assert page.page.evaluate("getComputedStyle(document.body).backgroundColor") != ground
    page.page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    page.do("theme")
    expect(root).to_have_attribute("data-theme", "light")  # as the system again


def test_everything_is_done_by_keyboard(simulator):
    page = simulator(algorithm="token-bucket", traffic="steady", rate=1, speed=1)
    keyboard, focused = page.page.keyboard, page.page.locator(":focus")
    keyboard.press("Tab")
    expect(focused).to_have_class("skip")
    expect(focused).to_be_in_viewport()
    keyboard.press("Enter")
    expect(page.page.locator("#main")).to_be_focused()
    keyboard.press("Tab")
    expect(focused).to_have_id("tab-token-bucket")
    for key, tab in (("End", "pods"), ("ArrowRight", "token-bucket"), ("ArrowLeft", "pods"), ("Home", "token-bucket"), ("ArrowRight", "leaky-bucket")):
        keyboard.press(key)
        expect(focused).to_have_id(f"tab-{tab}")
        expect(focused).to_have_attribute("aria-selected", "true")

    def tab_to(selector):
        for _ in range(40):
            keyboard.press("Tab")
            if page.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"{selector} is not reached")

    tab_to("[data-do=spike]")
    keyboard.press("Space")
    page.expect_requests(1, 15)
    tab_to("[data-do=step]")
    keyboard.press("Enter")
    page.expect_requests(1, 16)
    tab_to("#field-speed")
    keyboard.press("ArrowDown")
    assert page.query["speed"] == "2"
    tab_to("[data-timeline='1']")
    for key, request in (("Home", 1), ("ArrowRight", 2), ("PageUp", 12), ("ArrowLeft", 11), ("End", 16), ("PageDown", 6)):
        keyboard.press(key)
        expect(focused).to_have_attribute("aria-valuenow", str(request))
    assert focused.get_attribute("aria-valuetext") == "request 6 at 0.00 s: admitted, leaves 5 s later"
    tab_to("[data-do=later]")
    keyboard.press("Enter")
    expect(page.page.locator(".why")).to_have_attribute("data-request", "7")
    expect(focused).to_have_attribute("data-do", "later")
    keyboard.press("Escape")
    expect(page.page.locator(".why")).to_be_hidden()
    expect(focused).to_have_attribute("data-timeline", "1")
    tab_to("#field-limit")
    keyboard.press("Control+A")
    keyboard.type("3")
    assert page.query["limit"] == "3"
    tab_to(".use [tabindex='0']")
    tab_to(".own summary")
    keyboard.press("Enter")
    tab_to("#field-file")
    tab_to("#field-paste")
    keyboard.type("1\n2\n3\n")
    tab_to("[data-do=own-read]")
    keyboard.press("Enter")
    expect(page.page.locator(".own [role=status]")).to_contain_text("3 requests")


def test_whatever_has_the_keyboard_shows_it(simulator):
    page = simulator(show="compare", traffic="bot")
    page.page.locator(".own summary").click()
    unseen = page.page.evaluate("""() => [...document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex="0"]')]
        .filter(e => e.checkVisibility() && e.tabIndex >= 0 && !e.disabled)
        .filter(e => {
          e.focus({focusVisible: true});
          const seen = e.id === 'field-file' ? e.nextElementSibling : e;
          return document.activeElement !== e || getComputedStyle(seen).outlineStyle !== 'solid';
        }).map(e => e.outerHTML.slice(0, 80))""")
    assert not unseen


@pytest.mark.parametrize("size, scheme, tab", [(WIDE, "light", "sliding-window-counter"), (WIDE, "dark", "pods"),
                                               (PHONE, "light", "pods"), (PHONE, "dark", "token-bucket")])
def test_axe_finds_nothing_serious(simulator, axe, size, scheme, tab):
    page = simulator({"size": size, "color_scheme": scheme}, show="compare", algorithm="fixed-window", traffic="edge", limit=4)
    page.ahead()
    page.timeline(2).focus()
    page.page.keyboard.press("End")
    page.page.locator(".own summary").click()
    page.page.locator("#field-paste").fill("not a time\n1\n")
    page.fill("limit", "x")
    assert not (found := axe(page.page)), found  # lanes, why, and a mistake beside its field
    page.fill("limit", "4")
    page.choose_tab(tab)
    page.do("own-read")
    page.do("spike")
    expect(page.page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")
    assert not (found := axe(page.page)), found


def test_a_phone_shows_it_all_and_can_be_hit(simulator, picture):
    page = simulator({"size": PHONE, "has_touch": True}, algorithm="sliding-window-log", traffic="poisson", rate=1.5, seed=3)
    page.ahead()
    picture(page.page, "simulator-phone-light", top=".tabs")
    for language in ("en", "id"):
        page.do(f"language-{language}")
        for tab in TABS:
            page.choose_tab(tab)
            expect(page.page.locator(f"#tab-{tab}")).to_be_in_viewport(ratio=1)  # the tabs scroll to it
            assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (language, tab)
    small = page.page.evaluate("""() => [...document.querySelectorAll('button, select, input, .timeline, .button')]
        .filter(e => e.checkVisibility() && !e.classList.contains('visually-hidden'))
        .filter(e => e.getBoundingClientRect().height < 32 || e.getBoundingClientRect().width < 32).map(e => e.outerHTML.slice(0, 80))""")
    assert not small
    page.choose_tab("compare")
    page.ahead()
    page.timeline(4).tap()
    why = page.page.locator(".why")
    expect(why).to_be_in_viewport()  # though its place is further down
    expect(why).to_contain_text("held + n ≤ L")


def test_time_goes_by_itself_but_not_for_who_wants_no_motion(simulator):
    expect(simulator({"still": False}).page.locator("[data-do=play]")).to_have_text("Pause")
    expect(simulator().page.locator("[data-do=play]")).to_have_text("Play")


def test_nothing_but_its_own_files_is_asked_for_and_then_it_works_offline(simulator):
    page = simulator(traffic="none")
    files = {url.removeprefix(page.site).partition("#")[0] for url in page.page.watch.asked}
    assert {"", "app.js", "app.css", "sim.wasm"} <= files
    page.page.context.set_offline(True)
    asked = len(page.page.watch.asked)
    for tab in TABS:
        page.choose_tab(tab)
        page.do("spike")
    page.expect_requests(5, 15)
    page.do("language-id")
    page.page.locator(".own summary").click()
    page.page.locator("#field-paste").fill("1\n2\n")
    page.do("own-read")
    page.do("ahead")
    page.expect_requests(5, 2)
    assert len(page.page.watch.asked) == asked


def test_a_law_that_does_not_come_is_told(open_page, site):
    page = open_page()
    page.watch.expected = ["sim.wasm"]
    page.route("**/sim.wasm", lambda route: route.fulfill(status=404))
    page.goto(f"{site}#/simulator")
    expect(page.get_by_role("alert")).to_have_text("The simulator could not be started: sim.wasm: 404")


def test_a_browser_that_keeps_nothing_shows_the_page_all_the_same(open_page, site):
    page = open_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError') }})")
    page.goto(f"{site}#/simulator")
    page.locator("[data-do=theme]").click()
    page.locator("[data-do=language-id]").click()
    expect(page.locator("html")).to_have_attribute("lang", "id")

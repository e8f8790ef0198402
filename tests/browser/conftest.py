import os
import pathlib
import shutil
import sys
import time

import pytest
from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from server import BINARY, ROOT, Server  # noqa: E402
from simulator import Simulator  # noqa: E402
from wire import Http  # noqa: E402

if not os.access(BINARY, os.X_OK):
    pytest.exit(f"{BINARY} is not built (LAJU_BINARY names another)", returncode=2)

CHROMIUM = shutil.which("chromium")
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PATIENCE_MS = 15_000
OTHER_NAME = "laju.test"  # under which the browser finds the same laju, but does not take it for its own machine


def pytest_addoption(parser):
    parser.addoption("--screenshots", metavar="DIR", type=pathlib.Path, help="write the README's pictures to DIR")


def need_page(server):
    """Skips the test where there is nothing to see."""
    with Http(server.admin_address) as http:
        if http.get("/app.js").status == 404:
            pytest.skip("laju was built without its page (it takes node, npm, clang and wasm-ld)")


@pytest.fixture(scope="session")
def host():
    """A laju whose admin door serves the page to all tests that change nothing about it."""
    with Server({"admin": {"hosts": [OTHER_NAME]}}, admin=True) as server:
        need_page(server)
        yield server


@pytest.fixture(scope="session")
def site(host):
    """Where the page is."""
    return "http://%s:%d/" % host.admin_address


@pytest.fixture(scope="session")
def browser():
    """One Chromium, Debian's, for all tests."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (script/bootstrap --tests)")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # As root Chromium starts only without its sandbox; the one page that it opens here is ours.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        arguments += [f"--host-resolver-rules=MAP {OTHER_NAME} 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


class Watch:
    """What a page must never do: complain, break its policy, or ask another host."""

    def __init__(self, page, site):
        self.faults = []
        self.expected = []  # parts of addresses and of complaints that the test itself brings about
        self.asked = []
        self.site = site
        page.on("console", self.console)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("request", self.request)
        page.on("requestfailed", lambda request: self.fault(request.url, f"failed: {request.url}"))

    def console(self, message):
        # A broken Content-Security-Policy is told as an error of the console too.
        if message.type in ("error", "warning"):
            self.fault(message.location.get("url", ""), f"{message.type}: {message.text}")

    def fault(self, url, text):
        if not any(part in url or part in text for part in self.expected):
            self.faults.append(text)

    def request(self, request):
        self.asked.append(request.url)
        if not request.url.startswith((self.site, "data:", "blob:" + self.site)):
            self.fault(request.url, f"asked another host: {request.url}")


@pytest.fixture
def open_page(browser, site):
    """open_page(still=False, size=PHONE, ...): a fresh page that no other test has touched, not yet at any address. By default
    it is one for who wants no motion, so time stands until the test lets it go on. `of` is who serves it."""
    contexts, watches = [], []

    def start(still=True, size=WIDE, of=site, **options):
        context = browser.new_context(viewport=size, reduced_motion="reduce" if still else "no-preference",
                                      **{"locale": "en-GB", **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        watches.append(Watch(page, of))
        page.watch = watches[-1]
        return page

    yield start
    for context in contexts:
        context.close()
    faults = [fault for watch in watches for fault in watch.faults]
    assert not faults, faults


@pytest.fixture
def simulator(open_page, site):
    """simulator(limit=5, per="1m", ...): a page at these settings; `still`, `size` and the like as for open_page."""

    def start(options=None, **settings):
        page = open_page(**(options or {}))
        return Simulator(page, site).open(**settings)

    return start


class Pictures:
    """picture(page, name) writes what is seen of a page, where pictures are wanted at all: from `top` on, or only of a `part`."""

    def __init__(self, folder):
        self.folder = folder

    def after(self, seconds):
        """Time for a picture to have something on it."""
        if self.folder is not None:
            time.sleep(seconds)

    def __call__(self, page, name, top=None, part=None):
        if self.folder is None:
            return
        if top:
            page.evaluate("top => { document.activeElement.blur(); scrollTo(0, document.querySelector(top).offsetTop - 8) }", top)
            page.mouse.move(0, 0)
        (page.locator(part).first if part else page).screenshot(path=self.folder / f"{name}.png")


@pytest.fixture
def picture(request):
    return Pictures(request.config.getoption("--screenshots"))


@pytest.fixture
def axe():
    """axe(page): what axe-core finds that is serious or worse."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed (npm ci in web)")
    source = AXE.read_text()

    def run(page):
        page.evaluate(source)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [(v["id"], v["impact"], [node["target"] for node in v["nodes"]][:5])
                for v in found["violations"] if v["impact"] in ("serious", "critical")]

    return run

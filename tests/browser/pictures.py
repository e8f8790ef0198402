"""The pictures of the README and of docs/: `pytest tests/browser/pictures.py --screenshots docs/images`. No test of their own."""

import pytest
from playwright.sync_api import expect

from conftest import PHONE

WIDE = {"width": 1320, "height": 892}
RULE = {"limit": 10, "per": "10s", "burst": 10}


@pytest.fixture
def shoot(pytestconfig):
    """shoot(simulator, name): what the window shows from the tabs on, under this name; or one part of the page."""
    folder = pytestconfig.getoption("--screenshots")
    if folder is None:
        pytest.fail("--screenshots tells where to")
    folder.mkdir(parents=True, exist_ok=True)

    def write(simulator, name, part=None):
        page = simulator.page
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur()")
        page.evaluate("scrollTo(0, document.querySelector('.tabs').offsetTop - 8)")
        (page.locator(part).first if part else page).screenshot(path=folder / f"{name}.png", animations="disabled")

    return write


def test_the_boundary_burst(simulator, shoot):
    page = simulator({"size": WIDE}, algorithm="fixed-window", speed=10, **RULE)
    page.do("boundary")
    page.page.wait_for_function("() => Number(document.querySelector('output.time').dataset.time) > 14e6")
    page.do("play")
    expect(page.page.locator("[data-do=play]")).to_have_text("Play")
    shoot(page, "simulator")


def test_all_five(simulator, shoot):
    page = simulator({"size": {"width": 1200, "height": 892}, "color_scheme": "dark"}, show="compare", traffic="poisson", rate=1.8, **RULE)
    page.ahead()
    shoot(page, "compare", ".card:has(> .lanes)")


def test_a_phone(simulator, shoot):
    page = simulator({"size": PHONE}, algorithm="sliding-window-log", traffic="poisson", rate=1.5, seed=3, **RULE)
    page.ahead()
    shoot(page, "phone")

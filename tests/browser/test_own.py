"""Somebody's own traffic, pasted, chosen or dropped: read, replayed, and kept in the browser."""

import pytest
from playwright.sync_api import expect

from simulator import ALGORITHMS, expected_totals

RULE = {"limit": 3, "per": "10s", "burst": 3, "cost": 1}
START_US = 1_760_104_536_000_000  # 10 October 2025, 13:55:36 UTC

LOG = """\
203.0.113.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 12 "-" "curl/8"
198.51.100.2 - ada [10/Oct/2025:20:55:40 +0700] "POST /login HTTP/1.1" 401 9
not a line of a log
203.0.113.7 - - [31/Feb/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 12
203.0.113.7 - - [10/Oct/2025:13:55:38.5 +0000] "GET / HTTP/1.1" 200 12

2025-10-10T13:55:37.25Z
1760104539
1760104541250
203.0.113.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 12
"""
TIMES = [START_US + us for us in (0, 0, 1_250_000, 2_500_000, 3_000_000, 4_000_000, 5_250_000)]


@pytest.fixture
def own(simulator):
    def start():
        page = simulator(show="compare", **RULE)
        page.page.locator(".own summary").click()
        return page

    return start


def status(page):
    return page.page.locator(".own [role=status]")


def paste(page, text):
    page.page.locator("#field-paste").fill(text)
    page.do("own-read")


def expect_replayed(page, times):
    page.do("ahead")  # to the end
    page.expect_requests(0, len(times))
    assert page.times_us() == times
    for lane, algorithm in enumerate(ALGORITHMS):
        assert page.totals(lane) == expected_totals(algorithm, times, **RULE), algorithm


def test_a_pasted_log_is_replayed_and_its_bad_lines_are_told(own):
    page = own()
    paste(page, LOG)
    expect(status(page)).to_have_text("7 requests over 5.25 s.")
    expect(page.page.locator(".bad p")).to_have_text("2 of 9 lines could not be read:")
    assert page.page.locator(".bad li").all_inner_texts() == [
        "not a line of a log", '203.0.113.7 - - [31/Feb/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 12']
    expect_replayed(page, TIMES)
    expect(page.clock).to_have_text("2025-10-10 13:55:41.250")
    # One client's alone: the two of the first second, and the one that was logged before its time.
    assert page.page.locator("#field-client option").all_inner_texts() == ["everyone’s, as one key", "203.0.113.7 (3)", "198.51.100.2 (1)"]
    page.select("client", "203.0.113.7")
    page.expect_requests(0, 0)
    expect_replayed(page, [TIMES[0], TIMES[1], TIMES[3]])
    expect(page.page.locator("[data-do=copy-link]")).to_be_hidden()  # no address holds these times
    page.do("own-stop")
    assert page.query["traffic"] == "poisson"


def test_a_file_is_chosen_or_dropped(own, tmp_path):
    page = own()
    file = tmp_path / "times.txt"
    file.write_text("".join(f"{us / 1e6:.6f}\r\n" for us in TIMES))
    page.page.locator("#field-file").set_input_files(file)
    expect(status(page)).to_have_text("7 requests over 5.25 s.")
    expect_replayed(page, TIMES)
    page.page.locator(".drop").evaluate("""drop => {
        const data = new DataTransfer();
        data.items.add(new File(['2025-10-10 13:55:36\\n2025-10-10 15:55:37+0200\\n'], 'access.log'));
        for (const type of ['dragover', 'drop'])
          drop.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
    }""")
    expect(status(page)).to_have_text("2 requests over 1 s.")
    expect_replayed(page, [START_US, START_US + 1_000_000])


def test_a_run_taken_along_is_read_again(own):
    page = own()
    page.ahead()
    times = page.times_us()
    paste(page, "".join(f"{us / 1e6:.6f}\n" for us in times))
    expect_replayed(page, times)


def test_text_without_a_time_and_files_beyond_the_bounds(own, tmp_path):
    page = own()
    paste(page, "<img src=x onerror=alert(1)>\n" * 7)
    expect(status(page)).to_have_text("No line tells a time.")
    expect(page.page.locator(".bad li")).to_have_text(["<img src=x onerror=alert(1)>"] * 5)
    large = tmp_path / "large.log"
    with large.open("wb") as file:
        file.truncate(50 * 1024 * 1024 + 1)
    page.page.locator("#field-file").set_input_files(large)
    expect(status(page)).to_have_text("The file has 51 MB; up to 50 MB are read.")
    many = tmp_path / "many.log"
    many.write_text("9\n" * 1_000_001)
    page.page.locator("#field-file").set_input_files(many)
    expect(status(page)).to_have_text("1,000,000 requests over 0 µs. Only the first 1,000,000 lines were read.")

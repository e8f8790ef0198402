"""The rule to copy is one that laju and Envoy take."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from conftest import OTHER_NAME
from server import run_laju
from simulator import Simulator

YAML = {
    "token-bucket": (dict(limit=10, per="1m", burst=20, cost=2), """\
rules:
  - name: api
    algorithm: token-bucket
    limit: 10
    per: 1m
    burst: 20
    cost: 2
"""),
    "sliding-window-counter": (dict(limit=100, per="1h", burst=7), """\
rules:
  - name: api
    algorithm: sliding-window-counter
    limit: 100
    per: 1h
"""),
}

ENVOY = """\
static_resources:
  listeners:
    - address: {socket_address: {address: 127.0.0.1, port_value: 0}}
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: http
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
                route_config:
                  virtual_hosts:
                    - name: all
                      domains: ["*"]
                      routes:
                        - match: {prefix: /}
                          direct_response: {status: 200}
"""


def text(page, name):
    return page.page.locator(f"[data-use={name}]").text_content()


@pytest.mark.parametrize("algorithm", YAML)
def test_the_rule_is_one_that_laju_takes(simulator, tmp_path, algorithm):
    settings, expected = YAML[algorithm]
    page = simulator(algorithm=algorithm, traffic="none", **settings)
    assert text(page, "yaml") == expected
    file = tmp_path / "laju.yaml"
    file.write_text(expected)
    checked = run_laju("config", "check", file)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_descriptor_is_one_that_envoy_takes(simulator, tmp_path):
    page = simulator(algorithm="fixed-window", limit=50, per="1m", cost=3, traffic="none")
    route, _, service = text(page, "envoy").partition("---\n")
    assert service == """\
domain: laju
descriptors:
  - key: rule
    value: api
    descriptors:
      - key: remote_address
        rate_limit: {unit: minute, requests_per_unit: 50}
"""
    config = tmp_path / "envoy.yaml"
    config.write_text(ENVOY + "".join(" " * 22 + line + "\n" for line in route.splitlines()))
    envoy = Path(sys.executable).with_name("envoy")
    checked = subprocess.run([envoy, "--mode", "validate", "-c", config, "--log-level", "error"], capture_output=True, text=True, timeout=30)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    page.fill("per", "10s")
    expect(page.page.locator("[data-use=envoy]")).to_contain_text("# no unit of 10s in Envoy")


def test_rule_descriptor_and_link_are_copied(simulator, site):
    page = simulator({"permissions": ["clipboard-read", "clipboard-write"]}, traffic="poisson", seed=8)
    for name, expected in (("yaml", text(page, "yaml")), ("envoy", text(page, "envoy")), ("link", page.page.url)):
        page.do(f"copy-{name}")
        expect(page.page.locator(f"[data-do=copy-{name}]")).to_have_text("Copied")
        assert page.page.evaluate("navigator.clipboard.readText()") == expected
    assert "seed=8" in expected


def test_a_page_that_came_over_plain_http_from_another_host_copies_too(open_page, host):
    page = open_page(of=f"http://{OTHER_NAME}:{host.admin_address[1]}/")
    page.watch.expected = ["Cross-Origin-Opener-Policy"]  # which browsers keep to on hosts that they trust only
    simulator = Simulator(page, page.watch.site).open(traffic="none")
    assert not page.evaluate("isSecureContext")
    simulator.do("copy-yaml")
    expect(page.locator("[data-do=copy-yaml]")).to_have_text("Copied")
    expect(page.locator("[data-do=copy-yaml]")).to_be_focused()
    page.locator(".own summary").click()
    page.locator("#field-paste").focus()
    page.keyboard.press("Control+V")
    expect(page.locator("#field-paste")).to_have_value(text(simulator, "yaml"))

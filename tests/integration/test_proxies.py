"""The examples for nginx, HAProxy, Caddy and Envoy, run as they stand but for their ports, in front of a small application."""

import http.client
import http.server
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from conftest import tool
from server import PATIENCE_S, ROOT, Server, free_port

EXAMPLES = ROOT / "examples"
RULES = [
    {"name": "api", "match": {"path": "/api/*"}, "key": ["header:X-User-Id"], "missing": "ip", "limit": 3, "per": "1d",
     "algorithm": "token-bucket"},
    {"name": "address", "match": {"path": "/address/*"}, "key": ["ip"], "limit": 2, "per": "1d", "algorithm": "token-bucket"},
    {"name": "post", "match": {"path": "/login", "method": "POST"}, "key": ["ip"], "limit": 1, "per": "1d",
     "algorithm": "token-bucket"},
    {"name": "even", "match": {"path": "/even"}, "key": ["ip"], "limit": 5, "per": "1s", "burst": 10,
     "algorithm": "leaky-bucket", "wait": "server"},
]


class App(http.server.BaseHTTPRequestHandler):
    """The service behind: counts what reaches it."""
    reached = 0
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        App.reached += 1
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(403 if self.path == "/forbidden" else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_POST = do_GET

    def log_message(self, *_):
        pass


class AppServer(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # a proxy that resets a connection it keeps


@pytest.fixture(scope="module")
def app():
    server = AppServer(("127.0.0.1", 0), App)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


def wait_for(port, process):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "the proxy has ended at its start"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the proxy does not listen")


class Proxy:
    """An example's files in a folder of its own, with the test's ports in them."""

    def __init__(self, name, files, command, home, laju_port, app_port):
        self.port = free_port()
        for file in files:
            text = (EXAMPLES / name / file).read_text()
            for given, own in ((":8080", f":{laju_port}"), (":3000", f":{app_port}"), (":8000", f":{self.port}"),
                               (" 8000;", f" {self.port};"), ("port_value: 8080", f"port_value: {laju_port}"),
                               ("port_value: 3000", f"port_value: {app_port}"), ("port_value: 8000", f"port_value: {self.port}")):
                text = text.replace(given, own)
            (home / file).write_text(text)
        self.log = open(home / "proxy.log", "w+")
        self.process = subprocess.Popen(command, cwd=home, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_for(self.port, self.process)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)
        self.log.close()

    def ask(self, path, method="GET", headers=None, body=None, host="127.0.0.1"):
        connection = http.client.HTTPConnection(host, self.port, timeout=PATIENCE_S)
        connection.putrequest(method, path, skip_host=False, skip_accept_encoding=True)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.body = answer.read()
        connection.close()
        return answer

    def statuses(self, count, *arguments, **options):
        return [self.ask(*arguments, **options).status for _ in range(count)]


def start(name, home, laju_port, app_port):
    if name == "nginx":
        return Proxy(name, ["nginx.conf"], [tool("nginx"), "-p", str(home), "-c", str(home / "nginx.conf"), "-g", "daemon off;"],
                     home, laju_port, app_port)
    if name == "haproxy":
        return Proxy(name, ["haproxy.cfg", "laju.lua"], [tool("haproxy"), "-db", "-f", "haproxy.cfg"], home, laju_port, app_port)
    if name == "envoy":  # of tests/requirements.txt
        return Proxy(name, ["envoy.yaml"], [pathlib.Path(sys.executable).with_name("envoy"), "-c", "envoy.yaml", "--log-level", "error",
                                            "--use-dynamic-base-id", "--concurrency", "2"], home, laju_port, app_port)
    return Proxy(name, ["Caddyfile"], [tool("caddy"), "run", "--adapter", "caddyfile", "--config", "Caddyfile"], home,
                 laju_port, app_port)


@pytest.fixture(scope="module")
def laju():
    with Server({"rules": RULES, "memory": "16MiB"}) as server:
        yield server


@pytest.fixture(scope="module", params=["nginx", "haproxy", "caddy", "envoy"])
def proxy(request, laju, app, tmp_path_factory):
    running = start(request.param, tmp_path_factory.mktemp(request.param), laju.http_address[1], app)
    running.name = request.param
    yield running
    running.stop()


def user(proxy, name):
    return {"X-User-Id": f"{proxy.name}-{name}"}


def test_the_fourth_of_three_is_refused_and_never_reaches_the_application(proxy):
    before = App.reached
    assert proxy.statuses(5, "/api/a", headers=user(proxy, "ann")) == [200, 200, 200, 429, 429]
    assert App.reached == before + 3
    assert proxy.ask("/api/a", headers=user(proxy, "bob")).status == 200


def test_the_client_sees_where_it_stands(proxy):
    answers = [proxy.ask("/api/h", headers=user(proxy, "head")) for _ in range(4)]
    if proxy.name == "caddy":
        assert answers[3].headers["X-RateLimit-Remaining"] == "0"  # Caddy copies them where laju refuses
    else:
        assert [a.headers["X-RateLimit-Remaining"] for a in answers] == ["2", "1", "0", "0"]
    refused = answers[3]
    assert refused.headers["X-RateLimit-Limit"] == "3"
    assert 0 < int(refused.headers["Retry-After"]) <= 86400 // 3
    assert int(refused.headers["X-RateLimit-Reset"]) > time.time()


def test_no_spelling_of_the_path_goes_round_the_rule(proxy):
    paths = ["/api/x", "/api/../api/x", "//api/x", "/%61pi/x", "/api//x", "/other/%2e%2e/api/x", "/api/x?path=/free"]
    statuses = [proxy.ask(path, headers=user(proxy, "path")).status for path in paths]
    assert statuses == [200, 200, 200, 429, 429, 429, 429]


def test_a_made_up_address_changes_nothing(proxy):
    name = f"/address/{proxy.name}"
    spoofs = [{"X-Forwarded-For": f"198.51.100.{i}", "X-Real-IP": f"198.51.100.{i}", "Forwarded": f"for=198.51.100.{i}"}
              for i in range(4)]
    first = proxy.ask(name, headers=spoofs[0]).status
    later = [proxy.ask(name, headers=spoof).status for spoof in spoofs[1:]]
    assert first in (200, 429) and later[-1] == 429 and later[-2] == 429


def test_a_made_up_target_goes_round_no_rule(proxy):
    for field in ("X-Original-URI", "X-Original-URL", "X-Forwarded-Uri"):
        statuses = proxy.statuses(4, "/api/t", headers={**user(proxy, field), field: "/free"})
        assert statuses == [200, 200, 200, 429], field


def test_the_method_is_matched(proxy):
    assert proxy.statuses(3, "/login") == [200, 200, 200]
    statuses = [proxy.ask("/login", "POST", body=b"name=ann").status for _ in range(2)]
    assert statuses[-1] == 429


def test_what_no_rule_matches_passes_without_limits(proxy):
    answer = proxy.ask("/free")
    assert answer.status == 200 and answer.headers["X-RateLimit-Limit"] is None
    assert proxy.ask("/forbidden").status == 403  # the application's own


def test_neighbours_in_one_64_are_one_client_and_a_mapped_address_is_its_v4(laju):
    def ask(client):
        with laju.http() as http:
            return http.get("/auth", headers=["X-Original-URI: /address/v6", f"X-Forwarded-For: {client}"]).status

    assert [ask("2001:db8:1:2::1"), ask("2001:db8:1:2:ffff::9"), ask("2001:db8:1:2::3")] == [200, 200, 429]
    assert ask("2001:db8:1:3::1") == 200
    assert [ask("198.51.100.9"), ask("::ffff:198.51.100.9"), ask("::ffff:c633:6409")] == [200, 200, 429]


def test_a_dropped_user_id_counts_by_address(proxy):
    statuses = proxy.statuses(4, "/api/nobody") + proxy.statuses(1, "/api/nobody", headers={"X-User-Id": ""})
    assert statuses[-2:] == [429, 429]


@pytest.mark.parametrize("name", ["nginx"])
def test_a_burst_leaves_evenly(name, laju, app, tmp_path):
    proxy = start(name, tmp_path, laju.http_address[1], app)
    done = []

    def one():
        assert proxy.ask("/even").status == 200
        done.append(time.monotonic())

    threads = [threading.Thread(target=one) for _ in range(5)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
    finally:
        proxy.stop()
    assert len(done) == 5
    assert max(done) - min(done) >= 0.75  # five a second: the last waits four fifths of one


@pytest.mark.parametrize("name", ["nginx", "haproxy", "caddy", "envoy"])
def test_without_laju_the_service_stays_up_and_limits_come_back_with_it(name, app, tmp_path):
    with Server({"rules": RULES, "memory": "16MiB", "snapshot": {"path": str(tmp_path / "snap")}}) as laju:
        proxy = start(name, tmp_path, laju.http_address[1], app)
        who = {"X-User-Id": "ann"}

        def passes(count, **options):
            """What a request takes that passes without laju; at most the deadline of the example, many times over."""
            for _ in range(count):
                began = time.monotonic()
                assert proxy.ask("/api/a", headers=who, **options).status == 200
                assert time.monotonic() - began < 20

        def limits():
            deadline = time.monotonic() + PATIENCE_S  # a proxy may wait before it asks again
            while proxy.ask("/api/a", headers=who).status != 429 and time.monotonic() < deadline:
                time.sleep(0.1)
            assert proxy.ask("/api/a", headers=who).status == 429

        try:
            assert proxy.statuses(4, "/api/a", headers=who) == [200, 200, 200, 429]
            laju.signal(signal.SIGSTOP)  # it is there and says nothing
            time.sleep(0.2)
            passes(2)
            laju.signal(signal.SIGCONT)
            limits()
            laju.stop()
            passes(2)
            passes(2, method="POST", body=b"name=ann")
            laju.start()
            limits()
        finally:
            laju.signal(signal.SIGCONT)
            proxy.stop()

"""How laju starts, ends and dies."""

import json
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

import law
from conftest import plain_only
from server import BINARY, Server, free_port
from wire import Http, Resp

RULES = [law.rule("token-bucket", 1_000_000, per="1d", name="million")]


def statuses(data):
    return [int(s) for s in re.findall(rb"HTTP/1\.1 (\d+) ", data)]


# ---- health ----


def test_healthz_and_readyz_say_how_it_is(laju):
    with laju.http() as http:
        for path in ("/healthz", "/readyz"):
            response = http.get(path)
            assert response.status == 200 and response.body, response


def test_the_doors_are_told_on_stderr_as_they_are_bound(laju):
    log = laju.log()
    assert "127.0.0.1:%d" % laju.http_address[1] in log
    assert "127.0.0.1:%d" % laju.resp_address[1] in log


def test_port_0_is_bound_and_told(tmp_path):
    server = Server({"listen": {"http": "127.0.0.1:0", "resp": "127.0.0.1:0", "admin": "off"}}).launch()
    try:
        deadline = time.monotonic() + 30
        while len(ports := re.findall(r"127\.0\.0\.1:(\d+)", server.log())) < 2:
            assert time.monotonic() < deadline and server.process.poll() is None, server.log()
            time.sleep(0.02)
        pongs = []
        for port in {int(p) for p in ports}:
            with Resp(("127.0.0.1", port)) as resp:
                resp.send(b"PING\r\n")
                resp.half_close()
                pongs.append(resp.rest())
        assert len(pongs) == 2 and b"+PONG\r\n" in pongs
        server.stop()
    finally:
        server.kill()


def test_ipv6_is_a_door_too(serve):
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 here")
    http, port = ("127.0.0.1", free_port()), free_port()
    server = Server({"listen": {"http": "%s:%d" % http, "resp": f"[::1]:{port}"}})
    server.http_address, server.resp_address = http, ("::1", port)
    with server, server.resp() as resp:
        assert resp.call("PING") == "PONG"


# ---- trouble at start ----


def ends_at_start(server, *words):
    server.launch()
    try:
        code = server.wait()
        log = server.log()
        assert code not in (0, None) and code > 0, (code, log)
        for word in words:
            assert word in log, f"{word!r} is not in {log!r}"
        server.assert_clean()
    finally:
        server.kill()


def test_a_port_that_is_taken_is_told(laju):
    for door in ("http", "resp"):
        port = (laju.http_address if door == "http" else laju.resp_address)[1]
        listen = {"http": f"127.0.0.1:{free_port()}", "resp": f"127.0.0.1:{free_port()}", door: f"127.0.0.1:{port}"}
        ends_at_start(Server({"listen": listen}), f"127.0.0.1:{port}")


def test_a_second_laju_does_not_share_the_ports_of_the_first(laju):
    """SO_REUSEPORT lets the workers of one process share a port; another process must not take part of its checks."""
    ends_at_start(Server({"listen": {"http": "127.0.0.1:%d" % laju.http_address[1],
                                     "resp": "127.0.0.1:%d" % laju.resp_address[1]}}))


def test_a_bad_configuration_is_told_with_its_place(tmp_path):
    server = Server({"memroy": "64MiB"})
    ends_at_start(server, "laju.yaml", "memroy", "memory")


def test_a_unix_socket_left_by_a_dead_laju_is_taken_over(serve):
    server = serve({}, unix=True)
    server.signal(signal.SIGKILL)
    server.wait()
    server.start()
    with server.http() as http:
        assert http.check("default", "a").status == 200


def test_a_unix_socket_is_gone_after_a_clean_end(serve):
    server = serve({}, unix=True)
    server.stop()
    assert not [p.name for p in server.home.iterdir() if p.suffix == ".sock"]


def test_a_door_beyond_loopback_without_a_password_is_warned_of(serve):
    def log_of(**settings):
        port, http_port = free_port(), free_port()
        server = Server({"listen": {"http": f"127.0.0.1:{http_port}", "resp": f"0.0.0.0:{port}"}, **settings})
        server.http_address = ("127.0.0.1", http_port)
        with server:
            return server.log()

    warned = [line for line in log_of().splitlines() if "password" in line]
    assert len(warned) == 1 and "0.0.0.0" in warned[0]
    assert "warn" in warned[0].lower()
    assert "password" not in log_of(resp_password="x")


# ---- the end ----


def test_sigint_ends_it_as_sigterm_does(serve):
    server = serve({})
    server.signal(signal.SIGINT)
    assert server.wait() == 0


def test_idle_connections_do_not_hold_up_the_end(serve):
    server = serve({})
    idle = [server.http() for _ in range(20)] + [server.resp() for _ in range(20)]
    with server.http() as http:
        http.check("default", "a")
        began = time.monotonic()
        server.signal(signal.SIGTERM)
        assert http.rest() == b""
        assert server.wait() == 0
    assert time.monotonic() - began < 5
    for client in idle:
        client.close()


def test_a_request_that_has_begun_is_answered_while_draining_and_readyz_says_503(serve):
    server = serve({})
    with server.http() as check, server.http() as ready, server.resp() as resp:
        ask = check.request("POST", "/v1/check", {"rule": "default", "key": "a"})
        command = resp.encode("LAJU.CHECK", "default", "a")
        check.send(ask[:-5])
        ready.send(b"GET /readyz HTTP/1.1\r\nHost:")
        resp.send(command[:-5])
        time.sleep(0.3)
        server.signal(signal.SIGTERM)
        time.sleep(0.3)
        with pytest.raises(OSError):  # nobody new is let in
            server.http().close()
        ready.send(b" a\r\n\r\n")
        response = ready.response()
        assert response.status == 503 and response.header("Connection") == "close"
        check.send(ask[-5:])
        response = check.response()
        assert response.status == 200 and response.header("Connection") == "close"
        assert check.rest() == b""
        resp.send(command[-5:])
        assert resp.reply()[:3] == [1, 100, 98]
        assert resp.rest() == b""
        assert server.wait() == 0


def test_a_client_that_never_finishes_does_not_hold_up_the_end_for_ever(serve):
    server = serve({})
    with server.http() as slow, server.resp() as deaf:
        slow.send(b"POST /v1/check HTTP/1.1\r\nContent-Le")
        deaf.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            while True:
                deaf.send(deaf.encode("ECHO", "x" * 1000) * 100)
        server.signal(signal.SIGTERM)
        assert server.wait(timeout=25) == 0
    # Each by its own limit: nobody was left for the end of the drain to cut off.
    assert " slow=1 stuck=1 " in server.log() and " cut=0\n" in server.log()


@plain_only
def test_an_operator_who_takes_no_answer_does_not_use_up_the_drain_s_time(serve):
    server = serve({}, admin=True)
    with server.admin() as deaf:
        deaf.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            while True:
                deaf.send(deaf.request("GET", "/metrics") * 100)
        server.signal(signal.SIGTERM)
        assert server.wait(timeout=9) == 0  # two seconds as a rule; by the drain's end it would be ten


def test_dashboards_end_at_once(serve):
    server = serve({}, admin=True)
    streams = [server.admin() for _ in range(3)]
    for stream in streams:
        stream.send(stream.request("GET", "/v1/events"))
        assert stream.line() == b"HTTP/1.1 200 OK"
    began = time.monotonic()
    server.signal(signal.SIGTERM)
    for stream in streams:
        assert b"event: status" in stream.rest()
    assert server.wait() == 0
    assert time.monotonic() - began < 5  # a fifth of a second as a rule, and the drain's time is 10
    for stream in streams:
        stream.close()


def test_a_closed_stderr_does_not_end_it(tmp_path):
    """Whoever read its log may go."""
    server = Server({})
    server.config_path.write_text(json.dumps(server.settings))
    server.process = subprocess.Popen([BINARY, "serve", "--config", str(server.config_path)], stderr=subprocess.PIPE)
    try:
        server.process.stderr.close()
        server.wait_until_ready()
        server.check("default", "a")
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
    finally:
        server.kill()


def test_a_second_signal_does_not_wait(serve):
    server = serve({})
    with server.http() as http:
        http.send(b"POST /v1/check HTTP/1.1\r\nContent-Le")
        time.sleep(0.1)
        server.signal(signal.SIGTERM)
        time.sleep(0.3)
        assert server.process.poll() is None
        server.signal(signal.SIGTERM)
        server.wait(timeout=8)


def test_a_signal_that_comes_twice_at_once_is_one(serve):
    """timeout(1) signals its child and then the group that the child is in; no answer must be cut for that."""
    server = serve({})
    with server.http() as http:
        http.send(b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 28\r\n\r\n")
        time.sleep(0.1)
        server.signal(signal.SIGSTOP)  # so that both are there when it looks, however busy the machine is
        server.signal(signal.SIGTERM)
        server.signal(signal.SIGINT)
        server.signal(signal.SIGCONT)
        time.sleep(0.3)
        assert server.process.poll() is None
        http.send(b'{"rule":"default","key":"k"}')
        assert http.response().status == 200
    server.wait(timeout=8)


def http_load(server, depth, seen):
    """Pipelines until the door closes. Counts admissions told; fails on an answer cut short."""
    try:
        with server.http() as http:
            ask = http.request("POST", "/v1/check", {"rule": "million", "key": "load"}) * depth
            while True:
                http.send(ask)
                for _ in range(depth):
                    response = http.response()
                    assert response.status == 200 and response.json["allowed"]
                    seen.append(1)
    except EOFError as end:
        assert "middle" not in str(end), end
    except (ConnectionResetError, BrokenPipeError):
        assert http.unread == b"", f"cut in {http.unread!r}"


def resp_load(server, depth, seen):
    try:
        with server.resp() as resp:
            ask = resp.encode("LAJU.CHECK", "million", "load") * depth
            while True:
                resp.send(ask)
                for _ in range(depth):
                    assert resp.reply()[0] == 1
                    seen.append(1)
    except EOFError as end:
        assert "middle" not in str(end), end
    except (ConnectionResetError, BrokenPipeError):
        assert resp.unread == b"", f"cut in {resp.unread!r}"


@pytest.mark.parametrize("round_", range(3))
def test_sigterm_under_load_cuts_no_answer_and_loses_none(serve, tmp_path, round_):
    """Every client gets whole answers until a clean end; and every admission that was charged was told to somebody."""
    settings = {"rules": RULES, "snapshot": {"path": str(tmp_path / "table.snap"), "interval": "1h"}}
    server = serve(settings)
    seen, failures = [], []

    def client(load, depth):
        try:
            load(server, depth, seen)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=client, args=(load, depth), daemon=True)
               for load in (http_load, resp_load) for depth in (1, 1, 7, 50)]
    for t in threads:
        t.start()
    time.sleep(0.5)
    server.signal(signal.SIGTERM)
    assert server.wait() == 0, server.log()
    for t in threads:
        t.join(30)
        assert not t.is_alive()
    assert not failures, failures
    assert len(seen) > 100
    with serve(settings).http() as http:
        left = http.peek("million", "load")
    refilled = 12 * 60  # a token comes back every 86 ms; the test takes less than a minute
    assert len(seen) - refilled <= 1_000_000 - left <= len(seen)


# ---- crash ----


@plain_only
@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS])
def test_a_crash_prints_a_stack_and_the_process_dies_of_the_signal(number):
    server = Server({}).start()
    try:
        server.signal(number)
        assert server.wait() == -number
        log = server.log()
        assert number.name in log or signal.strsignal(number) in log, log
        frames = [line for line in log.splitlines() if re.search(r"0x[0-9a-f]{6,}|\[0x|\+0x", line)]
        assert len(frames) >= 2, log
    finally:
        server.kill()


# ---- slow and idle clients ----


@pytest.mark.timeout(120)
def test_slow_clients_are_told_and_closed_and_do_not_keep_others_waiting(serve):
    """A request that trickles in has an end, whatever is still coming; the bound is docs/configuration.md's."""
    server = serve({})
    slow = [server.http(timeout=60) for _ in range(10)] + [server.resp(timeout=60) for _ in range(10)]
    stop = threading.Event()

    def trickle():
        while not stop.wait(1):
            for i, client in enumerate(slow):
                try:
                    client.send(b"a" if i < 10 else b"1")
                except OSError:
                    pass

    for client in slow:
        client.send(b"POST /v1/check HTTP/1.1\r\nX: " if isinstance(client, Http) else b"*1\r\n$")
    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        with server.http() as http:
            assert http.check("default", "a").status == 200
        answers = [client.rest() for client in slow]
        assert all(statuses(a) == [408] for a in answers[:10]), answers
        assert all(a == b"" or a.startswith(b"-ERR") for a in answers[10:]), answers
    finally:
        stop.set()
        thread.join()
    for client in slow:
        client.close()

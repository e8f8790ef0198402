"""`laju bench` against laju, against servers that stall, lie and go away, and beside the programs that people have.

Its keys are `key:` and a number, whatever it loads: so each test here has a rule of its own.
"""

import contextlib
import json
import os
import pty
import re
import selectors
import signal
import socket
import subprocess
import threading
import time

import pytest

from conftest import tool
from server import BINARY, PATIENCE_S, Server, free_port, run_laju

pytestmark = pytest.mark.alone


def day(name, limit, **members):
    """A bucket into which no token comes back while a test runs."""
    return {"name": name, "algorithm": "token-bucket", "limit": limit, "per": "1d", "match": "none", **members}


RULES = [
    *(day(name, 100) for name in ("resp", "http", "threads", "zipf", "unix")),
    day("costly", 100, cost=20),
    day("auth", 30, match={"path": "/any"}, key="header:X-User"),
    {"name": "plenty", "algorithm": "token-bucket", "limit": 4_000_000_000, "per": "1s", "match": "none"},
    {"name": "queue", "algorithm": "leaky-bucket", "limit": 500, "per": "1s", "burst": 100, "wait": "server",
     "match": {"path": ["/queue", "/slow"]}, "key": ["method", "path"]},
]


@pytest.fixture(scope="module")
def loaded():
    with Server({"rules": RULES, "memory": "64MiB"}) as server:
        yield server


def resp_door(server):
    return "resp://%s:%d" % server.resp_address


def http_door(server):
    return "http://%s:%d" % server.http_address


def begin(door, *options, duration="200ms", **environment):
    env = {name: value for name, value in os.environ.items() if name != "LAJU_PASSWORD"} | environment
    return subprocess.Popen([BINARY, "bench", door, "--json", "--duration", duration, *map(str, options)], env=env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(bench):
    out, err = bench.communicate(timeout=PATIENCE_S)
    assert "Sanitizer" not in err, err
    return bench.returncode, (json.loads(out) if out else None), err


def bench(door, *options, code=0, **more):
    found, result, err = end(begin(door, *options, **more))
    assert found == code, (result, err)
    return result


class Staller:
    """Answers each PING, and once, for a second, nobody."""

    def __init__(self, after_s):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.door = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.after_s = after_s
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        selector, stall_at, stalled = selectors.DefaultSelector(), None, False
        selector.register(self.listener, selectors.EVENT_READ)
        with contextlib.suppress(OSError, ValueError):
            while True:
                for event, _ in selector.select():
                    if event.fileobj is self.listener:
                        selector.register(self.listener.accept()[0], selectors.EVENT_READ)
                        continue
                    data = event.fileobj.recv(65536)
                    if not data:
                        selector.unregister(event.fileobj)
                        continue
                    stall_at = stall_at or time.monotonic() + self.after_s
                    if not stalled and time.monotonic() > stall_at:
                        time.sleep(1)
                        stalled = True
                    event.fileobj.sendall(b"+PONG\r\n" * data.count(b"PING"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@pytest.fixture(scope="module", autouse=True)
def slow_runs(loaded):
    """Servers that are slow, each in its way: runs that only wait, beside the other tests."""
    ping = ["--command", "PING", "-c", 4]
    with Staller(0.5) as one, Staller(0.5) as other, socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        yield {
            "open": begin(one.door, *ping, "-R", 200, duration="2s"),
            "closed": begin(other.door, *ping, duration="2s"),
            "silent": begin("127.0.0.1:%d" % silent.getsockname()[1], "-c", 3, "-P", 2, duration="100ms"),
            "queue": begin(http_door(loaded), "--command", "GET /auth", "-H", "X-Forwarded-Uri: /slow", "-c", 20, "-R", 6000,
                           duration="500ms"),
        }


@pytest.fixture(scope="module")
def slow(slow_runs):
    return {name: end(run)[:2] for name, run in slow_runs.items()}


# ---- what is allowed is the limit ----


@pytest.mark.parametrize("rule, door, options", [
    ("resp", resp_door, ["-c", 20, "-P", 8]),
    ("http", http_door, ["-c", 20, "-P", 8]),
    ("threads", resp_door, ["-c", 21, "-P", 3, "-t", 3]),
], ids=lambda value: value if isinstance(value, str) else "")
def test_seven_keys_are_allowed_seven_limits(loaded, rule, door, options):
    result = bench(door(loaded), "-r", rule, "-k", 7, *options)
    assert result["allowed"] == 700
    assert result["denied"] == result["replies"] - 700 > 0
    assert result["errors"] == result["lost"] == result["unanswered"] == result["broken"] == 0
    with loaded.http() as http:
        assert [http.peek(rule, f"key:{k:012}") for k in range(8)] == [0] * 7 + [100]


def test_a_cost_is_sent_and_without_one_the_rules_own_counts(loaded):
    assert bench(resp_door(loaded), "-r", "costly", "-k", 1, "-c", 5)["allowed"] == 5
    with loaded.resp() as resp:
        assert resp.call("LAJU.CHECK", "costly", "key:000000000000", 100)[0] == 0
    assert bench(http_door(loaded), "-r", "costly", "-k", 1, "-c", 5, "--cost", 1)["allowed"] == 0


def test_other_commands_and_the_auth_door(loaded):
    throttle = bench(resp_door(loaded), "--command", "CL.THROTTLE {key} 99 1 86400", "-k", 3, "-P", 4)
    assert throttle["allowed"] == 300 and throttle["denied"] > 0
    ping = bench(resp_door(loaded), "--command", "PING")
    assert ping["replies"] > 0 and ping["allowed"] is None and ping["errors"] == 0
    auth = bench(http_door(loaded), "--command", "GET /auth", "-H", "X-User: {key}", "-H", "X-Forwarded-Uri: /any", "-k", 2)
    assert auth["allowed"] == 60 and auth["denied"] > 0 and auth["errors"] == 0


def test_zipf_asks_for_the_first_key_most(loaded):
    result = bench(resp_door(loaded), "-r", "zipf", "-k", 1_000_000, "--zipf", 1.2, "-c", 4, "-R", 2000, duration="500ms")
    assert result["replies"] == 1000
    with loaded.http() as http:
        used = [100 - http.peek("zipf", f"key:{k:012}") for k in range(3)]
    # the shares are 0.19, 0.08 and 0.05; by the same numbers each time
    assert used[0] > used[1] > used[2] > 20


def test_unix_sockets_and_a_password(serve):
    server = serve({"rules": RULES, "resp_password": "open sesame"}, unix=True)
    door = f"unix:{server.resp_address}"
    assert bench(door, "-r", "unix", "-k", 1, LAJU_PASSWORD="open sesame")["allowed"] == 100
    assert bench(f"http://unix:{server.http_address}", "-r", "http", "-k", 1)["allowed"] == 100
    code, result, err = end(begin(door, "--password", "open barley"))
    assert (code, result) == (2, None) and "WRONGPASS" in err and "barley" not in err
    result = bench(door, "-r", "unix", code=1)
    assert result["errors"] == result["replies"] > 0 and result["error"].startswith("NOAUTH")


# ---- rates and times ----


def test_an_open_loop_sends_as_many_as_are_due(loaded):
    result = bench(resp_door(loaded), "-r", "plenty", "-R", 2000, "-c", 10, "-t", 2, duration="500ms")
    assert result["replies"] == 1000 and result["unsent"] == 0
    assert result["throughput"] <= 2000 * 1.01  # of those within the time


# ---- what goes wrong ----


def refused(door, *words, options=()):
    code, result, err = end(begin(door, *options))
    assert (code, result, err.count("\n")) == (2, None, 1), err
    for word in ("laju bench: ", *words):
        assert word in err
    return err


def test_where_no_load_can_be_put_it_says_why(loaded):
    port = free_port()
    refused(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port} cannot be reached: Connection refused", "does anything listen")
    refused("unix:/nonexistent/laju.sock", "No such file", "does anything listen")
    refused(http_door(loaded).replace("http", "resp"), "does not speak RESP; is it the address for HTTP?")
    refused(resp_door(loaded).replace("resp", "http"), "without an answer; does it speak this protocol?")
    refused("ftp://127.0.0.1:1", "scheme", "allowed: resp://ADDR, http://ADDR, rediss:// and https:// by TLS")
    refused("nosuchhost.invalid:1", "nosuchhost.invalid has no address")


@pytest.mark.parametrize("options, words", [
    (["-c", "0"], ["--connections", '"0" is out of range', "1 to 10000"]),
    (["-c", "10001"], ["--connections", "1 to 10000"]),
    (["-P", "1025"], ["--pipeline", "1 to 1024"]),
    (["-k", "0"], ["--keys", "1 to 1000000000"]),
    (["-R", "0"], ["--rate", "1 to 10000000"]),
    (["-t", "51"], ["--threads", "51 is more than the 50 connections"]),
    (["--zipf", "11"], ["--zipf", "0 to 10"]),
    (["--zipf", "nan"], ["--zipf", "0 to 10"]),
    (["--zipf", "-1"], ["--zipf", "0 to 10"]),
    (["-d", "10"], ["--duration", "has no unit", '"10s"']),
    (["-d", "99ms"], ["--duration", "100ms to 1d"]),
    (["-r", "a b"], ["--rule", "is no rule's name"]),
    (["-n", "-1"], ["--cost"]),
    (["-H", "X: y"], ["--header", "with http://ADDR"]),
    (["-H", "X"], ["--header", "is no header"]),
    (["-H", "X: y\r\nZ: y"], ["--header", "is no header"]),
    (["--command", ""], ["--command", "is no command"]),
    (["--command", "{key}" * 65], ["--command", "too many keys"]),
], ids=lambda value: value[0] if value[0].startswith("-") else "")
def test_an_option_out_of_range_is_named_with_what_is_allowed(options, words):
    refused("127.0.0.1:1", *words, options=options)


def test_errors_are_counted_and_the_first_is_told(loaded):
    resp = bench(resp_door(loaded), "-r", "nosuch", code=1)
    assert resp["errors"] == resp["replies"] > 0 and "nosuch" in resp["error"]
    http = bench(http_door(loaded), "-r", "nosuch", code=1)
    assert http["errors"] == http["replies"] > 0 and http["error"].startswith("HTTP 400 ") and "rule" in http["error"]


def test_a_server_that_goes_and_comes_back_is_loaded_again(serve):
    server = serve({"rules": RULES})
    running = begin(resp_door(server), "-r", "plenty", "-R", 1000, "-c", 8, duration="1500ms")
    time.sleep(0.5)
    server.kill()
    time.sleep(0.3)
    server.start()
    code, result, _ = end(running)
    assert code == 1 and result["broken"] >= 8 and result["lost"] > 0
    # what was due while it was gone is sent when it is back, late
    assert result["replies"] + result["lost"] + result["unsent"] == 1500
    assert result["replies"] > 700 and result["latency_us"]["max"] > 250_000


# ---- while it runs ----


def test_requests_that_the_socket_does_not_take_at_once_go_out_whole():
    """128 of 60,000 bytes each, more than sockets hold, to a server that begins to read when nothing more goes in."""
    request = b"POST / HTTP/1.1\r\n"
    body, counts = b"x" * 60000, []

    def answer(listener):
        with listener.accept()[0] as connection:
            connection.settimeout(PATIENCE_S)
            time.sleep(0.2)
            read = bytearray()
            while data := connection.recv(1 << 20):
                read += data
                while (end := read.find(body)) >= 0:
                    assert read.startswith(request)
                    del read[:end + len(body)]
                    counts.append(1)
                    connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            assert not read

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        thread = threading.Thread(target=answer, args=[listener])
        thread.start()
        result = bench("http://127.0.0.1:%d" % listener.getsockname()[1], "-c", 1, "-P", 128, "--command",
                       f"POST / {body.decode()}", duration="300ms")
        thread.join(PATIENCE_S)
    assert result["allowed"] == len(counts) >= 128


@pytest.mark.parametrize("reply", [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", b"HTTP/1.1 200 OK\r\n\r\nok"])
def test_a_server_that_answers_once_a_connection_loses_nothing(reply):
    listener = socket.create_server(("127.0.0.1", 0))

    def answer():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(PATIENCE_S)
                if connection.recv(65536):
                    connection.sendall(reply)
                    connection.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        result = bench("http://127.0.0.1:%d" % listener.getsockname()[1], "-c", 2, "--command", "GET /", duration="100ms")
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(PATIENCE_S)
    assert result["allowed"] > 10 and (result["lost"], result["broken"]) == (0, 0)


def test_ctrl_c_ends_it_with_its_figures(loaded):
    running = begin(resp_door(loaded), "-r", "plenty", duration="1h")
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    code, result, _ = end(running)
    assert code == 0 and result["replies"] > 0 and result["unanswered"] == 0
    assert result["seconds"] < PATIENCE_S


def test_on_a_terminal_there_is_a_line_a_second_and_else_there_is_none(loaded):
    ours, theirs = pty.openpty()
    quiet = begin(resp_door(loaded), "-r", "plenty", "-c", 2, duration="1200ms")
    done = subprocess.run([BINARY, "bench", resp_door(loaded), "-r", "plenty", "-c", "3", "-d", "1200ms"], stdout=subprocess.PIPE,
                          stderr=theirs, text=True, timeout=PATIENCE_S, check=True)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert re.search(r"^ +1s  [\d,]+/s   so far: p50 [\d.]+[um]?s, p99 [\d.]+[um]?s, denied 0, errors 0\r$", shown, re.M), shown
    assert re.search(r"^throughput  [\d,]+/s over [\d.]+ s$", done.stdout, re.M), done.stdout
    assert "3 connections, pipeline 1, 1 threads, 10,000 keys, closed loop\n" in done.stdout
    assert end(quiet)[2] == ""


# ---- beside others ----
#
# The server sets the pace in both, whatever else this machine does: so all must find the same.


def run_tool(name, *arguments):
    done = subprocess.run([tool(name), *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE_S * 2, check=True)
    return done.stdout


def test_redis_benchmark_and_it_find_the_same(redis_server):
    server = redis_server(enable_debug_command="yes")
    words = ["DEBUG", "SLEEP", "0.005"]  # of the whole server, for each request

    def theirs():
        out = run_tool("redis-benchmark", "-p", server.port, "-c", 10, "-n", 60, "--csv", *words)
        return float(out.splitlines()[-1].split('","')[1])

    def ours():
        return bench("127.0.0.1:%d" % server.port, "-c", 10, "--command", " ".join(words), duration="300ms")["throughput"]

    pairs = [(ours(), theirs()) for _ in range(2)]  # a busy machine only ever slows one of them down
    best_ours, best_theirs = map(max, zip(*pairs))
    assert 0.5 < best_ours / best_theirs < 2 and best_ours < 200


def test_wrk_and_it_find_the_same(loaded):
    """A queue that lets 500 a second through, once the first hundred have filled it."""
    uri = "X-Forwarded-Uri: /queue"
    out = run_tool("wrk", "-t", 1, "-c", 20, "-d", "1s", "-H", uri, loaded.url("/auth"))
    theirs = float(re.search(r"Requests/sec: +([\d.]+)", out).group(1))
    result = bench(http_door(loaded), "-c", 20, "--command", "GET /auth", "-H", uri, duration="500ms")
    assert 0.5 < result["throughput"] / theirs < 2
    assert result["throughput"] <= 550 and result["denied"] == 0


# ---- and what became of those that were slow ----


def test_an_open_loop_shows_the_stall_that_a_closed_one_hides(slow):
    (_, open_loop), (_, closed) = slow["open"], slow["closed"]
    # half of all requests were due within the second, and waited for what was left of it
    assert open_loop["replies"] == 400 and open_loop["unsent"] == 0
    assert open_loop["latency_us"]["p99"] > 900_000
    assert 500_000 < open_loop["latency_us"]["p90"] < 1_900_000
    assert open_loop["latency_us"]["max"] > 990_000
    # four requests of thousands met it: only the maximum tells
    assert closed["latency_us"]["p99"] < 300_000
    assert closed["latency_us"]["max"] > 990_000


def test_a_server_too_slow_for_the_rate_leaves_requests_unsent(slow):
    """500 a second, of 3,000 that are due: in half a second and the three of patience."""
    code, result = slow["queue"]
    assert code == 1 and result["replies"] + result["unsent"] + result["unanswered"] == 3000
    assert 1000 < result["unsent"] < 2000 and result["unanswered"] <= 20
    assert result["latency_us"]["max"] > 2_000_000


def test_a_server_that_never_answers_is_given_up(slow):
    code, result = slow["silent"]
    assert code == 1 and result["replies"] == 0 and result["unanswered"] == 6

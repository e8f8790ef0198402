"""HTTP/1 as it comes over the wire: framing, keep-alive, pipelines, bad manners."""

import json
import random
import socket
import subprocess
import threading
import time

import pytest

import law
from conftest import tool


def body_for(key, **more):
    return json.dumps({"rule": "login", "key": key, **more}).encode()


def chunked(*parts, trailer=b""):
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n" + trailer + b"\r\n"


def post_head(*headers, version="1.1"):
    return "\r\n".join([f"POST /v1/check HTTP/{version}", "Host: a", *headers, "", ""]).encode()


# ---- connections ----


def test_a_connection_is_kept_for_many_requests(laju, key):
    with laju.http() as http:
        for left in range(9, -1, -1):
            response = http.check("login", key)
            assert response.json["remaining"] == left
            assert response.header("Connection") in (None, "keep-alive")


def test_a_pipeline_is_answered_in_its_order(laju, key):
    with laju.http() as http:
        http.send(b"".join(http.request("POST", "/v1/check", body_for(f"{key}-{i % 7}", cost=1)) for i in range(70)))
        for i in range(70):
            assert http.response().json["remaining"] == 9 - i // 7


def test_a_pipeline_of_all_kinds_is_answered_in_its_order(laju, key):
    asks = [("POST", "/v1/check", body_for(key)), ("GET", "/healthz", None), ("POST", "/v1/check", b"{"), ("HEAD", "/healthz", None),
            ("GET", "/nowhere", None), ("POST", "/v1/batch", b"[%s]" % body_for(key)), ("POST", "/v1/check", body_for(key))]
    with laju.http() as http:
        http.send(b"".join(http.request(*ask) for ask in asks * 5))
        for round_ in range(5):
            answers = [http.response(head_only=method == "HEAD") for method, _, _ in asks]
            remaining = 10 - 3 * round_
            wanted = [200 if remaining >= 1 else 429, 200, 400, 200, 404, 200, 200 if remaining >= 3 else 429]
            assert [a.status for a in answers] == wanted


def test_a_large_pipeline_does_not_stall_a_client_that_reads_late(laju, key):
    """Megabytes of answers that nobody reads yet: the server waits, and then goes on."""
    count = 20000
    with laju.http() as http:
        request = http.request("POST", "/v1/check", json.dumps({"rule": "plenty", "key": key}).encode())
        http.socket.settimeout(60)
        http.socket.setblocking(False)
        unsent = memoryview(request * count)
        stalled_at = time.monotonic() + 1
        while unsent and time.monotonic() < stalled_at:
            try:
                unsent = unsent[http.socket.send(unsent):]
                stalled_at = time.monotonic() + 0.3
            except BlockingIOError:
                time.sleep(0.01)
        read = 0
        while read < count:
            http.socket.setblocking(False)
            try:
                while unsent:
                    unsent = unsent[http.socket.send(unsent):]
            except BlockingIOError:
                pass
            http.socket.settimeout(60)
            assert http.response().status == 200
            read += 1


def test_full_batches_in_a_pipeline_are_answered_whole(laju, key):
    """More checks in one run of bytes than the server decides at a time."""
    batch = [{"rule": "login", "key": f"{key}-{i}"} for i in range(1000)]
    with laju.http() as http:
        http.send(http.request("POST", "/v1/batch", batch) * 5 + http.request("POST", "/v1/check", batch[0]) * 5)
        for left in range(9, 4, -1):
            response = http.response()
            assert {d["remaining"] for d in response.json} == {left} and len(response.json) == 1000
        assert [http.response().json["remaining"] for _ in range(5)] == [4, 3, 2, 1, 0]


def test_long_errors_in_a_pipeline_are_answered_whole(laju):
    """Each problem quotes what was wrong; together they are more than fits one batch's notes."""
    with laju.http() as http:
        http.send(b"".join(http.request("POST", "/v1/check", {"rule": "x" * 3000 + str(i), "key": "a"}) for i in range(300)))
        for _ in range(300):
            assert http.response().status == 400


def test_the_body_of_a_get_is_not_taken_for_a_request(laju, key):
    inner = post_head(f"Content-Length: {len(body_for(key))}") + body_for(key)
    with laju.http() as http:
        http.send(http.request("GET", "/healthz", inner) + http.request("GET", "/nowhere", inner) +
                  http.request("DELETE", "/v1/check", inner) + http.request("GET", "/healthz"))
        assert [http.response().status for _ in range(4)] == [200, 404, 405, 200]
        assert http.peek("login", key) == 10


def test_a_target_may_be_a_whole_url(laju, key):
    with laju.http() as http:
        assert http.post("http://localhost/v1/check", body_for(key)).status == 200
        assert http.get("HTTP://elsewhere:80/healthz").status == 200
        assert http.peek("login", key) == 9


def test_one_who_pipelines_without_end_does_not_keep_others_waiting(serve):
    server = serve({"workers": 1, "rules": [law.rule("token-bucket", 1_000_000_000, per="1s", name="plenty")]})
    stop = threading.Event()

    def greedy():
        with server.http() as http:
            http.socket.settimeout(30)
            request = http.request("POST", "/v1/check", {"rule": "plenty", "key": "greedy"}) * 500
            while not stop.is_set():
                http.send(request)
                for _ in range(500):
                    http.response()

    threads = [threading.Thread(target=greedy) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        with server.http() as http, server.resp() as resp:
            for _ in range(30):
                began = time.monotonic()
                assert http.check("plenty", "patient").status == 200
                assert resp.call("PING") == "PONG"
                assert time.monotonic() - began < 5
    finally:
        stop.set()
        for t in threads:
            t.join()


def test_connection_close_is_honoured(laju, key):
    with laju.http() as http:
        response = http.post("/v1/check", body_for(key), headers=["Connection: close"])
        assert response.status == 200 and response.header("Connection") == "close"
        assert http.rest() == b""


def test_http_1_0_closes_unless_it_asks_to_stay(laju, key):
    with laju.http() as http:
        response = http.post("/v1/check", body_for(key), version="1.0")
        assert response.status == 200
        assert http.rest() == b""
    with laju.http() as http:
        for _ in range(3):
            response = http.post("/v1/check", body_for(key), version="1.0", headers=["Connection: keep-alive"])
            assert response.status == 200 and response.header("Connection").lower() == "keep-alive"


def test_a_half_closed_client_still_gets_every_answer(laju, key):
    with laju.http() as http:
        http.send(b"".join(http.request("POST", "/v1/check", body_for(key)) for _ in range(10)))
        http.half_close()
        assert [http.response().json["remaining"] for _ in range(10)] == list(range(9, -1, -1))
        assert http.rest() == b""


def test_a_request_that_comes_byte_by_byte_is_understood(laju, key):
    with laju.http() as http:
        for request in (http.request("POST", "/v1/check", body_for(key)),
                        post_head("Transfer-Encoding: chunked") + chunked(*[bytes([b]) for b in body_for(key)])):
            for byte in request:
                http.send(bytes([byte]))
            assert http.response().status == 200
        assert http.peek("login", key) == 8


def test_a_request_cut_anywhere_is_understood(laju, key):
    with laju.http() as http:
        both = http.request("POST", "/v1/check", body_for(key, cost=0)) * 2
        for cut in range(1, len(both), 5):
            http.send(both[:cut])
            time.sleep(0.001)
            http.send(both[cut:])
            assert [http.response().status for _ in range(2)] == [200, 200]


def test_a_thousand_connections_are_served_at_once(laju, key):
    clients = [laju.http() for _ in range(1000)]
    try:
        for client in clients:
            client.send(client.request("POST", "/v1/check", body_for(key)))
        answers = [client.response() for client in clients]
        assert sum(a.status == 200 for a in answers) == 10
        assert sum(a.status == 429 for a in answers) == 990
    finally:
        for client in clients:
            client.close()


# ---- bodies ----


def test_chunked_bodies_with_extensions_and_trailers_are_taken(laju, key):
    body = body_for(key)
    with laju.http() as http:
        head = post_head("Transfer-Encoding: chunked")
        http.send(head + chunked(body) + head + chunked(body[:5], body[5:9], body[9:], trailer=b"X-Sum: 1\r\n"))
        http.send(head + b"%x;name=value\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        assert [http.response().json["remaining"] for _ in range(3)] == [9, 8, 7]


def test_expect_100_continue_is_answered_before_the_body(laju, key):
    body = body_for(key)
    with laju.http() as http:
        http.send(post_head("Expect: 100-continue", f"Content-Length: {len(body)}"))
        assert http.response().status == 100
        http.send(body)
        assert http.response().status == 200
        # A client that does not wait gets the same answer.
        http.send(post_head("Expect: 100-continue", f"Content-Length: {len(body)}") + body)
        response = http.response()
        assert (http.response() if response.status == 100 else response).json["remaining"] == 8


def test_head_has_the_headers_of_get_and_no_body(laju):
    with laju.http() as http:
        for path in ("/healthz", "/readyz"):
            got, head = http.get(path), http.exchange("HEAD", path)
            assert head.status == 200 and head.body == b""
            assert head.header("Content-Length") == got.header("Content-Length")
        assert http.exchange("HEAD", "/v1/check").status == 405
        assert http.exchange("HEAD", "/nowhere").status == 404
        assert http.get("/healthz").status == 200


def test_empty_lines_before_a_request_are_forgiven(laju, key):
    with laju.http() as http:
        http.send(b"\r\n\r\n" + http.request("GET", "/healthz"))
        assert http.response().status == 200


# ---- bounds ----


def refused(http, *statuses):
    """A problem document of one of these kinds, and then the end of the connection."""
    response = http.response()
    assert response.status in statuses, response
    assert response.header("Content-Type").startswith("application/problem+json")
    assert response.header("Connection") == "close"
    return response


def send_until_refused(http, pieces):
    """Sends without end: the server may close before it has taken all of it."""
    try:
        for piece in pieces:
            http.send(piece)
    except (BrokenPipeError, ConnectionResetError):
        pass


def test_a_url_that_is_too_long_is_refused(laju):
    with laju.http() as http:
        send_until_refused(http, [b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"])
        refused(http, 414, 431)


def test_headers_that_are_too_large_or_too_many_are_refused(laju):
    for headers in ([f"X-Big: {'a' * 200_000}"], [f"X-{i}: a" for i in range(20_000)]):
        with laju.http() as http:
            send_until_refused(http, [http.request("GET", "/healthz", headers=headers)])
            refused(http, 431)


def test_an_endless_header_is_refused_long_before_memory_is(laju):
    with laju.http() as http:
        http.send(b"GET /healthz HTTP/1.1\r\nX: ")
        send_until_refused(http, (b"a" * 65536 for _ in range(200)))
        assert b" 431 " in http.rest() + b" 431 "  # the answer may be lost to the reset that ends a client still sending
    assert laju.process.poll() is None


def test_headers_like_those_of_a_browser_are_no_trouble(laju):
    headers = [f"X-Header-{i}: {'v' * 100}" for i in range(40)] + ["Cookie: " + "c=1; " * 400]
    with laju.http() as http:
        assert http.get("/healthz", headers=headers).status == 200


@pytest.mark.parametrize("length", ["100000000", "99999999999999999999999", "4294967296", "18446744073709551616"])
def test_a_body_that_is_too_large_is_refused_before_it_is_sent(laju, length):
    with laju.http() as http:
        http.send(post_head(f"Content-Length: {length}"))
        refused(http, 413, 400)


def test_a_body_that_is_too_large_is_refused_before_it_is_asked_for(laju):
    with laju.http() as http:
        http.send(post_head("Content-Length: 100000000", "Expect: 100-continue"))
        refused(http, 413)


def test_a_chunked_body_without_end_is_refused(laju):
    with laju.http() as http:
        http.send(post_head("Transfer-Encoding: chunked"))
        send_until_refused(http, (b"10000\r\n" + b" " * 65536 + b"\r\n" for _ in range(300)))
        rest = http.rest()
    assert rest == b"" or b" 413 " in rest
    assert laju.process.poll() is None


def test_chunk_headers_without_end_are_refused(laju):
    with laju.http() as http:
        http.send(post_head("Transfer-Encoding: chunked") + b"1;")
        send_until_refused(http, (b"x" * 65536 for _ in range(300)))
        http.rest()
    with laju.http() as http:
        http.send(post_head("Transfer-Encoding: chunked") + b"0\r\n")
        send_until_refused(http, (b"T: x\r\n" * 10000 for _ in range(300)))
        http.rest()
    with laju.http() as http:
        assert http.get("/healthz").status == 200


# ---- what is not HTTP ----

GARBAGE = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"*1\r\n$4\r\nPING\r\n", b"GET\r\n\r\n", b"\x00" * 100,
    b"GET / HTTP/9.9\r\n\r\n", b"GET / FTP/1.1\r\n\r\n", b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n", b"BREW /pot HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n", b"\xff\xfe" * 50 + b"\r\n\r\n",
    b"GET / HTTP/1.1\nHost: a\n\n\x00", b" GET / HTTP/1.1\r\n\r\n", b"G ET / HTTP/1.1\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_refused_and_the_connection_closed(laju, garbage):
    with laju.http() as http:
        http.send(garbage)
        http.half_close()
        answer = http.rest()
    assert answer == b"" or answer.split(b" ")[1] in (b"400", b"404", b"405", b"501", b"505"), answer
    assert laju.process.poll() is None


def test_random_bytes_do_no_harm(laju):
    rng = random.Random(5)
    for _ in range(150):
        with laju.http() as http:
            start = rng.choice([b"", b"POST /v1/check HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: a\r\n"])
            try:
                http.send(start + rng.randbytes(rng.randrange(1, 2000)))
                http.half_close()
                http.rest()
            except ConnectionError:
                pass
    with laju.http() as http:
        assert http.get("/healthz").status == 200


SMUGGLES = {
    "both lengths": ["Content-Length: 4", "Transfer-Encoding: chunked"],
    "chunked twice": ["Transfer-Encoding: chunked, chunked"],
    "an encoding unknown": ["Transfer-Encoding: gzip"],
    "chunked not last": ["Transfer-Encoding: chunked, gzip"],
    "two lengths": ["Content-Length: 4", "Content-Length: 5"],
    "a list of lengths": ["Content-Length: 4, 5"],
    "a signed length": ["Content-Length: +4"],
    "a negative length": ["Content-Length: -4"],
    "a hexadecimal length": ["Content-Length: 0x4"],
    "a space before the colon": ["Content-Length : 4"],
    "a folded header": ["X: a", " Content-Length: 4"],
    "a bare carriage return": ["X: a\rContent-Length: 4"],
    "a bare line feed": ["X: a\nTransfer-Encoding: chunked"],
}


@pytest.mark.parametrize("headers", SMUGGLES.values(), ids=SMUGGLES.keys())
def test_a_request_that_could_be_cut_in_two_ways_is_refused(laju, key, headers):
    """The second request must never be decided: another server may have seen it as the first one's body."""
    smuggled = post_head(f"Content-Length: {len(body_for(key))}") + body_for(key)
    with laju.http() as http:
        http.send(post_head(*headers) + b"0\r\n\r\n" + smuggled)
        http.half_close()
        answer = http.rest()
    assert b" 200 " not in answer.replace(b"200 OK\r\n", b" 200 "), answer
    assert answer.count(b"HTTP/1.") <= 1
    assert answer == b"" or answer.split(b" ")[1] in (b"400", b"501"), answer
    with laju.http() as http:
        assert http.peek("login", key) == 10


def test_a_bad_chunk_size_is_refused_and_charges_nothing(laju, key):
    for size in (b"zz", b"-5", b"0x5", b"", b"fffffffffffffffff", b"5 "):
        with laju.http() as http:
            http.send(post_head("Transfer-Encoding: chunked") + size + b"\r\n" + body_for(key) + b"\r\n0\r\n\r\n")
            http.half_close()
            answer = http.rest()
        assert answer == b"" or b" 200 " not in answer.split(b"\r\n")[0], (size, answer)
    with laju.http() as http:
        assert http.peek("login", key) == 10


def test_a_body_cut_short_by_the_client_is_not_decided(laju, key):
    with laju.http() as http:
        http.send(post_head("Content-Length: 1000") + body_for(key))
        http.half_close()
        answer = http.rest()
    assert b"200" not in answer.split(b"\r\n")[0]
    with laju.http() as http:
        assert http.peek("login", key) == 10


def test_what_comes_after_a_refused_request_is_not_read(laju, key):
    with laju.http() as http:
        http.send(b"GARBAGE\r\n\r\n" + http.request("POST", "/v1/check", body_for(key)))
        answer = http.rest()
    assert answer.count(b"HTTP/1.1") == 1
    with laju.http() as http:
        assert http.peek("login", key) == 10


def test_clients_that_vanish_do_no_harm(laju, key):
    for i in range(200):
        http = laju.http()
        http.send(http.request("POST", "/v1/check", json.dumps({"rule": "plenty", "key": key}).encode())[:10 + i])
        # An RST at once, sometimes in the middle of a request or of an answer.
        http.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        http.close()
    with laju.http() as http:
        assert http.get("/healthz").status == 200


# ---- curl ----


def curl(laju, *arguments, path="/v1/check", data=None):
    command = [tool("curl"), "-sS", "-i", "--max-time", "20", *arguments, laju.url(path)]
    done = subprocess.run(command, input=data, capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_plain_curl_works(laju, key):
    answer = curl(laju, "-d", json.dumps({"rule": "login", "key": key}))
    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert json.loads(answer.split("\r\n\r\n")[1])["remaining"] == 9


def test_curl_sends_a_large_body_with_expect(laju, key):
    """curl asks before it sends more than a megabyte, or where it is told to."""
    batch = json.dumps([{"rule": "login", "key": f"{key}-{i}-{'x' * 800}"} for i in range(1000)]).encode()
    for options in ([], ["-H", "Expect: 100-continue"], ["-H", "Transfer-Encoding: chunked"], ["--http1.0"]):
        answer = curl(laju, "--data-binary", "@-", *options, path="/v1/batch", data=batch)
        head, body = answer.rsplit("\r\n\r\n", 1)
        assert " 200 OK" in head
        assert len(json.loads(body)) == 1000


def test_curl_on_a_unix_socket(serve):
    server = serve({}, unix=True)
    done = subprocess.run([tool("curl"), "-sS", "--unix-socket", server.http_address, "-d", '{"rule":"default","key":"a"}',
                           "http://laju/v1/check"], capture_output=True, timeout=30, check=True)
    assert json.loads(done.stdout)["remaining"] == 99


def test_curl_head_and_fail(laju, key):
    assert curl(laju, "-I", path="/healthz").startswith("HTTP/1.1 200")
    for _ in range(2):
        done = subprocess.run([tool("curl"), "-sS", "-f", "-d", json.dumps({"rule": "login", "key": key, "cost": 10}),
                               laju.url("/v1/check")], capture_output=True, timeout=30)
    assert done.returncode == 22 and b"429" in done.stderr

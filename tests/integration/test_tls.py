"""TLS at the doors: real clients, certificates that are wrong, that expire, that change, and clients that stall."""

import json
import os
import pty
import socket
import ssl
import subprocess
import threading
import time

import pytest

from server import BINARY, PATIENCE_S, Server, free_port, run_laju
from wire import Http, Resp


def openssl(*words, cwd):
    subprocess.run(["openssl", *map(str, words)], cwd=cwd, check=True, capture_output=True)


class Authority:
    """Signs certificates, as PEM files with their keys in them."""

    def __init__(self, home, name):
        self.home, self.name = home, name
        self.cert = home / f"{name}-ca.crt"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 1,
                "-subj", f"/CN={name}", "-keyout", f"{name}-ca.key", "-out", self.cert, cwd=home)

    def sign(self, path, common_name, *, days=1):
        (self.home / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={common_name}",
                "-keyout", "key", "-out", "request", cwd=self.home)
        openssl("x509", "-req", "-in", "request", "-CA", self.cert, "-CAkey", f"{self.name}-ca.key", "-CAcreateserial",
                "-days", days, "-extfile", "names", "-out", "crt", cwd=self.home)
        aside = self.home / "aside"
        aside.write_bytes((self.home / "key").read_bytes() + (self.home / "crt").read_bytes())
        os.rename(aside, path)
        return path


class SecureServer(Server):
    def __init__(self, authority, tls, **options):
        super().__init__({"tls": tls, "rules": [{"name": "plenty", "limit": 4_000_000_000, "per": "1h"}]}, **options)
        self.authority = authority

    def context(self):
        return ssl.create_default_context(cafile=self.authority.cert)

    def secure(self, client, context=None):
        client.socket = (context or self.context()).wrap_socket(client.socket, server_hostname="localhost")
        return client

    def http(self, **options):
        return self.secure(super().http(**options))

    def resp(self, **options):
        return self.secure(super().resp(**options))


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "ours")


@pytest.fixture(scope="module")
def certificate(authority):
    return authority.sign(authority.home / "laju.pem", "first")


@pytest.fixture(scope="module")
def secure(authority, certificate):
    with SecureServer(authority, {"cert": str(certificate)}) as server:
        yield server


def shown_name(server, door="http"):
    with getattr(server, door)() as client:
        subject = dict(pair for part in client.socket.getpeercert()["subject"] for pair in part)
        return subject["commonName"]


def test_curl_and_redis_cli_speak_to_the_doors(secure, authority, key):
    url = "https://localhost:%d/v1/check" % secure.http_address[1]
    curl = ["curl", "-sS", "--max-time", "10", "--cacert", authority.cert, url, "-d", f'{{"rule":"plenty","key":"{key}"}}']
    assert b'"remaining":3999999999' in subprocess.run(curl, capture_output=True, check=True).stdout
    cli = ["redis-cli", "--tls", "--cacert", authority.cert, "-p", str(secure.resp_address[1]), "LAJU.CHECK", "plenty", key]
    assert b"3999999998" in subprocess.run(cli, capture_output=True, check=True, timeout=10).stdout
    assert "https://" in secure.log() and "rediss://" in secure.log()


def test_pipelines_and_large_bodies_pass_whole(secure, key):
    checks = [{"rule": "plenty", "key": f"{key}-{i}"} for i in range(1000)]
    with secure.http() as http:
        for _ in range(3):
            assert len(http.post("/v1/batch", checks).json) == 1000
    with secure.resp() as resp:
        replies = resp.pipeline([["LAJU.CHECK", "plenty", key]] * 5000)
        assert [r[2] for r in replies] == [4_000_000_000 - 1 - i for i in range(5000)]


def test_http_2_is_not_pretended(secure):
    context = secure.context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with secure.secure(Http(secure.http_address), context) as http:
        assert http.socket.selected_alpn_protocol() == "http/1.1"


@pytest.mark.parametrize("wrong", ["another authority", "another name", "expired"])
def test_a_client_that_looks_does_not_take_a_wrong_certificate(authority, secure, wrong, tmp_path):
    """What laju shows is what its files hold; that clients can tell is TLS' work, and seen here to be done."""
    if wrong == "expired":
        stale = authority.sign(tmp_path / "expired.pem", "expired", days=-1)
        with Server({"tls": {"cert": str(stale), "doors": ["resp"]}}) as server:
            context = ssl.create_default_context(cafile=authority.cert)
            with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
                context.wrap_socket(socket.create_connection(server.resp_address), server_hostname="localhost")
        return
    context = ssl.create_default_context(
        cafile=Authority(tmp_path, "theirs").cert if wrong == "another authority" else authority.cert)
    name = "example.com" if wrong == "another name" else "localhost"
    with pytest.raises(ssl.SSLCertVerificationError):
        context.wrap_socket(socket.create_connection(secure.http_address), server_hostname=name)
    assert secure.answers()


@pytest.mark.parametrize("tls, why", [
    ({"cert": "none.pem"}, "none.pem: No such file"),
    ({"cert": "{good}", "key": "{other}"}, "key values mismatch"),
    ({"cert": "{text}"}, "no start line"),
])
def test_files_that_do_not_do_are_told_at_the_start(authority, certificate, tmp_path, tls, why):
    text = tmp_path / "text"
    text.write_text("no certificate")
    names = {"good": certificate, "other": authority.sign(tmp_path / "other.pem", "other"), "text": text}
    server = Server({"tls": {k: v.format(**names) for k, v in tls.items()}}).launch()
    assert server.wait() == 1
    assert why in server.log()


def test_a_key_with_a_passphrase_is_refused_and_the_terminal_is_not_asked_for_it(authority, certificate, tmp_path):
    openssl("pkey", "-in", certificate, "-aes128", "-passout", "pass:barley", "-out", tmp_path / "locked", cwd=tmp_path)
    (tmp_path / "laju.yaml").write_text(
        f"listen: {{http: '127.0.0.1:{free_port()}'}}\ntls: {{cert: {certificate}, key: {tmp_path}/locked}}\n")
    terminal, own = pty.openpty()
    try:
        laju = subprocess.run(["setsid", "--ctty", BINARY, "serve", "--config", tmp_path / "laju.yaml"], stdin=own,
                              capture_output=True, text=True, timeout=PATIENCE_S)
    finally:
        os.close(terminal)
        os.close(own)
    assert laju.returncode == 1 and "cannot speak TLS" in laju.stderr and "locked" in laju.stderr


def test_certificates_are_swapped_under_load(authority, tmp_path, key):
    path = authority.sign(tmp_path / "laju.pem", "first")
    with SecureServer(authority, {"cert": str(path)}) as server:
        assert shown_name(server) == "first"
        failures, answered, stop = [], [0], threading.Event()

        def client():
            try:
                while not stop.is_set():
                    with server.http() as http:
                        for _ in range(5):
                            assert http.check("plenty", key).json["allowed"]
                            answered[0] += 1
            except Exception as e:  # the thread's end must be seen
                failures.append(repr(e))

        threads = [threading.Thread(target=client) for _ in range(4)]
        for thread in threads:
            thread.start()
        lasting = server.http()
        try:
            path.write_text("half written")
            deadline = time.monotonic() + PATIENCE_S
            while "cannot be used" not in server.log() and time.monotonic() < deadline:
                time.sleep(0.05)
            assert shown_name(server) == "first"
            authority.sign(path, "second")
            while shown_name(server) != "second" and time.monotonic() < deadline:
                time.sleep(0.05)
            assert shown_name(server) == shown_name(server, "resp") == "second"
            assert lasting.check("plenty", key).json["allowed"]  # who was there before goes on
        finally:
            lasting.close()
            stop.set()
            for thread in threads:
                thread.join()
        assert failures == []
        assert answered[0] > 0


def test_clients_show_a_certificate_where_one_is_asked_for(authority, certificate, tmp_path):
    theirs = Authority(tmp_path, "clients")
    good, stranger = theirs.sign(tmp_path / "good.pem", "client"), authority.sign(tmp_path / "stranger.pem", "client")
    tls = {"cert": str(certificate), "client_ca": str(theirs.cert), "doors": ["resp"]}
    with Server({"tls": tls}) as server:
        assert server.answers()  # HTTP is not among the doors
        for shown, admitted in ((good, True), (stranger, False), (None, False)):
            context = ssl.create_default_context(cafile=authority.cert)
            if shown:
                context.load_cert_chain(shown)
            try:
                client = Resp(server.resp_address)
                client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
                assert client.call("PING") == "PONG"
                assert admitted
            except (ssl.SSLError, EOFError, ConnectionResetError, BrokenPipeError):
                assert not admitted


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_who_has_shown_a_certificate_comes_again_by_a_ticket(authority, certificate, tmp_path, version):
    theirs = Authority(tmp_path, "clients")
    with Server({"tls": {"cert": str(certificate), "client_ca": str(theirs.cert), "doors": ["resp"]}}) as server:
        context = ssl.create_default_context(cafile=authority.cert)
        context.maximum_version = version
        context.load_cert_chain(theirs.sign(tmp_path / "client.pem", "client"))
        session = None
        for _ in range(2):
            with Resp(server.resp_address) as client:
                client.socket = context.wrap_socket(client.socket, server_hostname="localhost", session=session)
                assert client.call("PING") == "PONG"
                assert client.socket.session_reused == (session is not None)
                session = client.socket.session


def test_unix_sockets_stay_plain(certificate):
    with Server({"tls": {"cert": str(certificate)}}, unix=True, admin=True) as server:
        with server.admin() as admin, server.resp() as resp:
            assert admin.get("/healthz").status == 200
            assert resp.call("PING") == "PONG"


@pytest.mark.filterwarnings("ignore:.*TLSv1_1")
def test_tls_1_1_is_refused(secure):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(secure.http_address, PATIENCE_S) as s, pytest.raises(ssl.SSLError, match="(?i)protocol.version"):
        context.wrap_socket(s)


def test_what_is_no_tls_is_parted_from(secure):
    for words in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"*1\r\n$4\r\nPING\r\n", b"\x16\x03\x01\xff\xff" + b"x" * 70000):
        with socket.create_connection(secure.http_address, PATIENCE_S) as s:
            try:
                s.sendall(words)
                while s.recv(65536):
                    pass
            except (ConnectionResetError, BrokenPipeError):
                pass
    assert secure.answers()


class HandMade:
    """A client that makes its records and its segments apart: several of the former leave in one of the latter."""

    def __init__(self, server, address, version, receives=None):
        self.socket = socket.socket()
        if receives is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(address)
        context = server.context()
        context.maximum_version = version
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        while True:
            try:
                self.tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.send()
                self.incoming.write(self.socket.recv(65536))
        self.send()

    def send(self, more=b""):
        self.socket.sendall(self.outgoing.read() + more)

    def end(self):
        try:
            self.tls.unwrap()
        except (ssl.SSLWantReadError, ssl.SSLError):
            pass  # its own end is made; that of the server has not come

    def received(self):
        """The bytes of the wire up to their end."""
        pieces = []
        while piece := self.socket.recv(65536):
            pieces.append(piece)
        self.socket.close()
        return b"".join(pieces)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_who_says_his_last_word_with_his_request_is_answered(secure, version):
    for address, request in ((secure.http_address, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), (secure.resp_address, b"PING\r\n")):
        quiet, asking = (HandMade(secure, address, version) for _ in range(2))
        asking.tls.write(request)
        for client in (quiet, asking):
            client.end()
            client.send()
        assert len(asking.received()) - len(quiet.received()) > len(b"+PONG\r\n")


def test_an_alert_behind_replies_that_are_not_taken_harms_nothing(secure):
    """A record that is none, in the same read as requests whose replies find the socket full."""
    requests = b"GET /n HTTP/1.1\r\nHost: a\r\n\r\n" * 1100
    junk = b"\x17\x03\x03\x00\x20" + b"x" * 32
    for before in range(4):
        client = HandMade(secure, secure.http_address, ssl.TLSVersion.TLSv1_3, receives=4096)
        client.socket.settimeout(2)
        try:
            for i in range(before + 1):
                client.tls.write(requests)
                client.send(junk if i == before else b"")
        except OSError:
            pass  # it takes no more
        client.socket.close()
    assert secure.answers()


@pytest.mark.plain_only  # ten seconds once will do
def test_a_client_that_stalls_in_the_greeting_is_closed_and_holds_up_nobody(secure, key):
    began = time.monotonic()
    stalling = [socket.create_connection(secure.http_address, PATIENCE_S) for _ in range(50)]
    for i, s in enumerate(stalling):
        s.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[:1 + i % 9])
    with secure.http() as http:
        assert http.check("plenty", key).json["allowed"]
    assert time.monotonic() - began < 5
    for s in stalling:
        s.settimeout(PATIENCE_S)
        assert s.recv(1) == b""
        s.close()
    assert 8 < time.monotonic() - began < PATIENCE_S


# ---- laju's own clients ----

def door(server, scheme, host="localhost"):
    address = server.http_address if scheme == "https" else server.resp_address
    return f"{scheme}://{host}:{address[1]}"


def check(server, *words, host="localhost"):
    return run_laju("check", "--server", door(server, "rediss", host), *words, "plenty", "own")


def bench(server, scheme, *words):
    done = run_laju("bench", door(server, scheme), "--json", "--duration", "200ms", "--rule", "plenty", *words)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def test_laju_check_asks_by_tls(secure, authority):
    for host in ("localhost", "127.0.0.1"):
        done = check(secure, "--ca", authority.cert, host=host)
        assert (done.returncode, done.stdout.split(":")[0]) == (0, "allowed"), done.stderr


@pytest.mark.parametrize("words, why", [
    ([], "certificate"),
    (["--ca", "{ca}", "--server-name", "example.com"], "TLS: hostname mismatch"),
    (["--ca", "none.pem"], "certificate authorities none.pem: No such file"),
    (["--ca", "{ca}", "--cert", "{ca}"], "TLS: key"),
    (["--key", "{ca}"], "allowed: with --cert FILE"),
    (["--ca", "{ca}", "--insecure"], "--insecure believes any certificate"),
    (["--server-name", ""], "is no name"),
])
def test_laju_check_takes_no_other_certificate(secure, authority, words, why):
    done = check(secure, *(word.format(ca=authority.cert) for word in words))
    assert done.returncode == 2 and why in done.stderr, done.stderr
    assert check(secure, "--insecure").returncode == 0


def test_options_of_tls_need_a_door_that_speaks_it(secure):
    for command in (["check", "--insecure", "--server", "127.0.0.1:1", "plenty", "own"],
                    ["bench", "--insecure", "127.0.0.1:1"]):
        done = run_laju(*command)
        assert done.returncode == 2 and "--insecure: resp:// does not speak TLS; allowed: with rediss://ADDR" in done.stderr


def test_a_door_that_does_not_answer_the_greeting_is_given_up(secure):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = run_laju("check", "--insecure", "--timeout", "100ms", "--server",
                        "rediss://127.0.0.1:%d" % silent.getsockname()[1], "plenty", "own")
    assert done.returncode == 2 and "does not answer within 100ms" in done.stderr


def test_laju_bench_counts_by_tls_what_it_counts_without(secure, authority):
    for scheme, words in (("rediss", ["-P", 64]), ("resps", ["-P", 1024, "-c", 3]), ("https", ["-P", 16]), ("https", ["-R", 500])):
        result = bench(secure, scheme, "--ca", authority.cert, *words)
        assert result["allowed"] == result["replies"] > 50, result
        assert result["errors"] == result["lost"] == result["unanswered"] == 0


def test_laju_bench_says_why_it_is_not_believed(secure, authority, tmp_path):
    assert "by TLS: unable to get local issuer certificate" in bench(secure, "https", "--ca", Authority(tmp_path, "theirs").cert)
    assert "by TLS: hostname mismatch" in bench(secure, "rediss", "--ca", authority.cert, "--server-name", "example.com")
    assert bench(secure, "rediss", "--insecure")["errors"] == 0


def test_doors_that_ask_for_a_certificate_get_it(authority, certificate):
    tls = {"cert": str(certificate), "client_ca": str(authority.cert), "doors": ["resp"]}
    with Server({"tls": tls, "rules": [{"name": "plenty", "limit": 4_000_000_000, "per": "1h"}]}) as server:
        ours = ["--ca", authority.cert, "--cert", authority.sign(authority.home / "client.pem", "client")]
        assert check(server, *ours).returncode == 0
        assert bench(server, "rediss", *ours)["allowed"] > 0
        assert check(server, *ours[:2]).returncode == 2
        assert "certificate required" in bench(server, "rediss", *ours[:2], "-c", 1)

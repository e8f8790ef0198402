"""New rules without a restart: on SIGHUP and when the file changes, and what stays as it was."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

import law
from conftest import SANITIZED
from server import BINARY, PATIENCE_S, Server, free_port, memory_kib
from wire import RespError

DONE, REFUSED = 'msg="configuration reloaded"', 'msg="the new configuration is refused'
MIB = 1024
SEEN_S = 1  # a change of the file has been seen and read by then: 250 ms and 500 ms


def rule(limit, name="api", **members):
    return {"name": name, "algorithm": "fixed-window", "limit": limit, "per": "1d", **members}


class Told:
    """What a server logs from here on, line by line."""

    def __init__(self, server):
        self.server = server
        self.file = open(server.log_path, errors="replace")
        self.file.seek(0, os.SEEK_END)
        self.part = ""

    def line(self, *words, patience_s=PATIENCE_S):
        """The next line that has all these words."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            self.part += self.file.readline()
            if self.part.endswith("\n"):
                line, self.part = self.part, ""
                if all(word in line for word in words):
                    return line
                continue
            assert self.server.process.poll() is None, self.server.log()
            time.sleep(0.002)
        raise AssertionError(f"no line with {words}:\n{self.server.log()[-4000:]}")

    def close(self):
        self.file.close()


def put(server, settings):
    """Replaces the file, so that no half of it is ever there."""
    text = settings if isinstance(settings, (str, bytes)) else json.dumps(settings, indent=1)
    aside = server.config_path.with_name("aside")
    aside.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.replace(aside, server.config_path)


def hang_up(server, *words):
    """SIGHUP; the line that tells what came of it, which must have these words."""
    told = Told(server)
    server.signal(signal.SIGHUP)
    line = told.line("cause=SIGHUP")
    told.close()
    assert all(word in line for word in words), line
    return line


def reload(server, rules=None, **settings):
    """Other settings, by SIGHUP."""
    if rules is not None:
        server.settings["rules"] = rules
    server.settings.update(settings)
    put(server, server.settings)
    hang_up(server, DONE)


def limit_of(server, name="api"):
    with server.http() as http:
        return http.check(name, "whoever", 0).json["limit"]


# ---- how a file changes ----


def test_sighup_puts_the_file_in_force(serve):
    server = serve({"rules": [rule(10)]})
    assert limit_of(server) == 10
    put(server, {**server.settings, "rules": [rule(20)]})
    reloaded = counts(hang_up(server, DONE, "rules=1"))["reloaded"]
    assert limit_of(server) == 20
    time.sleep(SEEN_S)  # for its change it is not read a second time
    assert counts(hang_up(server, DONE))["reloaded"] == reloaded + 1  # nothing has changed: that is no fault
    assert limit_of(server) == 20


class Plain:
    """A file in a directory."""

    @staticmethod
    def lay(home, text):
        (home / "laju.yaml").write_text(text)
        return home / "laju.yaml"


class WrittenInPlace(Plain):
    @staticmethod
    def change(path, text):
        path.write_text(text)


class WrittenInTwoHalves(Plain):
    @staticmethod
    def change(path, text):
        with open(path, "w") as file:
            for half in (text[:len(text) // 2], text[len(text) // 2:]):
                file.write(half)
                file.flush()
                time.sleep(0.05)


class Renamed(Plain):
    @staticmethod
    def change(path, text):
        (path.parent / "new").write_text(text)
        os.replace(path.parent / "new", path)


class SameSizeAndTime(Plain):
    """What looks alike to who only compares size and time is another file all the same."""

    @staticmethod
    def change(path, text):
        old = path.stat()
        (path.parent / "new").write_text(text.ljust(old.st_size))
        assert (path.parent / "new").stat().st_size == old.st_size
        os.utime(path.parent / "new", ns=(old.st_atime_ns, old.st_mtime_ns))
        os.replace(path.parent / "new", path)


class DeletedAndMadeAgain(Plain):
    @staticmethod
    def change(path, text):
        path.unlink()
        time.sleep(1.2)  # long enough to be seen
        path.write_text(text)


class Kubernetes:
    """A config map: laju.yaml -> ..data/laju.yaml, ..data -> ..N, and ..data is what a rename swaps."""

    @staticmethod
    def lay(home, text):
        mount = home / "mount"
        (mount / "..1").mkdir(parents=True)
        (mount / "..1" / "laju.yaml").write_text(text)
        (mount / "..data").symlink_to("..1")
        (mount / "laju.yaml").symlink_to("..data/laju.yaml")
        return mount / "laju.yaml"

    @staticmethod
    def change(path, text):
        mount = path.parent
        old = mount / os.readlink(mount / "..data")
        new = mount / f"..{int(old.name[2:]) + 1}"
        new.mkdir()
        (new / "laju.yaml").write_text(text)
        (mount / "..data_tmp").symlink_to(new.name)
        os.replace(mount / "..data_tmp", mount / "..data")
        shutil.rmtree(old)


@pytest.mark.parametrize("kind", [WrittenInPlace, WrittenInTwoHalves, Renamed, SameSizeAndTime, DeletedAndMadeAgain,
                                  Kubernetes], ids=lambda kind: kind.__name__)
def test_a_file_that_changes_is_seen(kind):
    server = Server({"rules": [rule(10)]})

    def text(limit):
        return json.dumps({**server.settings, "rules": [rule(limit)]}) + "\n"

    server.config_path = kind.lay(server.home, text(10))
    with server:
        told = Told(server)
        for limit in (20, 30):
            time.sleep(0.02)  # so that its time differs where the clock of files is coarse
            kind.change(server.config_path, text(limit))
            told.line(DONE, "cause=file")
            assert limit_of(server) == limit
        told.close()


def test_a_file_that_is_still_being_written_is_not_read(serve):
    """Block YAML that is cut off between two rules is good, and has fewer rules."""
    server = serve({"rules": [rule(10)]})
    told = Told(server)
    listen = json.dumps(server.settings["listen"])
    with open(server.config_path, "w") as file:
        file.write(f"listen: {listen}\nworkers: 2\nrules:\n")
        for i in range(16):
            file.write(f"- {json.dumps({**rule(30), 'name': f'api-{i}'})}\n")
            file.flush()
            time.sleep(0.1)
    assert "rules=16" in told.line(DONE, "cause=file")
    told.close()
    assert limit_of(server, "api-15") == 30


# ---- a bad file ----


BAD = {
    "a key that is unknown": ('{"ruels": []}', "laju.yaml:1:2", "ruels"),
    "a rule's key": ("rules:\n  - {name: api, limt: 5}\n", "laju.yaml:2:17", "limt", "limit"),
    "a rule twice": ("rules:\n  - {name: a, limit: 1, per: 1s}\n  - {name: a, limit: 1, per: 1s}\n", "laju.yaml:3:"),
    "no YAML": ("rules: [", "laju.yaml:"),
    "bytes": (bytes(range(256)), "laju.yaml:"),
    "half a file": ("listen: {http: 127.0", "laju.yaml:"),
    "a file beyond 4 MiB": ("#" * (4 * 1024 * 1024 + 1), "laju.yaml", "4MiB"),
}


@pytest.fixture(scope="module")
def steady():
    """A server that nothing of what follows may change."""
    with Server({"rules": [rule(10)]}) as server:
        server.check("api", "steady", 3)
        yield server


def assert_steady(server):
    with server.http() as http, server.resp() as resp:
        assert http.peek("api", "steady") == 7
        assert resp.call("LAJU.PEEK", "api", "steady")[:3] == [1, 10, 7]
        assert isinstance(resp.call("LAJU.PEEK", "other", "steady"), RespError)


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_leaves_the_running_rules_in_force_and_its_place_is_logged(steady, kind):
    text, *words = BAD[kind]
    put(steady, text)
    line = hang_up(steady, REFUSED, "level=error")
    for word in words:
        assert word in line, line
    assert_steady(steady)


def counts(line):
    return {name: int(value) for name, value in (pair.split("=") for pair in line.split() if pair.count("=") == 1)
            if value.isdigit()}


def test_reloads_and_refusals_are_counted(serve):
    server = serve({"rules": [rule(10)]})
    hang_up(server, DONE)
    good = server.settings
    for expected in (1, 2):
        put(server, "nonsense")
        assert counts(hang_up(server, REFUSED))["refused"] >= expected  # the file's change is seen besides
    put(server, good)
    assert counts(hang_up(server, DONE))["reloaded"] >= 2


def remove(path):
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


ODD = {
    "nothing": lambda path: None,
    "a directory": lambda path: path.mkdir(),
    "a pipe that nobody writes to": os.mkfifo,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a device": lambda path: path.symlink_to("/dev/null"),
    "a device that never ends": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_refused_and_holds_nothing_up(steady, kind):
    remove(steady.config_path)
    ODD[kind](steady.config_path)
    try:
        hang_up(steady, REFUSED, "laju.yaml")
        assert_steady(steady)
    finally:
        remove(steady.config_path)


def test_a_pipe_in_the_files_place_does_not_keep_laju_from_ending(serve):
    server = serve({"rules": [rule(10)]})
    told = Told(server)
    remove(server.config_path)
    os.mkfifo(server.config_path)
    told.line(REFUSED, "cause=file")
    told.close()
    server.stop()


def started(server, *arguments, **options):
    """With a command line of its own."""
    with open(server.log_path, "ab") as log:
        server.process = subprocess.Popen([BINARY, "serve", *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          **options)
    server.wait_until_ready()


def test_the_settings_of_a_pipe_that_is_used_up_stay():
    """`laju serve --config <(generate)`: there is nothing left to read, which is not "no rules"."""
    server = Server({"rules": [rule(10)]})
    server.settings["workers"] = 1
    reading, writing = os.pipe()
    os.write(writing, json.dumps(server.settings).encode())
    os.close(writing)
    try:
        started(server, "--config", f"/dev/fd/{reading}", pass_fds=[reading])
        hang_up(server, REFUSED)
        assert limit_of(server) == 10
        server.stop()
    finally:
        os.close(reading)
        server.kill()


def test_a_good_file_after_bad_ones_is_taken(serve):
    server = serve({"rules": [rule(10)]})
    told = Told(server)
    put(server, "rules: {")
    told.line(REFUSED, "cause=file", "laju.yaml:")
    put(server, {**server.settings, "rules": [rule(20)]})
    told.line(DONE, "cause=file")
    told.close()
    assert limit_of(server) == 20


# ---- what needs a restart ----


RESTARTS = {
    "listen.http": lambda s: s["listen"].update(http=f"127.0.0.1:{free_port()}"),
    "listen.resp": lambda s: s["listen"].update(resp="off"),
    "workers": lambda s: s.update(workers=3),
    "memory": lambda s: s.update(memory="32MiB"),
    "memory_logs": lambda s: s.update(memory_logs="30%"),
    "huge_pages": lambda s: s.update(huge_pages=True),
    "snapshot.path": lambda s: s.update(snapshot={"path": "/tmp/elsewhere.snap"}),
}


@pytest.mark.parametrize("name", RESTARTS)
def test_what_needs_a_restart_is_refused_by_name_and_nothing_of_that_file_is_taken(steady, name):
    settings = json.loads(json.dumps({**steady.settings, "rules": [rule(99), rule(5, "other")]}))
    RESTARTS[name](settings)
    put(steady, settings)
    hang_up(steady, REFUSED, f"{name}: needs a restart")
    assert_steady(steady)


def test_the_same_value_written_otherwise_needs_no_restart(serve):
    server = serve({"memory": "16MiB", "memory_logs": "25%", "rules": [rule(10)]})
    reload(server, [rule(20)], memory="16384KiB", memory_logs="4MiB")
    assert limit_of(server) == 20


# ---- usage ----


def usage(server, name, key="whoever"):
    """(limit, remaining), which both doors must tell alike."""
    with server.http() as http, server.resp() as resp:
        answer = http.check(name, key, 0).json
        assert resp.call("LAJU.PEEK", name, key)[1:3] == [answer["limit"], answer["remaining"]]
        return answer["limit"], answer["remaining"]


def test_a_changed_limit_and_burst_keep_what_each_key_has_used(serve):
    law.keep_clear_of_edge(law.DAY_S, 120)

    def rules(limit):
        return [law.rule(a, limit, per="1d", burst=limit if a in law.BUCKETS else None) for a in law.ALGORITHMS]

    server = serve({"rules": rules(10)})
    for a in law.ALGORITHMS:
        assert server.check(a, "whoever", 4).status == 200
    for limit, left in ((20, 16), (5, 1), (3, 0), (10, 6)):
        reload(server, rules(limit))
        for a in law.ALGORITHMS:
            assert usage(server, a) == (limit, left), a
    reload(server, rules(3))
    for a in law.ALGORITHMS:
        assert server.check(a, "whoever").status == 429, a
    reload(server, rules(10))
    for a in law.ALGORITHMS:
        assert server.check(a, "whoever", 6).status == 200, a
        assert server.check(a, "whoever", 1).status == 429, a


def test_a_burst_alone_may_change(serve):
    for a in law.BUCKETS:
        server = serve({"rules": [law.rule(a, 10, per="1d", burst=10)]})
        assert server.check(a, "whoever", 4).status == 200
        reload(server, [law.rule(a, 10, per="1d", burst=50)])
        assert usage(server, a) == (50, 46)
        server.stop()


def test_another_period_or_algorithm_starts_fresh_and_the_old_one_is_found_again(serve):
    law.keep_clear_of_edge(law.DAY_S, 120)
    server = serve({"rules": [rule(10)]})
    server.check("api", "whoever", 4)
    reload(server, [rule(10, per="2d")])
    assert usage(server, "api") == (10, 10)
    reload(server, [rule(10, algorithm="sliding-window-log")])
    assert usage(server, "api") == (10, 10)
    reload(server, [rule(10)])
    assert usage(server, "api") == (10, 6)


def test_overrides_come_and_go_and_the_key_keeps_its_usage(serve):
    law.keep_clear_of_edge(law.DAY_S, 120)
    server = serve({"rules": [rule(10)]})
    server.check("api", "whoever", 4)
    reload(server, [rule(10, overrides=[{"key": "who*", "limit": 100}])])
    assert usage(server, "api") == (100, 96)
    reload(server, [rule(10, exempt=["key:whoever"])])
    assert server.check("api", "whoever", 9).status == 200
    reload(server, [rule(10)])
    assert usage(server, "api") == (10, 6)


def test_a_rule_that_is_gone_is_unknown_and_one_that_comes_back_remembers(serve):
    law.keep_clear_of_edge(law.DAY_S, 120)
    server = serve({"rules": [rule(10), rule(10, "other")]})
    server.check("other", "whoever", 4)
    with server.http() as http, server.resp() as resp:
        reload(server, [rule(10)])
        answer = http.check("other", "whoever")
        assert answer.status == 400 and answer.json["field"] == "rule"
        assert http.get("/auth?rule=other").status == 400
        assert isinstance(resp.call("LAJU.CHECK", "other", "whoever"), RespError)
        assert resp.call("LAJU.CHECK", "api", "whoever")[0] == 1  # on the same connection
        reload(server, [rule(10, "other"), rule(10)])
        assert http.peek("other", "whoever") == 6
        assert resp.call("LAJU.PEEK", "api", "whoever")[2] == 9


# ---- the other settings ----


def test_a_changed_password_counts_for_those_who_come(serve):
    server = serve({"rules": [rule(10)]})

    def state(resp):
        answer = resp.call("PING")
        return answer if answer == "PONG" else answer.text.split()[0]

    with server.resp() as early:
        assert state(early) == "PONG"
        reload(server, resp_password="first")
        assert state(early) == "PONG"  # who is in stays in, as with Redis
        with server.resp() as asked:
            assert state(asked) == "NOAUTH"
            assert asked.call("AUTH", "first") == "OK"
            reload(server, resp_password="second")
            with server.resp() as late:
                assert late.call("AUTH", "first").text.startswith("WRONGPASS")
                assert late.call("AUTH", "second") == "OK"
            assert state(asked) == "PONG"
            assert asked.call("RESET") == "RESET"
            assert state(asked) == "NOAUTH"
        with server.resp() as waiting:
            assert state(waiting) == "NOAUTH"
            del server.settings["resp_password"]
            reload(server)
            assert state(waiting) == "PONG"  # nothing is asked for any more


def test_what_a_reload_changes_holds_for_connections_that_are_open(serve):
    """The same bytes, before and after."""
    inline = {"limit": 5, "per": "1d", "key": "inline"}
    server = serve({"rules": [rule(10, key="ip", match={"path": "/*"})]})
    with server.http() as http, server.resp() as resp:
        def auth():
            return http.get("/auth", headers=["X-Forwarded-For: 2001:db8:0:1::5"])

        def key_of():
            """The key that was charged: it alone has less than all."""
            auth()
            left = [k for k in ("2001:db8:0:1::/64", "2001:db8::/32", "2001:db8:0:1::5", "127.0.0.1")
                    if resp.call("LAJU.PEEK", "api", k)[2] < 10]
            for k in left:
                assert resp.call("LAJU.RESET", "api", k) == 1
            return left

        assert resp.call("LAJU.RESET", "api", "x").text.startswith("NOPERM")
        reload(server, resp_admin=True)
        assert resp.call("LAJU.RESET", "api", "x") == 0

        assert key_of() == ["2001:db8:0:1::/64"]
        reload(server, ip_prefix={"v4": 32, "v6": 32})
        assert key_of() == ["2001:db8::/32"]
        reload(server, ip_prefix={"v6": 128})
        assert key_of() == ["2001:db8:0:1::5"]
        reload(server, trusted_proxies=[])
        assert key_of() == ["127.0.0.1"]

        assert http.post("/v1/check", inline).status == 200
        reload(server, inline_limits=False)
        assert http.post("/v1/check", inline).status == 403

        shown = dict(auth().headers)
        assert "X-RateLimit-Limit" in shown and "RateLimit" in shown
        reload(server, headers={"x_ratelimit": False, "ratelimit": True})
        shown = dict(auth().headers)
        assert "X-RateLimit-Limit" not in shown and "RateLimit" in shown
        reload(server, headers={"x_ratelimit": True, "ratelimit": False, "reset": "delta"})
        shown = dict(auth().headers)
        assert "RateLimit" not in shown and "RateLimit-Policy" not in shown
        assert 0 < int(shown["X-RateLimit-Reset"]) <= law.DAY_S


def test_a_new_interval_is_that_of_the_snapshots(serve, tmp_path):
    path = tmp_path / "table.snap"
    server = serve({"rules": [rule(10)], "snapshot": {"path": str(path), "interval": "1h"}})
    server.check("api", "whoever")
    assert not path.exists()
    reload(server, snapshot={"path": str(path), "interval": "100ms"})
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < deadline, "the interval of an hour is still in force"
        time.sleep(0.05)


def test_the_command_line_stays_over_the_file(serve):
    server = serve({"rules": [rule(10)]}, arguments=["--rule", "line=5/1d fixed-window", "--memory", "16MiB"])
    assert server.check("line", "whoever", 2).status == 200
    reload(server, [rule(20)], memory="32MiB")  # the option's value is in force, as it was
    assert limit_of(server) == 20
    assert usage(server, "line") == (5, 3)
    put(server, {**server.settings, "rules": [rule(30), rule(1, "line")]})
    hang_up(server, REFUSED, "--rule", "line")
    assert limit_of(server) == 20 and limit_of(server, "line") == 5


def test_without_a_file_sighup_changes_nothing():
    server = Server()
    started(server, "--http", "%s:%d" % server.http_address, "--resp", "off", "--admin", "off", "--rule", "api=10/1d fixed-window")
    try:
        law.keep_clear_of_edge(law.DAY_S, 60)
        server.check("api", "whoever", 4)
        hang_up(server)
        with server.http() as http:
            assert http.peek("api", "whoever") == 6
        server.stop()
    finally:
        server.kill()


# ---- under load ----


A, B = 3_000_000_000, 4_000_000_000


def both(limit):
    return {"rules": [rule(limit, "load"), rule(limit, "load-too", algorithm="sliding-window-counter"),
                      rule(limit, "auth", key="header:X-User", match={"path": "/load"})]}


def http_client(server, number, stop, answers):
    """Single checks in a pipeline, and pairs; what remains must be exact under one of the two limits."""
    used = 0
    ask = {"checks": [{"rule": name, "key": f"http-{number}"} for name in ("load", "load-too")]}
    with server.http() as http:
        bytes_ = http.request("POST", "/v1/check", ask)
        while not stop.is_set():
            http.send(bytes_ * 10 + bytes_[:-7])
            time.sleep(0.001)  # a request that is half here while the rules change
            http.send(bytes_[-7:])
            for _ in range(11):
                response = http.response()
                used += 1
                assert response.status == 200, response
                limits = {d["limit"] for d in response.json["decisions"]}
                assert len(limits) == 1 and limits < {A, B}, response
                assert [d["remaining"] for d in response.json["decisions"]] == [limits.pop() - used] * 2, (used, response)
                assert int(response.header("X-RateLimit-Limit")) == response.json["limit"]
                answers.append(response.json["limit"])


def resp_client(server, number, stop, answers):
    used = 0
    with server.resp(protocol=2 + number % 2) as resp:
        while not stop.is_set():
            for reply in resp.pipeline([("LAJU.CHECK", "load", f"resp-{number}")] * 20):
                used += 1
                assert not isinstance(reply, RespError) and reply[0] == 1, reply
                assert reply[1] in (A, B) and reply[2] == reply[1] - used, (used, reply)
                answers.append(reply[1])


def auth_client(server, number, stop, answers):
    with server.http() as http:
        bytes_ = http.request("POST", "/auth", headers=["X-Original-URI: /load", f"X-User: {number}"])
        while not stop.is_set():
            http.send(bytes_ * 5)
            for _ in range(5):
                response = http.response()
                assert response.status == 200 and int(response.header("X-RateLimit-Limit")) in (A, B), response
                answers.append(int(response.header("X-RateLimit-Limit")))


def newcomers(server, number, stop, answers):
    """A connection for each request."""
    used = 0
    while not stop.is_set():
        response = server.check("load", f"new-{number}")
        used += 1
        assert response.status == 200 and response.json["remaining"] == response.json["limit"] - used, response
        answers.append(response.json["limit"])


def test_no_request_fails_and_no_key_forgets_its_usage_while_rules_change_all_the_time(serve):
    law.keep_clear_of_edge(law.DAY_S, 180)
    server = serve(both(A))
    stop, answers, failures = threading.Event(), [], []

    def run(client, number):
        try:
            client(server, number, stop, answers)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(client, number), daemon=True)
               for client in (http_client, resp_client, auth_client, newcomers) for number in range(2)]
    for thread in threads:
        thread.start()
    told = Told(server)
    until = time.monotonic() + 5
    for turn in range(100):
        if failures or time.monotonic() > until:
            break
        put(server, {**server.settings, **both((B, A)[turn % 2])})
        server.signal(signal.SIGHUP)
        time.sleep(0.05)
    stop.set()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "a client waits for an answer"
    assert not failures, failures
    for _ in range(20 if not SANITIZED else 5):
        assert DONE in told.line("cause=")
    told.close()
    assert REFUSED not in server.log()
    assert len(answers) > 1000 and set(answers) == {A, B}


def test_a_thousand_reloads_leak_nothing(serve):
    """With rules enough that one set that is not freed would show a thousand times."""
    def settings(limit):
        overrides = [{"key": f"{i}-key*", "limit": i + 1} for i in range(50)]
        return {"rules": [rule(limit + i, f"rule-{i}", overrides=overrides if i % 8 == 0 else [], exempt=["key:nobody"],
                               key=["header:X-A", "ip"], match={"host": f"h{i}.example", "path": f"/{i}/*"})
                          for i in range(64)]}

    server = serve(settings(1000))
    pid = server.process.pid
    with server.http() as http, server.resp() as resp:  # one worker may have both, and another nobody
        def turn(number):
            if number % 10 == 0:
                put(server, {**server.settings, **settings(1000 + number)})
            if number % 100 == 1:
                put(server, "rules: [{name: x, limit: 1, per: 1s}, {name: y")
            server.signal(signal.SIGHUP)
            told.line("cause=SIGHUP")

        def state():
            assert http.get("/healthz").status == 200 and resp.call("PING") == "PONG"
            return memory_kib(pid), len(os.listdir(f"/proc/{pid}/fd"))

        told = Told(server)
        for number in range(100):
            turn(number)
        before = state()
        for number in range(1000):
            turn(number)
        after = state()
        told.close()
    assert after[1] == before[1], "descriptors"
    if not SANITIZED:
        assert after[0] - before[0] < 4 * MIB, (before, after)


def test_rules_change_while_it_drains(serve):
    server = serve({"rules": [rule(10)]})
    with server.http() as http:
        ask = http.request("POST", "/v1/check", {"rule": "api", "key": "late"})
        http.send(ask[:-5])
        time.sleep(0.3)
        told = Told(server)
        server.signal(signal.SIGTERM)
        told.line("draining")
        put(server, {**server.settings, "rules": [rule(20)]})
        for _ in range(20):
            server.signal(signal.SIGHUP)
            told.line("cause=SIGHUP", DONE)
        told.close()
        http.send(ask[-5:])
        response = http.response()
        assert response.status == 200 and response.json["limit"] == 20
        for _ in range(20):
            server.signal(signal.SIGHUP)
    assert server.wait() == 0


def test_hang_ups_from_the_very_start_to_the_end_kill_nobody(tmp_path):
    server = Server({"rules": [rule(10, f"r{i}") for i in range(300)], "snapshot": {"path": str(tmp_path / "snap")}})
    server.launch()
    stop = threading.Event()

    def hang_up_always():
        while not stop.wait(0.001):
            try:
                server.signal(signal.SIGHUP)
            except ProcessLookupError:
                return

    thread = threading.Thread(target=hang_up_always)
    try:
        told = Told(server)
        told.line("listening")
        thread.start()
        server.wait_until_ready()
        time.sleep(0.3)
        server.stop()
    finally:
        stop.set()
        if thread.ident:
            thread.join()
        server.kill()

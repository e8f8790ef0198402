"""The command line: laju serve, check, config check, version, --help."""

import json
import os
import re
import socket
import subprocess
import threading
import time

import pytest

import law
from server import BINARY, ROOT, Server, run_laju

COMMANDS = ["serve", "check", "config check", "demo race", "version"]


# ---- help and version ----


def test_version_is_that_of_the_project():
    cmake = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(laju VERSION ([\d.]+)", cmake).group(1)
    for words in (["version"], ["--version"]):
        done = run_laju(*words)
        assert done.returncode == 0 and version in done.stdout, done


def test_help_teaches_every_command():
    done = run_laju("--help")
    assert done.returncode == 0 and done.stderr == ""
    for command in COMMANDS:
        assert command in done.stdout
    for command in COMMANDS:
        done = run_laju(*command.split(), "--help")
        assert done.returncode == 0 and done.stderr == "" and f"laju {command}" in done.stdout, done
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


@pytest.mark.parametrize("words", [["srve"], ["--nonsense"], [], ["serve", "--nonsense"], ["config"], ["config", "chek", "x"],
                                   ["check"], ["check", "onlyrule"], ["serve", "extra"], ["version", "extra"]], ids=" ".join)
def test_a_wrong_call_is_told_on_stderr(words):
    done = run_laju(*words)
    assert done.returncode not in (0, 1) or words == [], done
    assert done.returncode > 0
    assert done.stdout == "" and done.stderr.startswith(("laju", "Usage: laju")), done


def test_a_misspelt_command_or_option_is_told_the_nearest():
    assert "serve" in run_laju("srve").stderr
    assert "--config" in run_laju("serve", "--confg", "x").stderr


def test_output_that_cannot_be_written_is_an_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, "version"], stdout=full, stderr=subprocess.PIPE, timeout=30)
    assert done.returncode != 0


# ---- config check ----

GOOD = """\
# all that there is
listen: {http: 127.0.0.1:8080, resp: "unix:/run/laju.sock"}
workers: 3
memory: 256MiB
memory_logs: 25%
snapshot: {path: /var/lib/laju/table.snap, interval: 10s}
inline_limits: false
resp_password: "a b"
resp_admin: true
rules:
  - {name: api, limit: 100, per: 1m}
  - {name: login, algorithm: token-bucket, limit: 5, per: 1m, burst: 10}
  - name: a.b_c-D
    algorithm: sliding-window-log
    limit: 65536
    per: 366d
    cost: 2
  - {name: zero, limit: 0, per: 1s}
  - {name: ms, limit: 1, per: 250ms}
  - {name: weeks, limit: 1, per: 2w}
  - {name: queue, algorithm: leaky-bucket, limit: 10, per: 90s, burst: 1}
"""


def config_check(tmp_path, text):
    path = tmp_path / "laju.yaml"
    path.write_text(text)
    return path, run_laju("config", "check", path)


def test_a_good_file_passes(tmp_path):
    _, done = config_check(tmp_path, GOOD)
    assert done.returncode == 0, done


@pytest.mark.parametrize("text", ["", "# nothing\n", "rules: []\n", "{}\n", "---\nmemory: 64MiB\n"])
def test_a_file_that_says_little_passes(tmp_path, text):
    _, done = config_check(tmp_path, text)
    assert done.returncode == 0, done


RULE = "rules:\n  - {name: a, limit: 10, per: 1m}\n"
# The text, the line and column of what is wrong, and what the message says beside.
BAD_FILES = [
    ("memroy: 64MiB\n", 1, 1, ["memroy", "memory"]),
    ("listen:\n  htpp: 127.0.0.1:80\n", 2, 3, ["htpp", "http"]),
    ("rules:\n  - {name: a, limt: 10, per: 1m}\n", 2, 15, ["limt", "limit"]),
    ("rules:\n  - {name: a, limit: 10, per: 1m, algorithm: token-buket}\n", 2, 46, ["token-buket", "token-bucket"]),
    ("rules:\n  - {name: a, limit: 10, per: 1 minute}\n", 2, 31, ["per", "1 minute"]),
    ("rules:\n  - {name: a, limit: 10, per: 60}\n", 2, 31, ["per", "60", "unit"]),
    ("rules:\n  - {name: a, limit: 10, per: 367d}\n", 2, 31, ["per", "367d", "366"]),
    ("rules:\n  - {name: a, limit: 10, per: 1048577s}\n", 2, 31, ["per", "1048577s"]),
    ("rules:\n  - {name: a, limit: -1, per: 1m}\n", 2, 22, ["limit", "-1", "4294967295"]),
    ("rules:\n  - {name: a, limit: 4294967296, per: 1m}\n", 2, 22, ["limit", "4294967296", "4294967295"]),
    ("rules:\n  - {name: a, limit: 1.5, per: 1m}\n", 2, 22, ["limit", "1.5"]),
    ("rules:\n  - {name: a, limit: ten, per: 1m}\n", 2, 22, ["limit", "ten"]),
    ("rules:\n  - {name: a, limit: [1], per: 1m}\n", 2, 22, ["limit"]),
    ("rules:\n  - {name: a, limit: 65537, per: 1m, algorithm: sliding-window-log}\n", 2, None, ["limit", "65537", "65536"]),
    ("rules:\n  - {name: a, limit: 5, per: 1m, burst: 10}\n", 2, None, ["burst"]),
    ("rules:\n  - {name: a, limit: 5, per: 1m, algorithm: token-bucket, burst: 0}\n", 2, None, ["burst", "0"]),
    ("rules:\n  - {name: a, limit: 5, per: 1m, cost: -1}\n", 2, 40, ["cost", "-1"]),
    ("rules:\n  - {name: a b, limit: 5, per: 1m}\n", 2, 12, ["name", "a b"]),
    ("rules:\n  - {name: '', limit: 5, per: 1m}\n", 2, 12, ["name"]),
    ("rules:\n  - {limit: 5, per: 1m}\n", 2, None, ["name"]),
    ("rules:\n  - {name: a, per: 1m}\n", 2, None, ["limit"]),
    ("rules:\n  - {name: a, limit: 5}\n", 2, None, ["per"]),
    (RULE + "  - {name: a, limit: 1, per: 1s}\n", 3, 12, ["name", "a"]),
    ("rules:\n  - {name: a, limit: 5, limit: 6, per: 1m}\n", 2, None, ["limit"]),
    ("memory: 1MiB\nmemory: 2MiB\n", 2, 1, ["memory"]),
    ("memory: 100KiB\n", 1, 9, ["memory", "100KiB", "1MiB"]),
    ("memory: lots\n", 1, 9, ["memory", "lots"]),
    ("memory: 99999999999GiB\n", 1, 9, ["memory"]),
    ("memory_logs: 101%\n", 1, 14, ["memory_logs", "101%"]),
    ("workers: -1\n", 1, 10, ["workers", "-1"]),
    ("workers: 1000000\n", 1, 10, ["workers", "1000000", "1024"]),
    ("workers: many\n", 1, 10, ["workers", "many"]),
    ("inline_limits: 3\n", 1, 16, ["inline_limits", "3", "true"]),
    ("listen: {http: nowhere}\n", 1, 16, ["http", "nowhere"]),
    ("listen: {http: '127.0.0.1:65536'}\n", 1, 16, ["http", "65536"]),
    ("listen: {http: 'unix:'}\n", 1, 16, ["http"]),
    ("listen: {resp: 'unix:/" + "a" * 200 + "'}\n", 1, 16, ["resp"]),
    ("snapshot: {interval: 0s, path: /a}\n", 1, 22, ["interval", "0s"]),
    ("snapshot: /a\n", 1, 11, ["snapshot"]),
    ("rules: {a: 1}\n", 1, 8, ["rules"]),
    ("rules: [5]\n", 1, 9, ["rules"]),
    ("[]\n", 1, 1, []),
    ("hello\n", 1, 1, []),
    ("rules:\n  - {name: a\n", None, None, []),
    ("a: b: c\n", 1, None, []),
    ("\tmemory: 1MiB\n", 1, None, []),
    ("memory: *x\n", 1, None, []),
    ("memory: \"\xff\"\n".encode("latin-1"), 1, None, []),
    ("memory: 1MiB\n---\nmemory: 2MiB\n", None, None, []),
    ("x" * 3_000_000, None, None, []),
    ("rules: " + "[" * 10000 + "\n", None, None, []),
]


@pytest.mark.parametrize("text,line,column,words", BAD_FILES, ids=range(len(BAD_FILES)))
def test_a_bad_file_is_refused_with_its_place(tmp_path, text, line, column, words):
    path = tmp_path / "laju.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    checked = run_laju("config", "check", path)
    assert checked.returncode == 1, checked
    place = re.search(re.escape(str(path)) + (r":(\d+):(\d+): " if line else ""), checked.stderr)
    assert place, checked.stderr
    if line:
        assert int(place.group(1)) == line, checked.stderr
    if column:
        assert int(place.group(2)) == column, checked.stderr
    for word in words:
        assert word in checked.stderr, f"{word!r} is not in {checked.stderr!r}"
    assert len(checked.stderr) < 4000
    served = run_laju("serve", "--config", path)
    assert served.returncode not in (0, None) and served.returncode > 0
    assert checked.stderr.strip().splitlines()[0].split(": ", 1)[-1] in served.stderr


def test_a_file_that_is_not_there_is_told(tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path):
        for words in (["config", "check", path], ["serve", "--config", path]):
            done = run_laju(*words)
            assert done.returncode > 0 and str(path) in done.stderr, done


def test_a_burst_that_comes_in_large_steps_is_warned_of(tmp_path):
    """A tick of 100 s (a period of a year) brings more than a hundredth of this burst."""
    _, done = config_check(tmp_path, "rules:\n - {name: a, algorithm: token-bucket, limit: 31622400, per: 366d, burst: 1000}\n")
    assert done.returncode == 0 and "warning:" in (done.stderr + done.stdout).lower(), done
    _, done = config_check(tmp_path, GOOD.replace("burst: 1}", "burst: 10}"))
    assert "warning:" not in (done.stderr + done.stdout).lower()


# ---- rules on the command line ----


def serve_rules(*rules, settings=None):
    return Server(settings, arguments=[word for rule in rules for word in ("--rule", rule)])


def test_rules_come_from_the_command_line(key):
    with serve_rules("login=5/1m token-bucket burst 10", "api=100/1h", "two=10/1d fixed-window cost 2") as server:
        with server.http() as http:
            assert http.check("login", key).json["limit"] == 10
            assert http.check("api", key).json["remaining"] == 99
            assert http.post("/v1/check", {"rule": "two", "key": key}).json["remaining"] == 8
            assert http.check("default", key).status == 400


def test_rules_of_the_command_line_are_added_to_those_of_the_file(key):
    with serve_rules("b=5/1m", settings={"rules": [law.rule("token-bucket", 3, name="a")]}) as server:
        with server.http() as http:
            assert http.check("a", key).json["limit"] == 3
            assert http.check("b", key).json["limit"] == 5


@pytest.mark.parametrize("rule,words", [("login", ["login"]), ("=5/1m", ["name"]), ("a=/1m", ["limit"]), ("a=5", ["a=5", "PERIOD"]),
                                        ("a=5/1x", ["1x"]), ("a=5/1m tokenbucket", ["tokenbucket", "token-bucket"]),
                                        ("a=5/1m burst", ["burst"]), ("a=5/1m burst 10", ["burst"]), ("a=-5/1m", ["-5"]),
                                        ("a b=5/1m", ["a b"]), ("a=5/1m extra", ["extra"]), ("", [])])
def test_a_bad_rule_on_the_command_line_is_told(rule, words):
    done = run_laju("serve", "--rule", rule)
    assert done.returncode > 0
    for word in words:
        assert word in done.stderr, done.stderr


def test_a_name_given_twice_is_told():
    assert run_laju("serve", "--rule", "a=1/1m", "--rule", "a=2/1m").returncode > 0


# ---- laju check ----


def ask(server, *words, **options):
    address = server.resp_address
    return run_laju("check", "--server", f"unix:{address}" if isinstance(address, str) else "%s:%d" % address, *words, **options)


def test_check_prints_a_decision_and_exits_0_or_1(laju, key):
    done = ask(laju, "login", key)
    assert done.returncode == 0 and done.stdout.startswith("allowed: 9 of 10 remain") and done.stderr == "", done
    assert ask(laju, "--cost", 9, "login", key).returncode == 0
    done = ask(laju, "login", key)
    assert done.returncode == 1 and done.stdout.startswith("denied: 0 of 10 remain") and done.stderr == "", done
    assert "12s" in done.stdout or "11." in done.stdout, done.stdout
    assert ask(laju, "--cost", 11, "login", key).returncode == 1
    assert ask(laju, "--peek", "login", key).returncode == 0
    assert ask(laju, "priced", key).stdout.startswith("allowed: 6 of 10 remain")


def test_check_prints_json_as_http_does(laju, key):
    done = ask(laju, "--json", "login", key)
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"allowed": True, "rule": "login", "limit": 10, "remaining": 9, "retry_after_ms": 0,
                                       "reset_after_ms": 12000, "delay_ms": 0}
    done = ask(laju, "--json", "--cost", 11, "login", key)
    assert done.returncode == 1
    assert json.loads(done.stdout)["retry_after_ms"] is None and json.loads(done.stdout)["allowed"] is False


def test_check_exits_2_where_there_is_no_decision(laju, key):
    nobody_there = run_laju("check", "--server", "127.0.0.1:1", "login", key)
    for done, word in ((ask(laju, "nobody", key), "nobody"), (ask(laju, "login", ""), "key"), (ask(laju, "login"), "KEY"),
                       (ask(laju, "--cost", -1, "login", key), "-1"), (ask(laju, "--cost", 2**32, "login", key), "4294967295"),
                       (nobody_there, "127.0.0.1:1"), (ask(laju, "login", key, "more"), "")):
        assert done.returncode == 2 and done.stdout == "" and word in done.stderr, (done, word)
    assert ask(laju, "--peek", "login", key).stdout.startswith("allowed: 10 of 10")


def test_check_does_not_wait_for_a_server_that_says_nothing(key):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        done = run_laju("check", "--timeout", "200ms", "--server", "127.0.0.1:%d" % silent.getsockname()[1], "login", key)
    assert done.returncode == 2 and done.stdout == "" and done.stderr


def drip(listener, reply, gap_s):
    """Answers one client, byte by byte."""
    client, _ = listener.accept()
    with client:
        client.recv(1000)
        try:
            for byte in reply:
                client.sendall(bytes([byte]))
                time.sleep(gap_s)
        except OSError:
            pass  # it has had enough


def test_check_does_not_wait_longer_for_a_server_that_drips(key):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = threading.Thread(target=drip, args=(listener, b"*6\r\n" + b":1\r\n" * 6, 0.3))  # 8.4 s in all
        server.start()
        began = time.monotonic()
        done = run_laju("check", "--timeout", "1s", "--server", "127.0.0.1:%d" % listener.getsockname()[1], "login", key)
        assert done.returncode == 2 and "within 1s" in done.stderr and time.monotonic() - began < 6
        server.join()


def test_check_with_a_password_over_a_unix_socket(serve, key):
    server = serve({"resp_password": "s3cret"}, unix=True)
    assert ask(server, "default", key).returncode == 2
    assert ask(server, "--password", "wrong", "default", key).returncode == 2
    assert ask(server, "--password", "s3cret", "default", key).returncode == 0
    assert ask(server, "default", key, env={**os.environ, "LAJU_PASSWORD": "s3cret"}).stdout.startswith("allowed: 98 of 100")


@pytest.mark.parametrize("words, message", [
    (["--store", "localhost:6379"], '--store: has no scheme; did you mean "redis://localhost:6379"? allowed: redis://HOST:PORT, '),
    (["--store", "redis://:hunter2"], "--store: a host is missing; allowed: redis://HOST:PORT, "),
    (["--store", "redis://:hunter2@h:x"], '--store: host "h" has a port that is none; allowed: 1 to 65535'),
    (["--store", "redis://me@h"], "store: redis names a user and no password; allowed: USER:PASSWORD@, or password_file"),
    (["--store", "redis://h", "--store-timeout", "1h"], '--store-timeout: "1h" is out of range; allowed: 1ms to 10s'),
    (["--store-password-file", "/no/such"], '--store-password-file: "/no/such" cannot be read: No such file or directory;'),
], ids=str)
def test_a_store_that_is_none_is_told_without_its_password(words, message):
    done = run_laju("serve", *words)
    assert done.returncode == 2 and f"laju serve: {message}" in done.stderr and "hunter2" not in done.stderr

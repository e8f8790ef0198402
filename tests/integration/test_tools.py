"""The programs that people have: redis-cli, redis-benchmark, wrk."""

import json
import os
import re
import subprocess

import pytest

from conftest import tool


def run(*command, data=None, timeout=60):
    return subprocess.run([str(c) for c in command], input=data, capture_output=True, text=True, timeout=timeout)


def redis_cli(server, *words, options=(), data=None):
    address = (["-s", server.resp_address] if isinstance(server.resp_address, str) else ["-p", server.resp_address[1]])
    done = run(tool("redis-cli"), *address, *options, *words, data=data)
    return done.stdout.rstrip("\n").split("\n")


# ---- redis-cli ----


@pytest.mark.parametrize("options", [[], ["-3"]])
def test_redis_cli_speaks_every_command(laju, key, options):
    def call(*words):
        return redis_cli(laju, *words, options=options)

    assert call("PING") == ["PONG"]
    assert call("LAJU.CHECK", "login", key) == ["1", "10", "9", "0", "12000", "0"]
    assert call("LAJU.PEEK", "login", key)[:4] == ["1", "10", "9", "0"]
    assert call("LAJU.ALL", "login", key, 1, "priced", key, 1)[:4] == ["1", "1", "10", "8"]
    assert call("LAJU.MCHECK", "login", 2, key, key + "b") == ["6", "8"]
    assert call("LAJU.MCHECK", "login", 11, key) == [""]
    assert call("LAJU.RESET", "login", key) == ["1"]
    assert call("CL.THROTTLE", key, 15, 30, 60) == ["0", "16", "15", "-1", "2"]
    assert call("LAJU.CHECK", "nobody", key)[0].startswith("ERR ")
    assert call("ECHO", "hello") == ["hello"]
    assert "redis_version" in "\n".join(call("INFO"))


def test_redis_cli_reads_commands_from_a_pipe(laju, key):
    lines = redis_cli(laju, data=f"PING\nLAJU.CHECK login {key}\nSELECT 0\nCLIENT GETNAME\n")
    assert lines[0] == "PONG" and lines[1:4] == ["1", "10", "9"] and lines[7] == "OK"


def test_redis_cli_pipe_mode(laju, key):
    data = "".join(f"LAJU.CHECK plenty {key}-{i % 100}\r\n" for i in range(20000))
    done = run(tool("redis-cli"), "-p", laju.resp_address[1], "--pipe", data=data)
    assert "errors: 0, replies: 20000" in done.stdout, (done.stdout, done.stderr)


def test_redis_cli_on_a_terminal(laju):
    """On a terminal it asks for COMMAND DOCS first, and shows types."""
    inner, outer = os.openpty()
    done = subprocess.Popen([tool("redis-cli"), "-p", str(laju.resp_address[1])], stdin=outer, stdout=outer, stderr=outer,
                            env={**os.environ, "TERM": "dumb"})
    os.write(inner, b"LAJU.PEEK login terminal\nquit\n")
    assert done.wait(30) == 0
    os.close(outer)
    shown = os.read(inner, 65536).decode()
    os.close(inner)
    assert "(integer) 10" in shown and "error" not in shown.lower(), shown


def test_redis_cli_with_a_password_and_on_a_unix_socket(serve):
    server = serve({"resp_password": "s3cret"}, unix=True)
    assert redis_cli(server, "PING")[0].startswith("NOAUTH")
    assert redis_cli(server, "PING", options=["-a", "s3cret", "--no-auth-warning"]) == ["PONG"]
    assert redis_cli(server, "PING", options=["--user", "default", "--pass", "s3cret", "--no-auth-warning", "-3"]) == ["PONG"]


# ---- redis-benchmark ----


@pytest.mark.parametrize("options", [["-P", 1], ["-P", 16], ["-P", 64, "-3"], ["-P", 16, "--threads", 2]], ids=str)
@pytest.mark.parametrize("command", [["PING"], ["LAJU.CHECK", "plenty", "key:__rand_int__"],
                                     ["LAJU.MCHECK", "plenty", "1"] + ["key:__rand_int__"] * 8,
                                     ["CL.THROTTLE", "key:__rand_int__", "15", "30", "60"]], ids=lambda c: c[0])
def test_redis_benchmark_runs(laju, command, options):
    done = run(tool("redis-benchmark"), "-p", laju.resp_address[1], "-c", 50, "-n", 20000, "-r", 10000, "-q", *options, *command)
    assert done.returncode == 0, done.stderr
    assert re.search(r"[\d.]+ requests per second", done.stdout), done.stdout
    assert "rror" not in done.stdout.replace("ERROR: failed to fetch CONFIG", ""), done.stdout


# ---- wrk ----


WRK = """
local n = 0
request = function()
  n = n + 1
  local one = wrk.format("POST", "/v1/check", nil, '{"rule":"plenty","key":"wrk:' .. n %% 1000 .. '"}')
  return string.rep(one, %d)
end
"""


@pytest.mark.parametrize("pipeline", [1, 16])
def test_wrk_runs_without_an_error(laju, tmp_path, pipeline):
    script = tmp_path / "check.lua"
    script.write_text(WRK % pipeline)
    done = run(tool("wrk"), "-t", 2, "-c", 50, "-d", "2s", "-s", script, laju.url("/"))
    assert done.returncode == 0, done.stderr
    assert int(re.search(r"(\d+) requests in", done.stdout).group(1)) > 100
    assert "Non-2xx" not in done.stdout and "Socket errors" not in done.stdout, done.stdout


def test_wrk_against_a_limit_sees_only_denials_and_no_broken_answer(laju, key, tmp_path):
    script = tmp_path / "check.lua"
    script.write_text("""wrk.method = "POST"
wrk.body = '%s'
local wrong = 0
response = function(status, headers, body)
  if status ~= 200 and status ~= 429 or not body:find('"limit":10', 1, true) then wrong = wrong + 1 end
  if status == 429 and not headers["Retry-After"] then wrong = wrong + 1 end
  if wrong == 1 then print("WRONG " .. status .. body) end
end
""" % json.dumps({"rule": "token-bucket-day", "key": key}))
    done = run(tool("wrk"), "-t", 2, "-c", 20, "-d", "1s", "-s", script, laju.url("/v1/check"))
    assert done.returncode == 0 and "WRONG" not in done.stdout and "Socket errors" not in done.stdout, done.stdout
    with laju.http() as http:
        assert http.peek("token-bucket-day", key) == 0

"""laju demo race, on a real Redis: what is certain about each of the four ways."""

import re

import pytest

from server import free_port, run_laju

CLIENTS, LIMIT = 30, 10


def race(*words):
    done = run_laju("demo", "race", *map(str, words))
    rows = re.findall(r"^\((.)\) .*?  +(\d+) +([\d.]+) ms +(\d+)$", done.stdout, re.M)
    return done, {way: int(admitted) for way, admitted, _, _ in rows}


def test_only_the_script_and_the_transaction_admit_the_limit(redis_server):
    redis = redis_server()
    done, admitted = race("--redis", redis.url)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(admitted) == set("abcd")
    assert admitted["a"] == CLIENTS * LIMIT
    assert LIMIT <= admitted["b"] < LIMIT + CLIENTS  # each client may read a count just before it is full
    assert admitted["c"] == LIMIT
    assert admitted["d"] == LIMIT
    assert redis.keys() == []


def test_the_race_logs_in_and_never_shows_the_password(redis_server, tmp_path):
    redis = redis_server(requirepass="open-sesame")
    secret = tmp_path / "password"
    secret.write_text("open-sesame\n")
    done, admitted = race("--redis", f"{redis.unix_url}", "--password-file", secret)
    assert done.returncode == 0 and admitted["d"] == LIMIT
    done, admitted = race("--redis", f"redis://:open-sesame@localhost:{redis.port}/3")
    assert done.returncode == 0 and admitted["d"] == LIMIT
    assert f"redis://localhost:{redis.port}/3" in done.stdout and "sesame" not in done.stdout
    done, _ = race("--redis", f"redis://:hunter2@127.0.0.1:{redis.port}")
    assert done.returncode == 1 and "Redis says to AUTH: WRONGPASS" in done.stderr and "hunter2" not in done.stderr
    done, _ = race("--redis", f"redis://127.0.0.1:{redis.port}")
    assert done.returncode == 1 and "NOAUTH" in done.stderr


def test_what_cannot_be_deleted_goes_by_itself(redis_server):
    redis = redis_server()
    redis.call("ACL", "SETUSER", "racer", "on", ">p", "~laju-race-*", "+@all", "-del")
    done, admitted = race("--redis", f"redis://racer:p@127.0.0.1:{redis.port}")
    assert done.returncode == 0 and admitted["d"] == LIMIT
    keys = redis.keys()
    assert len(keys) == 3 and all(key.startswith("laju-race-") for key in keys)
    assert all(0 < redis.call("TTL", key) <= 4 * 3600 for key in keys)


def test_a_redis_without_scripts_says_so(redis_server):
    redis = redis_server()
    redis.call("ACL", "SETUSER", "racer", "on", ">p", "~*", "+@all", "-@scripting")
    done, admitted = race("--redis", f"redis://racer:p@127.0.0.1:{redis.port}")
    assert done.returncode == 1 and "NOPERM" in done.stderr
    assert "d" not in admitted and redis.keys() == []


def test_nobody_there_is_told():
    port = free_port()
    done, _ = race("--redis", f"redis://127.0.0.1:{port}")
    assert done.returncode == 1
    assert done.stderr == f"laju demo race: redis://127.0.0.1:{port}: Connection refused; is Redis running there?\n"


@pytest.mark.parametrize("words, message", [
    (["--redis", "redis+cluster://127.0.0.1"], "the race is run on one server without TLS; allowed: redis:// or unix:"),
    (["--redis", "rediss://127.0.0.1"], "the race is run on one server without TLS"),
    (["--redis", "localhost:6379"], 'did you mean "redis://localhost:6379"?'),
    (["--redis", "redis://me@127.0.0.1"], "redis names a user and no password"),
    (["redis://127.0.0.1"], '"redis://127.0.0.1" is not expected'),
], ids=str)
def test_a_wrong_call_is_told(words, message):
    done, _ = race(*words)
    assert done.returncode == 2 and message in done.stderr and done.stdout == ""


@pytest.mark.parametrize("words", [["demo"], ["demo", "rase"]], ids=" ".join)
def test_the_demo_is_found(words):
    done = run_laju(*words)
    assert done.returncode == 2 and 'did you mean "demo race"?' in done.stderr

"""What a restart remembers."""

import os
import random
import signal
import stat
import time

import pytest

import law
from server import Server

RULES = [law.rule(a, 100, per="1d", name=a) for a in law.ALGORITHMS]
COSTS = {"a": 1, "b": 37, "c": 100}


def settings(home, **more):
    return {"rules": RULES, "memory": "16MiB", "snapshot": {"path": str(home / "table.snap"), "interval": "1h"}, **more}


def charge(server):
    with server.resp() as resp:
        for rule in law.ALGORITHMS:
            for key, cost in COSTS.items():
                assert resp.call("LAJU.CHECK", rule, key, cost)[0] == 1


def assert_remembered(server):
    with server.resp() as resp:
        for rule in law.ALGORITHMS:
            for key, cost in COSTS.items():
                assert resp.call("LAJU.PEEK", rule, key)[2] == 100 - cost, (rule, key)
            assert resp.call("LAJU.PEEK", rule, "unknown")[2] == 100
            assert resp.call("LAJU.CHECK", rule, "c")[0] == 0


def assert_empty(server):
    with server.resp() as resp:
        for rule in law.ALGORITHMS:
            assert resp.call("LAJU.CHECK", rule, "c")[:3] == [1, 100, 99]


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def far_from_midnight():
    law.keep_clear_of_edge(law.DAY_S, 120)


def test_sigterm_forgets_nothing_and_the_file_is_its_owners_alone(serve, tmp_path):
    server = serve(settings(tmp_path))
    charge(server)
    server.stop()
    assert stat.S_IMODE((tmp_path / "table.snap").stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["table.snap"]
    for memory in ("16MiB", "64MiB", "4MiB"):  # a table of another size takes it too
        again = serve(settings(tmp_path, memory=memory))
        assert_remembered(again)
        again.stop()


def test_a_remembered_denial_counts_on_from_where_it_was(serve, tmp_path):
    server = serve(settings(tmp_path))
    server.check("token-bucket", "x", 100)
    before = server.check("token-bucket", "x").json["retry_after_ms"]
    stopped_at = time.monotonic()
    server.stop()
    server = serve(settings(tmp_path))
    after = server.check("token-bucket", "x").json["retry_after_ms"]
    passed_ms = (time.monotonic() - stopped_at) * 1000
    # The ticks of a day are 100 ms.
    assert -200 <= before - after <= passed_ms + 1000


def test_a_snapshot_comes_every_interval_and_kill_9_loses_no_more(serve, tmp_path):
    path = tmp_path / "table.snap"
    server = serve(settings(tmp_path, snapshot={"path": str(path), "interval": "1s"}))
    charge(server)
    charged_at = time.time()
    wait_for(lambda: path.exists() and path.stat().st_mtime > charged_at + 0.1)
    server.signal(signal.SIGKILL)
    server.wait()
    assert_remembered(serve(settings(tmp_path)))


def test_kill_9_while_a_snapshot_is_written_leaves_the_last_one_whole(tmp_path):
    """Snapshots of some size come one after another; whenever the end comes, what stands there can be read."""
    path = tmp_path / "table.snap"
    rng = random.Random(1)
    wanted = settings(tmp_path, snapshot={"path": str(path), "interval": "1s"})
    server = Server(wanted)
    try:
        server.start()
        charge(server)
        with server.resp() as resp:
            for i in range(100):
                resp.call("LAJU.MCHECK", "token-bucket", 2, *(f"{i}-{j}" for j in range(1000)))
        charged_at = time.time()
        wait_for(lambda: path.exists() and path.stat().st_mtime > charged_at + 0.1)
        for _ in range(3):
            time.sleep(0.9 + rng.random() * 0.3)
            server.kill()
            server = Server(wanted).start()
            assert_remembered(server)
        server.stop()
    finally:
        server.kill()


def test_sigterm_in_the_middle_of_a_snapshot_leaves_one_whole_file(serve, tmp_path):
    path = tmp_path / "table.snap"
    wanted = settings(tmp_path, snapshot={"path": str(path), "interval": "100ms"}, memory="64MiB")
    server = serve(wanted)
    charge(server)
    with server.resp() as resp:
        for i in range(300):
            resp.call("LAJU.MCHECK", "token-bucket", 2, *(f"{i}-{j}" for j in range(1000)))
    for _ in range(4):
        time.sleep(0.1 + random.random() * 0.1)
        server.stop()
        assert [p.name for p in tmp_path.iterdir()] == ["table.snap"]
        server = serve(wanted)
        assert_remembered(server)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_cannot_be_a_snapshot_stops_the_start(tmp_path, make):
    """A path that is a directory, a pipe or a device is a mistake to be told, not a damaged file to be moved aside."""
    path = tmp_path / "in-the-way"
    make(path)
    server = Server(settings(tmp_path, snapshot={"path": str(path), "interval": "1s"})).launch()
    try:
        assert server.wait() == 1
        assert str(path) in server.log() and "snapshot" in server.log()
        assert [p.name for p in tmp_path.iterdir()] == ["in-the-way"]
    finally:
        server.kill()


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


DAMAGES = {
    "truncated by a byte": lambda d: d[:-1],
    "truncated to half": lambda d: d[:len(d) // 2],
    "truncated to its beginning": lambda d: d[:16],
    "empty": lambda d: b"",
    "a bit flipped in the middle": lambda d: flip(d, len(d) // 2),
    "a bit flipped at the start": lambda d: flip(d, 0),
    "a bit flipped at the end": lambda d: flip(d, len(d) - 1),
    "longer than it was": lambda d: d + b"x",
    "something else": lambda d: b"#!/bin/sh\necho hello\n" * 50,
    "zeros": lambda d: bytes(len(d)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_snapshot_is_refused_kept_aside_and_laju_starts_empty(serve, tmp_path, damage):
    path = tmp_path / "table.snap"
    server = serve(settings(tmp_path))
    charge(server)
    server.stop()
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    server = serve(settings(tmp_path))
    assert_empty(server)
    assert "table.snap" in server.log()
    kept = [p for p in tmp_path.iterdir() if p.read_bytes() == damaged]
    assert len(kept) == 1 and kept[0] != path
    server.stop()
    assert kept[0].read_bytes() == damaged  # the next snapshot does not write over it
    with serve(settings(tmp_path)).http() as http:
        assert http.peek("token-bucket", "c") == 99


def test_a_snapshot_that_cannot_be_written_is_told_and_laju_goes_on(tmp_path):
    home = tmp_path / "gone"
    home.mkdir()
    server = Server(settings(tmp_path, snapshot={"path": str(home / "table.snap"), "interval": "1s"})).start()
    try:
        for p in home.iterdir():
            p.unlink()
        home.rmdir()
        charge(server)
        wait_for(lambda: str(home) in server.log())
        assert_remembered(server)
        server.signal(signal.SIGTERM)
        assert server.wait() in (0, 1)
        server.assert_clean()
    finally:
        server.kill()


def test_without_a_snapshot_a_restart_begins_afresh(serve, tmp_path):
    server = serve({"rules": RULES})
    charge(server)
    server.stop()
    assert_empty(serve({"rules": RULES}))

"""Started as a service manager starts it: sockets handed over, and told how it goes."""

import configparser
import contextlib
import os
import re
import signal
import socket
import subprocess

import pytest

from server import BINARY, PATIENCE_S, ROOT
from wire import Http, Resp

FIRST_DESCRIPTOR = 3  # where handed over sockets begin (sd_listen_fds(3))


class Manager:
    """Hands `sockets` (name, socket) over to a `laju serve`, and listens to what it tells."""

    def __init__(self, home, sockets, *arguments):
        self.said = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.said.bind(str(home / "notify"))
        self.said.settimeout(PATIENCE_S)
        names = ":".join(name for name, _ in sockets)
        # The shell's process becomes laju: only it can write its own id into LISTEN_PID.
        moves = "".join(f" {FIRST_DESCRIPTOR + i}<&{100 + i}" for i in range(len(sockets)))
        for i, (_, handed) in enumerate(sockets):
            os.dup2(handed.fileno(), 100 + i)
        try:
            self.process = subprocess.Popen(
                ["bash", "-c", f'export LISTEN_PID=$$; exec "$@"{moves}', "bash", BINARY, "serve", *arguments],
                pass_fds=[100 + i for i in range(len(sockets))], stderr=subprocess.PIPE, text=True,
                env={**os.environ, "LISTEN_FDS": str(len(sockets)), "LISTEN_FDNAMES": names,
                     "NOTIFY_SOCKET": str(home / "notify")})
        finally:
            for i in range(len(sockets)):
                os.close(100 + i)

    def told(self):
        return self.said.recv(4096).decode().split("\n")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=PATIENCE_S)[1]


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as a, socket.create_server(("127.0.0.1", 0)) as b:
        yield a, b


def test_sockets_handed_over_are_the_doors(tmp_path, listening):
    http, resp = listening
    manager = Manager(tmp_path, [("http", http), ("resp", resp)], "--http", "127.0.0.1:1", "--admin", "off", "--workers", "2")
    try:
        assert manager.told() == ["READY=1"]
        with Http(http.getsockname()) as client:
            answer = client.post("/v1/check", {"rule": "default", "key": "a"})
            assert answer.json["remaining"] == 99
        with Resp(resp.getsockname()) as client:
            assert client.call("LAJU.CHECK", "default", "a")[2] == 98
    finally:
        log = manager.end()
    assert manager.told() == ["STOPPING=1"]
    assert manager.process.returncode == 0, log
    assert "%s:%d" % http.getsockname() in log  # the configured address gave way


def test_a_socket_is_the_admin_door_too(tmp_path, listening):
    http, admin = listening
    manager = Manager(tmp_path, [("http", http), ("admin", admin)], "--resp", "off", "--admin", "off")
    try:
        assert manager.told() == ["READY=1"]
        with Http(admin.getsockname()) as client:
            assert client.get("/v1/status").json["stage"] == "serving"
    finally:
        manager.end()


def test_each_packaged_socket_unit_is_a_door_at_its_usual_address(tmp_path):
    units = [configparser.ConfigParser() for _ in range(3)]
    for unit, path in zip(units, sorted((ROOT / "packaging/systemd").glob("*.socket")), strict=True):
        unit.read(path)
        assert unit["Socket"]["Service"] == "laju.service"
    doors = {unit["Socket"]["FileDescriptorName"]: unit["Socket"]["ListenStream"] for unit in units}
    assert doors == {"http": "127.0.0.1:8080", "resp": "127.0.0.1:6380", "admin": "127.0.0.1:8082"}
    with contextlib.ExitStack() as stack:
        sockets = [(name, stack.enter_context(socket.create_server(("127.0.0.1", 0)))) for name in doors]
        manager = Manager(tmp_path, sockets)
        try:
            assert manager.told() == ["READY=1"]
        finally:
            log = manager.end()
        for name, handed in sockets:
            assert re.search(rf"msg=listening {name}=\w+://127.0.0.1:{handed.getsockname()[1]}\n", log), log


def test_an_admin_socket_that_others_reach_needs_a_token(tmp_path, listening):
    with socket.create_server(("0.0.0.0", 0)) as open_to_all:
        manager = Manager(tmp_path, [("http", listening[0]), ("admin", open_to_all)], "--resp", "off")
        log = manager.process.communicate(timeout=PATIENCE_S)[1]
    assert manager.process.returncode == 1 and "admin.token is not set" in log


def test_a_reload_is_told_from_its_beginning_to_its_end(tmp_path, listening):
    config = tmp_path / "laju.yaml"
    config.write_text("rules: [{name: a, limit: 1, per: 1m}]")
    manager = Manager(tmp_path, [("http", listening[0])], "--config", str(config), "--resp", "off", "--admin", "off")
    try:
        assert manager.told() == ["READY=1"]
        manager.process.send_signal(signal.SIGHUP)
        reloading = manager.told()
        assert reloading[0] == "RELOADING=1"
        assert int(reloading[1].removeprefix("MONOTONIC_USEC=")) > 0
        assert manager.told() == ["READY=1"]
    finally:
        manager.end()


@pytest.mark.parametrize("sockets, why", [
    (["http", "http"], "more than one socket"),
    (["resp"], "no listening stream socket"),
])
def test_what_cannot_be_a_door_is_refused(tmp_path, listening, sockets, why):
    with socket.socket() as unbound:
        handed = [(name, listening[i] if name == "http" else unbound) for i, name in enumerate(sockets)]
        manager = Manager(tmp_path, handed)
        log = manager.process.communicate(timeout=PATIENCE_S)[1]
    assert manager.process.returncode == 1
    assert why in log

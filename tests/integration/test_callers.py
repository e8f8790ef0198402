"""The examples in Go, Python and Node, with their own dependencies: limits, headers, and what happens without laju."""

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import tool
from server import PATIENCE_S, ROOT, Server, free_port

RULES = [{"name": "web", "algorithm": "token-bucket", "limit": 3, "per": "1d"}]
BUILD_S = 300  # installing dependencies, the first time


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=BUILD_S, **options)
    assert done.returncode == 0, done.stdout + done.stderr


def go_command(home):
    run(tool("go"), "build", "-o", home / "service", ".", cwd=ROOT / "examples/go")
    return [home / "service"], home


def python_command(home):
    environment = home / "venv"
    run(sys.executable, "-m", "venv", environment)
    run(environment / "bin/pip", "install", "-q", "--disable-pip-version-check", "-r", ROOT / "examples/python/requirements.txt")
    return [environment / "bin/uvicorn", "--no-access-log", "--port", "PORT", "app:app"], ROOT / "examples/python"


def node_command(home):
    tool("node")
    copy = home / "node"
    shutil.copytree(ROOT / "examples/node", copy, ignore=shutil.ignore_patterns("node_modules"))
    run(tool("npm"), "ci", "--no-audit", "--no-fund", cwd=copy)
    return ["node", "app.js"], copy


COMMANDS = {"go": go_command, "python": python_command, "node": node_command}
CALLERS = [("go", "redis"), ("go", "http"), ("python", "redis"), ("node", "redis")]


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    made = {}

    def command(language):
        if language not in made:
            made[language] = COMMANDS[language](tmp_path_factory.mktemp(language))
        return made[language]

    return command


class Service:
    def __init__(self, command, folder, laju_url, log):
        self.port = free_port()
        words = [str(self.port) if word == "PORT" else str(word) for word in command]
        environment = {**os.environ, "LAJU_URL": laju_url, "LAJU_RULE": "web", "PORT": str(self.port)}
        self.log = open(log, "w+")
        self.process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log)

    def ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request("GET", "/")
        answer = connection.getresponse()
        answer.body = answer.read()
        connection.close()
        return answer

    def wait(self):
        """Until it answers, and has had laju's answer for it."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                answer = self.ask()
                if answer.headers["X-RateLimit-Limit"] is not None:
                    return answer
            except OSError:
                pass
            assert self.process.poll() is None and time.monotonic() < deadline, "the service does not start"
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)
        self.log.close()


@pytest.mark.parametrize("language,door", CALLERS)
def test_a_service_is_limited_and_stays_up_without_laju(language, door, commands, tmp_path):
    command, folder = commands(language)
    with Server({"rules": RULES, "memory": "16MiB", "snapshot": {"path": str(tmp_path / "snap")}}) as laju:
        address = laju.resp_address if door == "redis" else laju.http_address
        service = Service(command, folder, "%s://%s:%d" % (door, *address), tmp_path / "log")
        try:
            answers = [service.wait(), *(service.ask() for _ in range(5))]
            statuses = [answer.status for answer in answers]
            # of the first three, one that laju answered too late has cost its token all the same
            assert statuses[-2:] == [429, 429] and 1 <= statuses.count(200) <= 4, statuses
            refused = answers[-1]
            assert refused.headers["X-RateLimit-Limit"] == "3" and refused.headers["X-RateLimit-Remaining"] == "0"
            assert re.fullmatch(r"\d+", refused.headers["Retry-After"]) and int(refused.headers["Retry-After"]) > 0
            assert int(refused.headers["X-RateLimit-Reset"]) > time.time()
            assert answers[0].headers["X-RateLimit-Limit"] == "3" and b"hello" in answers[0].body

            laju.stop()
            began = time.monotonic()
            assert [service.ask().status for _ in range(5)] == [200] * 5
            assert time.monotonic() - began < 5 * 0.05 * 10 + 5  # a deadline of 50 ms each, and a slow machine
            laju.start()
            deadline = time.monotonic() + PATIENCE_S
            while service.ask().status != 429:
                assert time.monotonic() < deadline, "the limit does not come back"
                time.sleep(0.05)
        finally:
            service.stop()

import itertools
import os
import pathlib
import shutil

import pytest

import law
from redis_server import RedisServer
from server import BINARY, Server

if not os.access(BINARY, os.X_OK):
    pytest.exit(f"{BINARY} is not built (LAJU_BINARY names another)", returncode=2)

RULES = [
    law.PROBE,
    *(law.rule(a, 40, burst=60 if a in law.BUCKETS else None) for a in law.ALGORITHMS),
    *(law.rule(a, 10, per="1d", name=f"{a}-day") for a in law.ALGORITHMS),
    {"name": "login", "algorithm": "token-bucket", "limit": 5, "per": "1m", "burst": 10},
    {"name": "none", "limit": 0, "per": "1m"},
    {"name": "priced", "algorithm": "token-bucket", "limit": 10, "per": "1d", "cost": 4},
    {"name": "plenty", "algorithm": "token-bucket", "limit": 4_000_000_000, "per": "1s"},
]
SETTINGS = {"rules": RULES, "resp_admin": True, "memory": "64MiB"}

SANITIZED = any(word in pathlib.Path(BINARY).read_bytes() for word in (b"__asan_init", b"__tsan_init"))
plain_only = pytest.mark.plain_only

# What these have of the server's code, others bring under a sanitizer already; they take most of the time.
PLAIN_MODULES = {"test_bench", "test_callers", "test_cli", "test_clients", "test_demo", "test_failover", "test_fleet",
                 "test_kubernetes", "test_openapi", "test_replay", "test_store_clients", "test_store_example", "test_tools"}


def is_plain_only(item):
    marked = any(item.get_closest_marker(name) for name in ("plain_only", "alone"))
    return marked or item.module.__name__ in PLAIN_MODULES


def pytest_collection_modifyitems(config, items):
    """A sanitizer has its own memory and its own way to die: what is about these is left to the plain build."""
    if SANITIZED:
        left = [item for item in items if is_plain_only(item)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


numbers = itertools.count()


@pytest.fixture(scope="session")
def laju():
    """One server that most tests share; each uses keys of its own."""
    with Server(SETTINGS) as server:
        yield server


@pytest.fixture
def key():
    """A key that no other test has used."""
    return f"key-{next(numbers)}"


@pytest.fixture
def serve():
    """serve(settings, ...): a server of the test's own, stopped when it ends."""
    servers = []

    def start(settings=None, **options):
        server = Server(settings, **options)
        servers.append(server)
        return server.start()

    yield start
    failures = []
    for server in servers:
        try:
            if server.process.poll() is None:
                server.stop()
            server.assert_clean()
        except AssertionError as failure:
            failures.append(failure)
        finally:
            server.kill()
    assert not failures, failures


@pytest.fixture
def redis_server():
    """redis_server(maxmemory="2mb", ...): a redis-server of the test's own, ended with it."""
    servers = []

    def start(**settings):
        tool("redis-server")
        server = RedisServer(**settings)
        servers.append(server)
        return server.start()

    yield start
    for server in servers:
        server.kill()


def tool(name):
    """A program that a test needs. Absent, the test is skipped (script/test takes a skip for a failure under CI=true)."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path

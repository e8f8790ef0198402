"""Redis clients with their defaults: redis-py, ioredis, go-redis."""

import asyncio
import json
import os
import pathlib
import subprocess

import pytest
import redis
import redis.asyncio

import law
from conftest import tool
from server import ROOT, Server

CLIENTS = pathlib.Path(__file__).parent / "clients"
BUILD = ROOT / "build" / "clients"
PASSWORD = "correct horse battery staple"


@pytest.fixture(scope="module")
def locked():
    """A server with a password."""
    with Server({"rules": [law.rule("token-bucket", 10, per="1d", name="ten")], "resp_password": PASSWORD}) as server:
        yield server


# ---- redis-py ----


@pytest.fixture(params=[None, 2, 3], ids=["default", "resp2", "resp3"])
def client(laju, request):
    options = {} if request.param is None else {"protocol": request.param}
    with redis.Redis(port=laju.resp_address[1], **options) as client:
        yield client


def test_redis_py_speaks_every_command(client, key):
    call = client.execute_command
    assert client.ping() is True
    assert client.echo("hello") == b"hello"
    assert call("LAJU.CHECK", "login", key) == [1, 10, 9, 0, 12000, 0]
    assert call("LAJU.PEEK", "login", key)[:4] == [1, 10, 9, 0]
    assert call("LAJU.ALL", "login", key, 2, "priced", key, 4)[:4] == [1, 1, 10, 7]
    assert call("LAJU.MCHECK", "login", 6, key, key, key + "b")[0] == 1
    assert call("LAJU.MCHECK", "login", 11, key) == [None]
    assert call("LAJU.RESET", "login", key) == 1
    assert call("CL.THROTTLE", key, 15, 30, 60, 1) == [0, 16, 15, -1, 2]


def test_redis_py_raises_what_redis_would(client):
    with pytest.raises(redis.ResponseError, match="wrong number of arguments"):
        client.execute_command("LAJU.CHECK", "login")
    with pytest.raises(redis.ResponseError, match="nobody"):
        client.execute_command("LAJU.CHECK", "nobody", "a")
    with pytest.raises(redis.ResponseError, match="unknown command"):
        client.get("a")
    assert client.ping()


def test_redis_py_understands_the_other_commands(client):
    assert client.client_setname("tests")
    assert client.client_getname() in ("tests", b"tests")
    assert client.client_id() > 0
    assert isinstance(client.info(), dict) and "redis_version" in client.info()
    assert client.command_count() > 0
    assert client.execute_command("SELECT", 0) in (True, b"OK", "OK")


def test_redis_py_pipelines(client, key):
    pipe = client.pipeline(transaction=False)
    for _ in range(1000):
        pipe.execute_command("LAJU.CHECK", "login", key)
    replies = pipe.execute()
    assert [r[0] for r in replies] == [1] * 10 + [0] * 990
    pipe.execute_command("LAJU.CHECK", "nobody", key).execute_command("PING")
    first, second = pipe.execute(raise_on_error=False)
    assert isinstance(first, redis.ResponseError) and second in (True, b"PONG", "PONG")


@pytest.mark.parametrize("protocol", [2, 3])
def test_redis_py_from_a_url_with_text_pool_and_health_checks(locked, key, protocol):
    url = f"redis://:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{locked.resp_address[1]}/0?protocol={protocol}"
    pool = redis.BlockingConnectionPool.from_url(url, decode_responses=True, health_check_interval=1, max_connections=3)
    with redis.Redis(connection_pool=pool) as client:
        assert client.execute_command("LAJU.CHECK", "ten", key)[:3] == [1, 10, 9]
        assert client.echo("hello") == "hello"
        assert client.execute_command("LAJU.RESET", "ten", key) == 1
    with redis.Redis(port=locked.resp_address[1], username="default", password=PASSWORD, protocol=protocol) as client:
        assert client.ping()
    with redis.Redis(port=locked.resp_address[1], password="wrong", protocol=protocol, retry=None) as client:
        with pytest.raises(redis.AuthenticationError):
            client.ping()
    with redis.Redis(port=locked.resp_address[1], protocol=protocol, retry=None) as client:
        with pytest.raises((redis.AuthenticationError, redis.ResponseError), match="uthenticat"):
            client.execute_command("LAJU.CHECK", "ten", key)


def test_redis_py_on_a_unix_socket(serve):
    server = serve({}, unix=True)
    with redis.Redis(unix_socket_path=server.resp_address) as client:
        assert client.execute_command("LAJU.CHECK", "default", "a")[:3] == [1, 100, 99]


def test_redis_py_async(laju, key):
    async def many():
        async with redis.asyncio.Redis(port=laju.resp_address[1]) as client:
            return await asyncio.gather(*(client.execute_command("LAJU.CHECK", "login", key) for _ in range(50)))
    assert sum(r[0] for r in asyncio.run(many())) == 10


# ---- ioredis, go-redis ----


@pytest.fixture(scope="session")
def node_client():
    """client.js with its modules by lockfile, in the build directory."""
    node, npm, home = tool("node"), tool("npm"), BUILD / "node"
    home.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", "client.js"):
        (home / name).write_bytes((CLIENTS / "node" / name).read_bytes())
    subprocess.run([npm, "ci", "--silent", "--no-audit", "--no-fund"], cwd=home, check=True, timeout=170)
    return [node, home / "client.js"]


@pytest.fixture(scope="session")
def go_client():
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run([tool("go"), "build", "-o", BUILD / "go-client", "."], cwd=CLIENTS / "go", check=True, timeout=170,
                   env={**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false"})
    return [BUILD / "go-client"]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("which", ["node_client", "go_client"])
@pytest.mark.parametrize("door", ["open", "locked"])
def test_a_client_of_another_language_connects_with_its_defaults(request, laju, key, which, door):
    client = request.getfixturevalue(which)
    server, rule, words = laju, "token-bucket-day", []
    if door == "locked":
        server, rule, words = request.getfixturevalue("locked"), "ten", [PASSWORD]
    done = subprocess.run([*client, str(server.resp_address[1]), rule, key, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["ping"] == "PONG" and out["quit"] == "OK"
    assert out["check"] == [1, 10, 9, 0, 8640000, 0]
    assert [r[:4] for r in out["pipeline"]] == [[1, 10, 8, 0]] * 2
    assert out["mcheck"] == [None]
    assert out["throttle"] == [0, 16, 15, -1, 2880]
    assert "nobody" in out["error"] and out["error"].startswith("ERR")
    assert done.stderr == "", "a client complains of the server"

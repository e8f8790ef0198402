"""redis-py, ioredis and curl, each at two laju that share a Redis: the count goes on from node to node."""

import contextlib
import json
import subprocess

import pytest
import redis

from conftest import tool
from redis_server import RedisServer
from server import Server
from test_clients import node_client  # noqa: F401
from test_store import rule, settings, wait_for_store


@pytest.fixture(scope="module")
def nodes():
    tool("redis-server")
    with RedisServer() as shared, contextlib.ExitStack() as ends:
        servers = [ends.enter_context(Server(settings(shared, [rule("ten", 10)], timeout="5s"))) for _ in range(2)]
        for server in servers:
            wait_for_store(server)
        yield servers


def by_redis_py(server, key):
    with redis.Redis(port=server.resp_address[1]) as client:
        one = client.execute_command("LAJU.CHECK", "ten", key)
        pipe = client.pipeline(transaction=False)
        pipe.execute_command("LAJU.CHECK", "ten", key).execute_command("LAJU.PEEK", "ten", key)
        two, peek = pipe.execute()
        return [one[:3], two[:3], peek[:3]]


def by_curl(server, key, *, cost=1):
    command = [tool("curl"), "--silent", "--show-error", "--write-out", "\n%{http_code}", server.url("/v1/check"),
               "--json", json.dumps({"rule": "ten", "key": key, "cost": cost})]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    body, status = done.stdout.rsplit("\n", 1)
    answer = json.loads(body)
    return [int(status), answer["allowed"], answer["remaining"]]


def by_ioredis(client, server, key):
    done = subprocess.run([*client, str(server.resp_address[1]), "ten", key], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    return [out["check"][:3], *(reply[:3] for reply in out["pipeline"])], out["throttle"][:3]


@pytest.mark.timeout(300)
def test_the_count_goes_on_from_node_to_node_and_client_to_client(nodes, node_client, key):  # noqa: F811
    one, two = nodes
    assert by_redis_py(one, key) == [[1, 10, 9], [1, 10, 8], [1, 10, 8]]
    assert by_ioredis(node_client, two, key) == ([[1, 10, 7], [1, 10, 6], [1, 10, 6]], [0, 16, 15])
    assert by_curl(one, key) == [200, True, 5]
    assert by_redis_py(two, key) == [[1, 10, 4], [1, 10, 3], [1, 10, 3]]
    assert by_ioredis(node_client, one, key) == ([[1, 10, 2], [1, 10, 1], [1, 10, 1]], [0, 16, 14])
    assert by_curl(two, key, cost=2) == [429, False, 1]
    assert by_curl(two, key) == [200, True, 0]
    assert by_curl(one, key) == [429, False, 0]
    assert by_redis_py(two, key) == [[0, 10, 0], [0, 10, 0], [1, 10, 0]]

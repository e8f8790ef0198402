"""Thirty pods and one Redis: together they admit the limit, whoever asks whom, however fast."""

import asyncio
import contextlib
import itertools
import time

import pytest

import law
from conftest import SANITIZED
from redis_server import RedisServer
from server import PATIENCE_S, Server
from test_store import wait_for_store
from wire import Resp

pytestmark = pytest.mark.alone

PODS = 6 if SANITIZED else 30
REQUESTS = 5000
LIMIT = 10
EDGE_S = 120  # no window of the limit turns so soon before or after


def hour():
    """The period of the limit: an hour, or a little more where a window of an hour is about to turn or has just turned."""
    now = time.time()
    for period in range(3600, 7200, 97):
        if EDGE_S < now % period < period - EDGE_S:
            return period
    raise AssertionError("every period is near its edge")


def settings(redis, number, period):
    """No two alike, but for the rules: with and without the memory of denials, one connection and several, by TCP and not."""
    store = {"redis": redis.unix_url if number % 5 == 4 else redis.url, "timeout": "2s", "connect_timeout": "5s",
             "deny_cache": number % 2 == 0, "pool": 1 + number % 3, "nodes": PODS}
    rules = [{"name": a, "algorithm": a, "limit": LIMIT, "per": f"{period}s", "on_store_error": "deny"}
             for a in law.ALGORITHMS]
    return {"store": store, "rules": rules, "workers": 1, "memory": "2MiB"}


@pytest.fixture(scope="module")
def fleet():
    period = hour()
    with RedisServer() as redis, contextlib.ExitStack() as ends:
        pods = [Server(settings(redis, number, period)) for number in range(PODS)]
        for pod in pods:
            ends.callback(pod.kill)
            pod.launch()
        for pod in pods:
            pod.wait_until_ready()
            wait_for_store(pod)
        yield redis, pods
        for pod in pods:
            pod.process.terminate()
        for pod in pods:
            pod.stop()


# ---- clients ----


class Asker(asyncio.Protocol):
    """One connection with `count` checks of its own: the next one when the last is answered, or all in one write."""

    def __init__(self, check, count, pipelined, admitted):
        self.check, self.left, self.pipelined = check, count, pipelined
        self.admitted = admitted  # what remained behind each admission
        self.unread = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport):
        self.transport = transport

    def begin(self):
        self.transport.write(self.check * (self.left if self.pipelined else 1))

    def connection_lost(self, error):
        if not self.done.done():
            self.done.set_exception(error or EOFError(f"{self.left} checks are not answered"))

    def data_received(self, data):
        self.unread += data
        while (answer := self.take()) is not None:
            allowed, remaining = answer
            if allowed:
                self.admitted.append(remaining)
            self.left -= 1
            if self.left == 0:
                self.done.set_result(None)
                self.transport.close()
            elif not self.pipelined:
                self.transport.write(self.check)


class RespAsker(Asker):
    def take(self):
        *lines, rest = self.unread.split(b"\r\n", 7)
        if len(lines) < 7:
            return None
        assert lines[0] == b"*6", lines
        self.unread = rest
        return lines[1] == b":1", int(lines[3][1:])


class HttpAsker(Asker):
    def take(self):
        head, end, body = self.unread.partition(b"\r\n\r\n")
        if not end:
            return None
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields[b"content-length"])
        if len(body) < length:
            return None
        status = int(head.split(b" ", 2)[1])
        assert status in (200, 429) and b"x-ratelimit-source" not in fields, (head, body[:length])
        self.unread = body[length:]
        return status == 200, int(fields[b"x-ratelimit-remaining"])


def shares(total, count):
    return [total // count + (i < total % count) for i in range(count)]


async def spray(pods, rule, key, pipelined):
    """All at once, half of it by each door. Returns what remained behind each admission."""
    each = 1 if pipelined else 20  # connections to each pod's doors
    body = b'{"rule":"%s","key":"%s"}' % (rule.encode(), key.encode())
    doors = [(HttpAsker, "http_address", b"POST /v1/check HTTP/1.1\r\nHost: pod\r\nContent-Length: %d\r\n\r\n%s"
              % (len(body), body)),
             (RespAsker, "resp_address", Resp.encode("LAJU.CHECK", rule, key))]
    targets = list(itertools.product(range(each), pods, doors))
    admitted, loop = [], asyncio.get_running_loop()
    askers = [(await loop.create_connection(lambda: kind(check, count, pipelined, admitted), *getattr(pod, door)))[1]
              for (_, pod, (kind, door, check)), count in zip(targets, shares(REQUESTS, len(targets)))]
    for asker in askers:
        asker.begin()
    await asyncio.wait_for(asyncio.gather(*(asker.done for asker in askers)), PATIENCE_S)
    return admitted


def assert_used_up(pods, rule, key):
    for pod in pods[::7]:
        with pod.http() as http:
            assert http.peek(rule, key) == 0


@pytest.mark.parametrize("way", ["one-by-one", "pipelined"])
@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_all_pods_together_admit_the_limit(fleet, algorithm, way, key):
    _, pods = fleet
    admitted = asyncio.run(spray(pods, algorithm, key, way == "pipelined"))
    assert sorted(admitted) == list(range(LIMIT)), "each token once"
    assert_used_up(pods, algorithm, key)


def test_a_script_that_is_flushed_again_and_again_changes_nothing(fleet, key):
    redis, pods = fleet

    async def flush(client, over):
        count = 0
        while not over.is_set():
            await asyncio.to_thread(client.call, "SCRIPT", "FLUSH")
            await asyncio.sleep(0.002)  # a check whose script is gone five times in a row is answered without the store
            count += 1
        return count

    async def both():
        over = asyncio.Event()
        with redis.client() as client:
            flushing = asyncio.create_task(flush(client, over))
            sprays = [await spray(pods, "token-bucket", f"{key}-{i}", True) for i in range(3)]
            over.set()
            return sprays, await flushing

    sprays, flushes = asyncio.run(both())
    assert flushes > 3
    for admitted in sprays:
        assert sorted(admitted) == list(range(LIMIT))
    loads = int(redis.call("INFO", "commandstats").decode().split("cmdstat_script|load:calls=")[1].split(",")[0])
    assert loads > sum(1 + number % 3 for number in range(PODS)), "more than at the start"

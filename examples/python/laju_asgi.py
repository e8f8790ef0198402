"""Rate limits for any ASGI application (FastAPI, Starlette, Django, ...), asked of laju over RESP by redis-py.

    app = RateLimit(app, "redis://127.0.0.1:6380", rule="api")

Each request is one check of `rule`, for the key that `key(scope)` gives. Where laju refuses, the client gets a 429; where it
does not answer within `timeout` seconds, the request passes: a limiter that is down must not take the service with it.
"""

import asyncio
import logging
import time

import redis.asyncio as redis

log = logging.getLogger("laju")


def client_address(scope):
    """Behind a proxy, take what the proxy says instead (and only what it says)."""
    return scope["client"][0] if scope.get("client") else "unknown"


class RateLimit:
    def __init__(self, app, url, rule, key=client_address, timeout=0.05):
        self.app, self.rule, self.key, self.timeout = app, rule, key, timeout
        self.laju = redis.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout)

    async def ask(self, key):
        """LAJU.CHECK's six integers, or None where there is no answer in time."""
        try:
            return await asyncio.wait_for(self.laju.execute_command("LAJU.CHECK", self.rule, key), self.timeout)
        except (redis.RedisError, OSError, asyncio.TimeoutError) as error:
            log.warning("laju does not answer, the request passes: %r", error)
            return None

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        answer = await self.ask(self.key(scope))
        if answer is None:
            return await self.app(scope, receive, send)
        allowed, limit, remaining, retry_after_ms, reset_after_ms, _ = answer
        headers = [
            (b"x-ratelimit-limit", b"%d" % limit),
            (b"x-ratelimit-remaining", b"%d" % remaining),
            (b"x-ratelimit-reset", b"%d" % -(-(time.time_ns() // 1_000_000 + reset_after_ms) // 1000)),
        ]
        if allowed:
            return await self.app(scope, receive, self.adding(headers, send))
        if retry_after_ms >= 0:
            headers.append((b"retry-after", b"%d" % max(1, -(-retry_after_ms // 1000))))
        headers.append((b"content-type", b"application/json"))
        await send({"type": "http.response.start", "status": 429, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"error":"too many requests"}'})

    @staticmethod
    def adding(headers, send):
        async def send_with(message):
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *headers]}
            await send(message)

        return send_with

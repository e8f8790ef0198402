"""A small application with a limit: `LAJU_URL=redis://127.0.0.1:6380 uvicorn app:app`."""

import os

from laju_asgi import RateLimit


async def hello(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"hello\n"})


app = RateLimit(hello, os.environ.get("LAJU_URL", "redis://127.0.0.1:6380"), rule=os.environ.get("LAJU_RULE", "default"))

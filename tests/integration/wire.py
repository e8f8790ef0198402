"""The two doors, spoken byte by byte: a test sees exactly what a client would, and may say what no client should."""

import json
import socket

PATIENCE_S = 30


def connect(address, timeout=PATIENCE_S):
    if isinstance(address, str):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(timeout)
        s.connect(address)
    else:
        s = socket.create_connection(address, timeout)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


class Wire:
    def __init__(self, address, timeout=PATIENCE_S):
        self.socket = connect(address, timeout)
        self.unread = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def fill(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError("closed by the server" + (f" in the middle of {self.unread!r}" if self.unread else ""))
        self.unread += data

    def line(self):
        while b"\r\n" not in self.unread:
            self.fill()
        line, self.unread = self.unread.split(b"\r\n", 1)
        return line

    def exactly(self, n):
        while len(self.unread) < n:
            self.fill()
        data, self.unread = self.unread[:n], self.unread[n:]
        return data

    def rest(self):
        """All that comes until the server closes. A reset after the bytes counts as a close."""
        try:
            while True:
                self.fill()
        except (EOFError, ConnectionResetError):
            data, self.unread = self.unread, b""
            return data


class Response:
    def __init__(self, version, status, reason, headers, body):
        self.version, self.status, self.reason, self.headers, self.body = version, status, reason, headers, body

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name):
        values = self.all(name)
        assert len(values) <= 1, f"{name} is there {len(values)} times"
        return values[0] if values else None

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body!r}>"


class Http(Wire):
    def request(self, method, path, body=None, headers=(), version="1.1"):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        lines = [f"{method} {path} HTTP/{version}", "Host: localhost", *headers]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")

    def response(self, head_only=False):
        start = self.line().decode("latin-1")
        version, status, reason = (start.split(" ", 2) + [""])[:3]
        assert version in ("HTTP/1.1", "HTTP/1.0"), start
        headers = []
        while line := self.line():
            name, value = line.decode("latin-1").split(":", 1)
            headers.append((name, value.strip()))
        response = Response(version, int(status), reason, headers, b"")
        if not head_only and response.status >= 200 and response.status not in (204, 304):
            length = response.header("Content-Length")
            assert length is not None, f"an answer without a Content-Length: {response}"
            response.body = self.exactly(int(length))
        return response

    def exchange(self, *arguments, **options):
        self.send(self.request(*arguments, **options))
        return self.response(head_only=arguments[0] == "HEAD")

    def get(self, path, **options):
        return self.exchange("GET", path, **options)

    def post(self, path, body, **options):
        return self.exchange("POST", path, body, **options)

    def check(self, rule, key, cost=1):
        return self.post("/v1/check", {"rule": rule, "key": key, "cost": cost})

    def peek(self, rule, key):
        """What remains for a key; charges nothing."""
        response = self.check(rule, key, 0)
        assert response.status == 200, response
        return response.json["remaining"]


class RespError(Exception):
    @property
    def text(self):
        return self.args[0]

    def __eq__(self, other):
        return isinstance(other, RespError) and other.args == self.args


class Resp(Wire):
    def __init__(self, address, timeout=PATIENCE_S, protocol=2, password=None):
        super().__init__(address, timeout)
        if password is not None:
            assert self.call("AUTH", password) == "OK"
        if protocol == 3:
            self.call("HELLO", 3)

    @staticmethod
    def encode(*words):
        parts = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)

    def reply(self):
        """One reply. Bulk strings are bytes, simple strings str; an error is returned, not raised."""
        line = self.line()
        kind, text = line[:1], line[1:].decode("latin-1")
        if kind == b"+":
            return text
        if kind == b"-":
            return RespError(text)
        if kind == b":":
            return int(text)
        if kind == b",":
            return float(text)
        if kind == b"#":
            return text == "t"
        if kind == b"_":
            return None
        if kind in b"$=":
            if int(text) < 0:
                return None
            data = self.exactly(int(text))
            assert self.exactly(2) == b"\r\n"
            return data
        if kind in b"*~>":
            return None if int(text) < 0 else [self.reply() for _ in range(int(text))]
        if kind == b"%":
            return {self.reply(): self.reply() for _ in range(int(text))}
        raise AssertionError(f"not RESP: {line!r}")

    def call(self, *words):
        self.send(self.encode(*words))
        return self.reply()

    def pipeline(self, commands):
        self.send(b"".join(self.encode(*c) for c in commands))
        return [self.reply() for _ in commands]

"""A real redis-server, started for a test on a port that it keeps over restarts, and ended by its process id."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from server import PATIENCE_S, free_port
from wire import Resp


class RedisServer:
    """Keeps nothing on disk: after a restart it is empty. `settings` are its own, by name: {"maxmemory": "2mb"}."""

    def __init__(self, binary="redis-server", **settings):
        self.directory = tempfile.TemporaryDirectory(prefix="laju-redis-")  # goes when this object does
        self.home = pathlib.Path(self.directory.name)
        self.binary = shutil.which(binary)
        self.settings = {"bind": "127.0.0.1", "save": "", "appendonly": "no", "daemonize": "no",
                         "dir": str(self.home), "unixsocket": str(self.home / "redis.sock")}
        self.settings |= {name.replace("_", "-"): str(value) for name, value in settings.items()}
        self.settings.setdefault("port", str(free_port()))
        self.address = ("127.0.0.1", int(self.settings["port"]))
        self.log_path = self.home / "log"
        self.process = None

    @property
    def port(self):
        return self.address[1]

    @property
    def unix_url(self):
        return f"unix:{self.settings['unixsocket']}"

    @property
    def url(self):
        password = self.settings.get("requirepass")
        return f"redis://{f':{password}@' if password else ''}127.0.0.1:{self.port}"

    # ---- life ----

    def command(self):
        return [self.binary, *(word for name, value in self.settings.items() for word in (f"--{name}", value))]

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.home)
        deadline = time.monotonic() + PATIENCE_S
        while not self.answers():
            assert self.process.poll() is None, f"redis-server ended at start:\n{self.log()}"
            assert time.monotonic() < deadline, f"redis-server is not ready:\n{self.log()}"
            time.sleep(0.01)
        return self

    def answers(self):
        try:
            with self.client() as client:
                return client.call("PING") == "PONG"
        except (OSError, EOFError):
            return False

    def freeze(self):
        """It keeps its connections and answers nothing."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def kill(self):
        """Ends it at once, whatever state it is in."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def restart(self):
        """Killed, and back on the same port, empty."""
        self.kill()
        return self.start()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    # ---- what it holds ----

    def client(self, timeout=PATIENCE_S):
        return Resp(self.address, timeout, password=self.settings.get("requirepass"))

    def call(self, *words):
        """One command over a connection of its own."""
        with self.client() as client:
            return client.call(*words)

    def keys(self):
        return sorted(key.decode() for key in self.call("KEYS", "*"))

"""A real `laju serve`, started for a test and stopped by its process id."""

import functools
import itertools
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time

from wire import Http, Resp

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.path.abspath(os.environ.get("LAJU_BINARY", ROOT / "build" / "dev" / "laju"))
PATIENCE_S = 30  # a sanitized build on a busy machine starts and stops slowly; no test waits this long on purpose

SANITIZER_REPORT = re.compile(r"(ERROR|WARNING|SUMMARY): \w*Sanitizer|runtime error:")


PORTS = 500


@functools.cache
def own_ports():
    """Ports that are this process' own as long as it lives, where to begin with them, and a socket that says so: of all
    processes of these tests only one can have its name. The kernel gives none of them to who connects: a server can go away and
    find its port free when it comes back."""
    for first in range(20000, 32000, PORTS):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0laju-test-ports-{first}")
            return range(first, first + PORTS), itertools.count(random.randrange(PORTS)), claim
        except OSError:
            claim.close()
    raise AssertionError("all ports are other processes'")


def free_port():
    """A port that nobody holds now, and that is not soon given out again."""
    ports, numbers, _ = own_ports()
    for port in (ports[number % PORTS] for number in itertools.islice(numbers, PORTS)):
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
    raise AssertionError("no port is free")


def run_laju(*arguments, timeout=PATIENCE_S, **options):
    """A subcommand that ends by itself."""
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, **options)


def memory_kib(pid, field="VmRSS"):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{field}:\s+(\d+) kB", text, re.M).group(1))


def cpu_s(pid):
    """What a process has used of the CPUs."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def settled_descriptors(pid):
    """The same once those who have just left are gone."""
    count, since = descriptors(pid), time.monotonic()
    while time.monotonic() - since < 0.3:
        time.sleep(0.02)
        if (now := descriptors(pid)) != count:
            count, since = now, time.monotonic()
    return count


class Server:
    """Settings are what laju.yaml holds, as a Python dict: JSON is YAML. `unix` puts the doors on unix sockets; there is an admin
    door only with `admin`."""

    def __init__(self, settings=None, *, arguments=(), unix=False, admin=False, descriptors=None):
        self.directory = tempfile.TemporaryDirectory(prefix="laju-test-")  # goes when this object does
        self.home = pathlib.Path(self.directory.name)
        self.settings = dict(settings or {})
        self.arguments = list(arguments)
        if unix:
            self.http_address, self.resp_address = str(self.home / "http.sock"), str(self.home / "resp.sock")
            self.admin_address = str(self.home / "admin.sock")
            listen = {"http": f"unix:{self.http_address}", "resp": f"unix:{self.resp_address}",
                      "admin": f"unix:{self.admin_address}"}
        else:
            self.http_address, self.resp_address = ("127.0.0.1", free_port()), ("127.0.0.1", free_port())
            self.admin_address = ("127.0.0.1", free_port())
            listen = {"http": "%s:%d" % self.http_address, "resp": "%s:%d" % self.resp_address,
                      "admin": "%s:%d" % self.admin_address}
        self.settings["listen"] = {**listen, **({} if admin else {"admin": "off"}), **self.settings.get("listen", {})}
        self.settings.setdefault("workers", 2)
        self.config_path = self.home / "laju.yaml"
        self.log_path = self.home / "stderr"
        self.descriptors = descriptors  # the most that the process may have
        self.process = None

    # ---- life ----

    def write_config(self):
        self.config_path.write_text(json.dumps(self.settings, indent=1))

    def launch(self):
        """Starts the process and does not wait."""
        self.write_config()
        command = [BINARY, "serve", "--config", str(self.config_path), *self.arguments]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.home,
                                            preexec_fn=self.limit if self.descriptors else None)
        return self

    def limit(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

    def start(self):
        return self.launch().wait_until_ready()

    def answers(self):
        try:
            with self.http() as http:
                return http.get("/readyz").status == 200
        except (OSError, EOFError):
            return False

    def wait_until_ready(self):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"laju ended at start ({self.process.returncode}):\n{self.log()}")
            if self.answers():
                return self
            time.sleep(0.02)
        raise AssertionError(f"laju is not ready after {PATIENCE_S} s:\n{self.log()}")

    def signal(self, number):
        os.kill(self.process.pid, number)

    def wait(self, timeout=PATIENCE_S):
        return self.process.wait(timeout)

    def stop(self):
        """SIGTERM; a clean exit, and nothing that a sanitizer complains of."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        code = self.wait()
        assert code == 0, f"laju ended with {code}:\n{self.log()}"
        self.assert_clean()

    def kill(self):
        """Ends it whatever state it is in."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def assert_clean(self):
        assert not SANITIZER_REPORT.search(self.log()), self.log()

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        try:
            if kind is None and self.process.poll() is None:
                self.stop()
        finally:
            self.kill()

    # ---- doors ----

    def http(self, **options):
        return Http(self.http_address, **options)

    def resp(self, **options):
        return Resp(self.resp_address, **options)

    def admin(self, **options):
        return Http(self.admin_address, **options)

    def url(self, path):
        return "http://%s:%d%s" % (*self.http_address, path)

    def check(self, rule, key, cost=1):
        """One check over a connection of its own."""
        with self.http() as http:
            return http.check(rule, key, cost)

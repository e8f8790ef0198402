"""Servers side by side: each on the first CPU that this process may use, and laju bench, the load, on the last.

Throughput says little about a server where the load, or the kernel, is the limit: then its CPU time a request does. So every
measurement has both.
"""
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("LAJU_BUILD", os.path.join(ROOT, "build", "release"))
LAJU = os.path.join(BUILD, "laju")
PEERS = os.path.join(ROOT, "build", "peers")
QUICK = os.environ.get("QUICK", "") not in ("", "0")
ROUNDS = 1 if QUICK else 3
MILLISECONDS = 500 if QUICK else 1000
CONNECTIONS = 50
KEYS = 10000
CPUS = sorted(os.sched_getaffinity(0))
NAME = os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0])))


def fail(text):
    sys.exit("%s: %s" % (NAME, text))


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            fail("%s is missing (script/bench installs and builds what it needs)" % tool)
    if len(CPUS) < 2:
        fail("two CPUs are needed, one for the server and one for the load")


def peer(name):
    """Its file in build/peers and None; or None and why it is not there."""
    path, skip = os.path.join(PEERS, "bin", name), os.path.join(PEERS, name + ".skip")
    if os.path.exists(path):
        return path, None
    if os.path.exists(skip):
        with open(skip) as file:
            return None, file.read().strip()
    return None, "not built (script/bootstrap --bench %s)" % NAME


class Servers:
    """The servers of a run, in a folder that the caller removes. Not `pinned`, they use all CPUs."""

    def __init__(self, folder, pinned=True):
        self.folder = folder
        self.before = ["taskset", "-c", str(CPUS[0])] if pinned else []
        self.started = []

    @staticmethod
    def port():
        """One that nobody holds now. The kernel does not soon give it out again."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, argv, address):
        """Starts it, and waits until it listens at a port or a socket's path. Its process id."""
        log = self.path("%d.log" % len(self.started))
        with open(log, "w") as file:
            process = subprocess.Popen(self.before + argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        self.started.append(process)
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        for _ in range(200):
            if process.poll() is not None:
                with open(log) as file:
                    fail("%s ended at once:\n%s" % (argv[0], file.read()[-2000:]))
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                try:
                    probe.connect(address if family == socket.AF_UNIX else ("127.0.0.1", address))
                    return process.pid
                except OSError:
                    time.sleep(0.05)
        fail("%s does not listen" % argv[0])

    def start_laju(self, name, http, resp, memory="4MiB"):
        """At these addresses, with the rule `api`, which admits all. `memory`'s default is room for ten times the keys."""
        config = self.path(name + ".yaml")
        with open(config, "w") as file:
            file.write("listen: {http: '%s', resp: '%s', admin: off}\nworkers: 1\nmemory: %s\n"
                       "rules:\n  - {name: api, limit: 4000000000, per: 1s}\n" % (http, resp, memory))
        address = resp.removeprefix("unix:") if resp.startswith("unix:") else int(resp.rpartition(":")[2])
        return self.start([LAJU, "serve", "--config", config], address)

    def start_redis(self, port, *options):
        return self.start(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                           "--dir", self.folder, *options], port)

    def start_nginx(self, port, http):
        """One worker, with `http` as its configuration of that name. The process that works is the child of the one started."""
        config = self.path("nginx.conf")
        with open(config, "w") as file:
            file.write("daemon off; worker_processes 1; pid %s/nginx.pid; error_log %s/nginx.log;\n"
                       "events { worker_connections 1024; }\n"
                       "http { access_log off; keepalive_requests 1000000000;\n%s }\n" % (self.folder, self.folder, http))
        pid = self.start(["nginx", "-p", self.folder, "-c", config], port)
        with open("/proc/%d/task/%d/children" % (pid, pid)) as children:
            return int(children.read().split()[0])

    def start_nginx_200(self, port, *listen):
        """Answers 200 to all."""
        return self.start_nginx(port, "server { listen 127.0.0.1:%d; %s location / { return 200; } }" %
                                (port, "".join("listen %s; " % one for one in listen)))

    def stop(self):
        for process in self.started:
            process.terminate()
        for process in self.started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def scheduled(pid):
    """(seconds on a CPU, seconds of waiting for one) of all its threads, as the scheduler knows it: to the nanosecond, where
    /proc/PID/stat counts hundredths of a second."""
    tasks = "/proc/%d/task" % pid
    on = waiting = 0
    for task in os.listdir(tasks):
        with open(os.path.join(tasks, task, "schedstat")) as schedstat:
            fields = schedstat.read().split()
        on, waiting = on + int(fields[0]), waiting + int(fields[1])
    return on / 1e9, waiting / 1e9


def cpu_seconds(pid):
    return scheduled(pid)[0]


def run(argv, cpus=CPUS[-1:]):
    """What it prints, run on the load's CPU, or on those."""
    done = subprocess.run(["taskset", "-c", ",".join(map(str, cpus))] + argv, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        fail("%s failed:\n%s%s" % (" ".join(argv), done.stdout, done.stderr))
    return done.stdout


def load(door, pipeline, command, keys=KEYS):
    """laju bench's result. An answer that is an error ends the run: what is wrong is not fast."""
    return json.loads(run([LAJU, "bench", door, "--json", "--connections", str(CONNECTIONS), "--pipeline", str(pipeline),
                           "--keys", str(keys), "--duration", "%dms" % MILLISECONDS, "--command", command]))


def measure(pid, door, pipeline, command):
    """(requests/s, CPU us a request) of the server `pid`."""
    before = cpu_seconds(pid)
    result = load(door, pipeline, command)
    return result["throughput"], (cpu_seconds(pid) - before) * 1e6 / result["replies"]


def medians(rounds):
    """Of measurements that are tuples."""
    return tuple(statistics.median(values) for values in zip(*rounds))


def setting():
    return "Server on CPU %d, load on CPU %d, %d connections, %d keys; medians of %d." % (
        CPUS[0], CPUS[-1], CONNECTIONS, KEYS, ROUNDS)

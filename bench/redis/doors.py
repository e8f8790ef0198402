#!/usr/bin/env python3
# Exact rules through the doors of laju serve, per algorithm, beside INCR, EVALSHA "return 1" and redis-cell on the same Redis.
#
#   bench/redis/doors.py      (script/bench redis runs it behind the scripts alone)
#
# Redis has a CPU of its own; laju, one worker, and the load share the other. So laju and the load bound the throughput, and Redis'
# own CPU time a decision says what it could do if it were asked by more: the last column is that, beside INCR's.
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import beside  # noqa: E402

ALGORITHMS = ("token-bucket", "leaky-bucket", "fixed-window", "sliding-window-counter", "sliding-window-log")
CHECK = "LAJU.CHECK %s {key}"
BODY = 'POST /v1/check {"rule":"%s","key":"{key}"}'
RATE = 100_000  # checks a second that are promised within P99_MS
P99_MS = 5
PROMISED = ("INCR", "laju, RESP, token-bucket", "laju, HTTP, token-bucket")


def config_of(folder, redis, resp, http):
    """Limits that nobody meets: an admission is what costs most. A log of that size would be another thing."""
    rules = ["  - {name: %s, algorithm: %s, limit: %d, per: %s}\n" % (a, a, 50 if a.endswith("log") else 4_000_000_000,
                                                                    "1s" if a.endswith("log") else "1h") for a in ALGORITHMS]
    path = os.path.join(folder, "laju.yaml")
    with open(path, "w") as file:
        file.write("listen: {http: '127.0.0.1:%d', resp: '127.0.0.1:%d', admin: off}\nworkers: 1\n" % (http, resp) +
                   "store: {redis: 'redis://127.0.0.1:%d', timeout: 1s, max_inflight: 100000}\nrules:\n" % redis + "".join(rules))
    return path


class Bench:
    def __init__(self, servers, folder):
        self.servers, self.folder = servers, folder
        self.redis_port, self.resp, self.http = servers.port(), servers.port(), servers.port()
        cell, self.cell_skip = beside.peer("redis-cell")
        options = ("--loadmodule", cell) if cell else ()
        self.redis = servers.start_redis(self.redis_port, *options)
        config = config_of(folder, self.redis_port, self.resp, self.http)
        self.laju = servers.start([beside.LAJU, "serve", "--config", config], self.resp)
        subprocess.run(["taskset", "-acp", str(beside.CPUS[-1]), str(self.laju)], check=True, capture_output=True)
        loaded = subprocess.run(["redis-cli", "-p", str(self.redis_port), "SCRIPT", "LOAD", "return 1"], check=True,
                                capture_output=True, text=True)
        self.sha = loaded.stdout.strip()

    def rows(self):
        redis, resp = "resp://127.0.0.1:%d" % self.redis_port, "resp://127.0.0.1:%d" % self.resp
        yield "INCR", redis, "INCR {key}"
        yield 'EVALSHA "return 1"', redis, "EVALSHA %s 1 {key}" % self.sha
        if self.cell_skip is None:
            yield "redis-cell", redis, "CL.THROTTLE {key} 4000000000 4000000000 3600"
        for algorithm in ALGORITHMS:
            yield "laju, RESP, " + algorithm, resp, CHECK % algorithm
        yield "laju, HTTP, token-bucket", "http://127.0.0.1:%d" % self.http, BODY % "token-bucket"

    def measure(self, door, pipeline, command):
        """(a second, Redis' us each, p50, p99, p99.9 in ms)"""
        rounds = []
        for _ in range(beside.ROUNDS):
            before = beside.cpu_seconds(self.redis)
            result = beside.load(door, pipeline, command)
            cpu_us = (beside.cpu_seconds(self.redis) - before) * 1e6 / result["replies"]
            latency = result["latency_us"]
            rounds.append((result["throughput"], cpu_us, *(latency[q] / 1000 for q in ("p50", "p99", "p999"))))
        return beside.medians(rounds)

    def free_cpus(self):
        """From here on all may run anywhere: three processes on two CPUs have no place of their own at a rate near the limit."""
        for pid in (self.redis, self.laju):
            subprocess.run(["taskset", "-acp", ",".join(map(str, beside.CPUS)), str(pid)], check=True, capture_output=True)

    def promise(self, door, command):
        """(answered, p50, p99, p99.9 in ms) at a rate that does not wait for answers, each request timed from when it was due"""
        rounds = []
        for _ in range(max(beside.ROUNDS, 3)):
            result = json.loads(beside.run([
                beside.LAJU, "bench", door, "--json", "--connections", "50", "--pipeline", "64", "--rate", str(RATE), "--keys",
                str(beside.KEYS), "--duration", "%dms" % (3 * beside.MILLISECONDS), "--command", command], beside.CPUS))
            latency = result["latency_us"]
            rounds.append((result["throughput"], *(latency[q] / 1000 for q in ("p50", "p99", "p999"))))
        return beside.medians(rounds)


def main():
    beside.need("redis-server", "redis-cli", "taskset")
    with tempfile.TemporaryDirectory() as folder:
        servers = beside.Servers(folder)
        try:
            bench = Bench(servers, folder)
            print("Redis on CPU %d; laju (one worker) and the load on CPU %d; %d connections, %d keys; medians of %d." %
                  (beside.CPUS[0], beside.CPUS[-1], beside.CONNECTIONS, beside.KEYS, beside.ROUNDS))
            if bench.cell_skip:
                print("SKIP redis-cell: %s" % bench.cell_skip)
            for pipeline in (1, 16, 64):
                print("\n%-36s %9s %10s %8s %8s %8s %9s" % ("pipeline %d" % pipeline, "a second", "Redis' us", "p50 ms",
                                                           "p99 ms", "p99.9", "of INCR"))
                incr = None
                for name, door, command in bench.rows():
                    a_second, cpu_us, *latency = bench.measure(door, pipeline, command)
                    incr = incr or cpu_us
                    print("%-36s %9d %10.2f %8.2f %8.2f %8.2f %8.1f%%" % (name, a_second, cpu_us, *latency, 100 * incr / cpu_us))
            bench.free_cpus()
            print("\n%d a second asked for (aim: p99 below %d ms)\n%-36s %9s %8s %8s %8s" % (
                RATE, P99_MS, "", "answered", "p50 ms", "p99 ms", "p99.9"))
            for name, door, command in bench.rows():
                if name in PROMISED:
                    print("%-36s %9d %8.2f %8.2f %8.2f" % (name, *bench.promise(door, command)))
        finally:
            servers.stop()


if __name__ == "__main__":
    main()

"""Several real redis-server as one store: a primary with its replica under Sentinels, and a cluster. It takes them seconds to
find each other; tests can do something else meanwhile."""

import contextlib
import time

from redis_server import RedisServer
from server import PATIENCE_S, free_port

SLOTS = 16384
DOWN_MS = 500  # without a sign for so long, a server is taken for dead


def wait_until(holds, what):
    """A server that changes its role closes its clients' connections."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(OSError, EOFError):
            if holds():
                return
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def info(server, section):
    text = server.call("INFO", section).decode()
    return dict(line.split(":", 1) for line in text.split("\r\n") if ":" in line)


class Sentinel(RedisServer):
    """Has a file of its own, which it rewrites."""

    def __init__(self, primary, quorum):
        super().__init__()
        self.primary, self.quorum = primary, quorum

    def command(self):
        path = self.home / "sentinel.conf"
        path.write_text(f"port {self.port}\nbind 127.0.0.1\ndir {self.home}\n"
                        f"sentinel monitor primary 127.0.0.1 {self.primary.port} {self.quorum}\n"
                        f"sentinel down-after-milliseconds primary {DOWN_MS}\n"
                        "sentinel failover-timeout primary 3000\n")
        return [self.binary, str(path), "--sentinel"]

    def knows(self):
        fields = self.call("SENTINEL", "MASTER", "primary")
        return dict(zip(fields[::2], fields[1::2]))


class Watched:
    """A primary, its replica and three Sentinels."""

    def __init__(self, ends):
        self.primary = ends.enter_context(RedisServer())
        self.replica = ends.enter_context(RedisServer(replicaof=f"127.0.0.1 {self.primary.port}",
                                                      repl_diskless_sync_delay=0))
        self.sentinels = [ends.enter_context(Sentinel(self.primary, 2)) for _ in range(3)]

    def wait_until_whole(self):
        wait_until(lambda: info(self.replica, "replication")["master_link_status"] == "up", "no replica")
        for sentinel in self.sentinels:
            wait_until(lambda: sentinel.knows()[b"num-other-sentinels"] == b"2"
                       and sentinel.knows()[b"num-slaves"] == b"1", "Sentinels do not know each other")

    @property
    def url(self):
        return "redis+sentinel://" + ",".join(f"127.0.0.1:{s.port}" for s in self.sentinels) + "/primary"


class Cluster:
    """Three primaries and a replica of each: `nodes[i + 3]` is that of `nodes[i]`."""

    def __init__(self, ends):
        self.nodes = [ends.enter_context(RedisServer(
            cluster_enabled="yes", cluster_port=free_port(), cluster_node_timeout=DOWN_MS,
            cluster_replica_validity_factor=0, repl_diskless_sync_delay=0)) for _ in range(6)]
        self.ids = [node.call("CLUSTER", "MYID").decode() for node in self.nodes]
        for i, node in enumerate(self.nodes):
            node.call("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            if i < 3:
                node.call("CLUSTER", "ADDSLOTSRANGE", i * SLOTS // 3, (i + 1) * SLOTS // 3 - 1)
            if i > 0:
                first = self.nodes[0]
                node.call("CLUSTER", "MEET", "127.0.0.1", first.port, first.settings["cluster-port"])

    def wait_until_whole(self):
        for node in self.nodes:
            wait_until(lambda: b"cluster_known_nodes:6" in node.call("CLUSTER", "INFO"), "they do not know each other")
            wait_until(lambda: b"cluster_state:ok" in node.call("CLUSTER", "INFO"), "no cluster")
        for i in (3, 4, 5):
            self.nodes[i].call("CLUSTER", "REPLICATE", self.ids[i - 3])
        for node in self.nodes[3:]:
            wait_until(lambda: info(node, "replication").get("master_link_status") == "up", "no replica")

    @property
    def url(self):
        """One of them is enough."""
        return f"redis+cluster://127.0.0.1:{self.nodes[1].port}"

    def move_slots(self, slots, source, target):
        """As redis-cli does it: key by key, while they are asked for."""
        with contextlib.ExitStack() as ends:
            clients = [ends.enter_context(node.client()) for node in self.nodes[:3]]
            for slot in slots:
                clients[target].call("CLUSTER", "SETSLOT", slot, "IMPORTING", self.ids[source])
                clients[source].call("CLUSTER", "SETSLOT", slot, "MIGRATING", self.ids[target])
                while keys := clients[source].call("CLUSTER", "GETKEYSINSLOT", slot, 3):
                    done = clients[source].call("MIGRATE", "127.0.0.1", self.nodes[target].port, "", 0, 5000, "KEYS", *keys)
                    assert done in ("OK", "NOKEY"), done
                for i in (target, source, 3 - source - target):
                    assert clients[i].call("CLUSTER", "SETSLOT", slot, "NODE", self.ids[target]) == "OK"

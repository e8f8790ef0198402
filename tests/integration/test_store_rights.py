"""A user of Redis' who may do what docs/operations.md says, and nothing else."""

import re

import pytest

import law
from redis_server import RedisServer
from server import ROOT, Server
from test_store import wait_for_store

BLOCKS = re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / "operations.md").read_text().split(
    "## What the store must let laju do")[1].split("\n## ")[0], re.M | re.S)
USER, SCRIPTS, *REST = BLOCKS[0].splitlines()[0], BLOCKS[0].splitlines()[1:3], *BLOCKS[0].splitlines()[3:]
COMMANDS = {"script": SCRIPTS, "transaction": BLOCKS[1].splitlines()}
ALGORITHMS = {"script": law.ALGORITHMS, "transaction": ("fixed-window", "sliding-window-counter")}


def work(server, algorithms):
    """All that laju does there."""
    keys = [f"key-{i}" for i in range(3)]
    with server.resp() as resp:
        for algorithm in algorithms:
            checks = [("LAJU.CHECK", algorithm, key) for key in keys for _ in range(2)]
            for _ in range(2):
                assert [reply[0] for reply in resp.pipeline(checks)] == [1] * len(checks)
            assert resp.call("LAJU.CHECK", algorithm, "key-0", 1100)[0] == 1
            assert resp.call("LAJU.CHECK", algorithm, "key-0", 1997)[0] == 0
            assert resp.call("LAJU.RESET", algorithm, "key-0") == 1
    with server.http() as http:
        checks = [{"rule": algorithm, "key": "joined"} for algorithm in algorithms]
        answer = http.post("/v1/check", {"checks": checks}).json
        assert answer["allowed"] and "source" not in answer
    path = f"?rule={algorithms[0]}&key=key-1"
    with server.admin() as admin:
        assert admin.exchange("PUT", f"/v1/keys{path}", {"limit": 5, "expires_in": "1h"}).status == 200
        assert admin.exchange("DELETE", f"/v1/overrides{path}").status == 200


@pytest.mark.parametrize("atomicity", COMMANDS)
def test_what_is_documented_is_enough(atomicity):
    algorithms = ALGORITHMS[atomicity]
    rules = [{"name": a, "algorithm": a, "limit": 2000, "per": "1d", "match": "none"} for a in algorithms]
    with RedisServer() as redis:
        rights = [word for line in (*COMMANDS[atomicity], *REST) for word in line.split()]
        redis.call(*USER.replace(">PASSWORD", ">secret").split(), *rights)
        url = f"redis://laju:secret@127.0.0.1:{redis.port}"
        store = {"redis": url, "timeout": "2s", "atomicity": atomicity}
        with Server({"store": store, "rules": rules, "resp_admin": True, "workers": 1, "memory": "16MiB"},
                    admin=True) as server:
            wait_for_store(server)
            work(server, algorithms)
        denied = [entry for entry in redis.call("ACL", "LOG") if b"client|setname" not in entry]
        assert denied == []

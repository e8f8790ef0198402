"""docs/openapi.yaml and the doors agree: schemathesis asks what the file allows, and what it does not, and looks at the answers."""

import re
import subprocess
import sys

import pytest
import yaml

from server import ROOT, Server

RULES = [{"name": "login", "algorithm": "token-bucket", "limit": 5, "per": "1m", "burst": 10},
         {"name": "api", "limit": 3, "per": "1m", "key": "header:x-key"},
         {"name": "vault", "limit": 3, "per": "1m", "secret": True}]
# The doors refuse what a schema cannot say (a rule beside a limit); a target that is too long is 414; /auth takes any method.
CONFIG = """
[phases.coverage]
unexpected-methods = ["PATCH", "TRACE"]
[checks]
positive_data_acceptance.enabled = false
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 413, 414, 415, 421, 431]
"""
TIMEOUT_S = 120  # a bound; it takes a tenth


def document(path):
    """The file with the rules that there are, so that what is asked is not all about rules that there are not."""
    described = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text())
    schemas = described["components"]["schemas"]
    schemas["RuleName"] = {"enum": [rule["name"] for rule in RULES]}
    schemas["NewOverride"]["properties"]["expires_in"] = {"enum": ["1s", "1h", "30d"]}
    schemas["Check"]["properties"]["per"] = {"enum": ["1s", "1m"]}
    path.write_text(yaml.safe_dump(described))
    return path


def ask(tmp_path, address, tag, *options):
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", config, "run", document(tmp_path / "openapi.yaml"),
               "--url", "http://%s:%d" % address, "--include-tag", tag, "--phases", "examples,coverage,fuzzing",
               "--max-examples", "5", "--seed", "1", "--generation-database", "none", "--no-color", *options]
    done = subprocess.run([str(word) for word in command], cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(re.search(r"(\d+) generated", done.stdout).group(1))


@pytest.fixture(scope="module")
def server():
    with Server({"rules": RULES, "memory": "16MiB"}, admin=True) as server:
        yield server


def test_the_admin_door_is_as_it_is_described(server, tmp_path):
    assert ask(tmp_path, server.admin_address, "admin", "--exclude-path", "/v1/events") > 100


def test_the_http_door_is_as_it_is_described(server, tmp_path):
    assert ask(tmp_path, server.http_address, "checks", "--exclude-checks", "unsupported_method") > 100


def test_every_route_is_described(server):
    """What the 404s and the table of docs/protocols.md know, and nothing else."""
    described = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text())["paths"]
    manual = (ROOT / "docs/protocols.md").read_text()
    admin = set(re.findall(r"`(?:GET|PUT|POST|DELETE) (/[\w/]*)[?`]", manual.split("## The admin door")[1]))
    assert admin - {"/"} <= set(described)
    assert {path for path, item in described.items() if "8082" in str(item)} == admin
    with server.http() as http:
        http_routes = set(re.findall(r"/[\w/]+", http.get("/nosuch").json["allowed"]))
    assert http_routes <= set(described)

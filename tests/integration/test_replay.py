"""laju replay: access logs through the rules, against the oracle, against a server, and at its bounds."""

import collections
import gzip
import json
import random
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest

import law
from conftest import SANITIZED, plain_only
from server import BINARY, run_laju

LINES = 20_000 if SANITIZED else 100_000
BEGIN_MS = 1_790_000_000_000
PATHS = [f"/{algorithm}" for algorithm in law.ALGORITHMS]

# One rule an algorithm, each with a path of its own; beside them one for POST and one that only watches a part of the keys.
RULES = [
    *(law.rule(a, 25, burst=40 if a in law.BUCKETS else None) for a in law.ALGORITHMS),
    law.rule("fixed-window", 12, name="post"),
    law.rule("token-bucket", 8, burst=8, name="watch"),
]
MATCHES = {**{a: {"path": f"/{a}"} for a in law.ALGORITHMS}, "post": {"method": "POST"}, "watch": {"path": PATHS[0]}}


def settings(rules, **more):
    return {"memory": "32MiB", "rules": rules, **more}


def config_of(folder, rules, **more):
    path = folder / "laju.yaml"
    path.write_text(json.dumps(settings(rules, **more)))
    return path


def replay(*arguments, **options):
    done = run_laju("replay", "--json", *arguments, timeout=120, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def requests(count, keys, seconds, seed=1):
    """(ms since the epoch, address, method, path), in the order of time; few of the keys are busy, and there are pauses."""
    rng = random.Random(seed)
    at = BEGIN_MS
    for _ in range(count):
        if rng.random() < 0.7:
            at += int(rng.expovariate(count * 0.7 / seconds / 1000))
        key = int(keys * rng.random() ** 3)
        yield at, f"10.0.{key >> 8}.{key & 255}", "POST" if rng.random() < 0.1 else "GET", rng.choice(PATHS)


def as_combined(items):
    for at, address, method, path in items:
        text = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(at // 1000))
        yield f'{address} - - [{text}] "{method} {path}?x=y HTTP/1.1" 200 12 "-" "curl/8.5"\n'


def as_json(items):
    for at, address, method, path in items:
        yield f'{{"ts":{at},"request":{{"method":"{method}","uri":"{path}"}},"remote_addr":"{address}"}}\n'


def as_csv(items):
    yield "method,path,ip,time\n"
    for at, address, method, path in items:
        yield f'{method},"{path}",{address},{at}\n'


def write(path, lines):
    path.write_text("".join(lines))
    return path


class Expected:
    """What the oracle says of these requests."""

    def __init__(self, items):
        oracle = law.Law(RULES)
        self.requests = self.admitted = 0
        self.rules = collections.defaultdict(collections.Counter)
        self.refused, self.first = collections.Counter(), {}
        seconds = collections.defaultdict(collections.Counter)
        for at, address, method, path in items:
            names = [path[1:]] + (["post"] if method == "POST" else [])
            allowed, decisions = oracle.all(at * 1000, [(name, address, 1) for name in names])
            if path == PATHS[0]:  # in shadow: by itself
                names.append("watch")
                decisions += oracle.each(at * 1000, [("watch", address, 1)])
            for name, decision in zip(names, decisions, strict=True):
                self.rules[name][decision["allowed"]] += 1
                if not decision["allowed"]:
                    self.refused[name, address] += 1
                    self.first.setdefault((name, address), at)
            self.requests += 1
            self.admitted += allowed
            seconds[at // 1000][allowed] += 1
        self.worst = max(seconds, key=lambda s: (seconds[s][False], seconds[s][True], -s))
        self.worst_refused = seconds[self.worst][False]


@pytest.fixture(scope="module")
def traffic():
    return list(requests(LINES, 1000, LINES * 0.08))


@pytest.fixture(scope="module")
def logs(tmp_path_factory, traffic):
    """The same traffic in every format, to the second, and in JSON to the millisecond; and the configuration."""
    folder = tmp_path_factory.mktemp("replay")
    whole = [(at // 1000 * 1000, *rest) for at, *rest in traffic]
    rules = [{**r, "match": MATCHES[r["name"]], "shadow": r["name"] == "watch"} for r in RULES]
    files = {"config": config_of(folder, rules), "exact.json": write(folder / "exact.json", as_json(traffic))}
    for name, form in (("access.log", as_combined), ("access.json", as_json), ("access.csv", as_csv)):
        files[name] = write(folder / name, form(whole))
    files["access.log.gz"] = folder / "access.log.gz"
    files["access.log.gz"].write_bytes(gzip.compress(files["access.log"].read_bytes(), 1))
    return files


def iso(ms):
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000))
    return text + (f".{ms % 1000:03}" if ms % 1000 else "") + "Z"


def test_totals_equal_the_oracles(logs, traffic):
    expected = Expected(traffic)
    found = replay("--config", logs["config"], "--top", 1000, logs["exact.json"])
    assert (found["requests"], found["admitted"]) == (expected.requests, expected.admitted)
    assert found["refused"] == expected.requests - expected.admitted > LINES / 100
    assert (found["unreadable"], found["unmatched"], found["late"], found["evicted"]) == (0, 0, 0, 0)
    for rule in found["rules"]:
        counts = expected.rules[rule["rule"]]
        keys = [key for name, key in expected.refused if name == rule["rule"]]
        assert (rule["admitted"], rule["refused"]) == (counts[True], counts[False]), rule
        assert rule["checks"] == counts[True] + counts[False]
        assert rule["keys_refused"] == len(keys) > 0
        assert rule["first_refused"] == iso(min(expected.first[rule["rule"], key] for key in keys))
    told = {(r["rule"], r["key"]): (r["refused"], r["first"]) for r in found["refused_most"]}
    assert [r["refused"] for r in found["refused_most"]] == sorted(expected.refused.values(), reverse=True)[:1000]
    assert all(value == (expected.refused[key], iso(expected.first[key])) for key, value in told.items())
    assert found["worst_second"]["refused"] == expected.worst_refused
    assert found["worst_second"]["time"] == iso(expected.worst * 1000)
    timeline = found["timeline"]
    assert sum(timeline["admitted"]) == found["admitted"] and sum(timeline["refused"]) == found["refused"]


def figures(found):
    return {key: value for key, value in found.items() if key not in ("files", "elapsed_ms", "lines")}


def test_every_format_gives_the_same(logs):
    wanted = figures(replay("-c", logs["config"], logs["access.log"]))
    assert wanted["requests"] == LINES
    for name in ("access.json", "access.csv", "access.log.gz"):
        assert figures(replay("-c", logs["config"], logs[name])) == wanted, name
    for name in ("access.log", "access.log.gz"):
        with open(logs[name], "rb") as stdin:
            assert figures(replay("-c", logs["config"], "-", stdin=stdin)) == wanted, name
    piped = subprocess.run(f"cat {logs['access.log']} | {BINARY} replay --json -c {logs['config']} /dev/stdin", shell=True,
                           capture_output=True, check=True, timeout=120)
    assert figures(json.loads(piped.stdout)) == wanted


@plain_only
def test_several_logs_are_one(logs, tmp_path):
    lines = logs["access.log"].read_text().splitlines(keepends=True)
    older = tmp_path / "access.log.1.gz"
    older.write_bytes(gzip.compress("".join(lines[:30_000]).encode()))
    newer = write(tmp_path / "access.log", lines[30_000:])
    assert figures(replay("-c", logs["config"], older, newer)) == figures(replay("-c", logs["config"], logs["access.log"]))
    wrong = replay("-c", logs["config"], newer, older)
    assert wrong["unreadable"] > 0 and "in the order given" in wrong["unreadable_first"][0]["why"]


# ---- suggestions ----


def refused_keys(log, folder, algorithm, per, limit, burst):
    rule = {"name": "r", "algorithm": algorithm, "limit": limit, "per": per}
    if algorithm in law.BUCKETS and limit > 0:
        rule["burst"] = burst
    return replay("-c", config_of(folder, [rule]), "--top", 0, log)["rules"][0]["keys_refused"]


@pytest.mark.parametrize("algorithm", law.ALGORITHMS)
def test_a_suggestion_keeps_the_share_and_one_less_does_not(algorithm, tmp_path):
    log = write(tmp_path / "log", as_json(requests(12_000, 400, 5000, seed=len(algorithm))))
    config = config_of(tmp_path, [{"name": "r", "algorithm": algorithm, "limit": 1, "per": "1s"}])
    (rule,) = replay("-c", config, "--suggest", "p99", log)["suggested"]["rules"]
    assert rule["keys"] > 300 and rule["may_be_refused"] == rule["keys"] // 100 > 0
    assert [entry["per"] for entry in rule["limits"]] == ["1s", "1m", "1h"]
    for entry in rule["limits"]:
        per, limit, burst = entry["per"], entry["limit"], entry["burst"]
        assert refused_keys(log, tmp_path, algorithm, per, limit, burst) <= rule["may_be_refused"]
        assert refused_keys(log, tmp_path, algorithm, per, limit - 1, limit - 1) > rule["may_be_refused"]
        if algorithm in law.BUCKETS and burst > 1:
            assert refused_keys(log, tmp_path, algorithm, per, limit, burst - 1) > rule["may_be_refused"]


# ---- beside a server ----


def test_a_log_of_what_was_asked_gives_what_was_answered(serve, tmp_path):
    rules = [
        {"name": "all", "limit": 60, "per": "1d", "algorithm": "token-bucket"},
        {"name": "login", "match": {"path": "/login*", "method": "POST"}, "limit": 3, "per": "1d", "algorithm": "token-bucket"},
        {"name": "keys", "match": {"host": "api.example.com"}, "key": ["header:X-Key", "path"], "missing": "deny",
         "limit": 5, "per": "1d", "algorithm": "token-bucket", "overrides": [{"key": "gold:*", "limit": 100}]},
        {"name": "agents", "key": ["header:User-Agent", "query:q"], "missing": "skip", "limit": 20, "per": "1d",
         "algorithm": "token-bucket", "exempt": ["192.0.2.3"], "cost": 2},
    ]
    rng = random.Random(7)
    statuses, log = collections.Counter(), []
    with serve({"rules": rules}).http() as http:
        for _ in range(400):
            headers = {"X-Key": rng.choice(["gold", "tin", ""]), "User-Agent": rng.choice(["a", "b:c", "%", ""])}
            headers = {name: value for name, value in headers.items() if value}
            entry = {"ts": time.time(), "ip": f"192.0.2.{rng.randrange(5)}", "method": rng.choice(["GET", "POST"]),
                     "host": rng.choice(["api.example.com", "WWW.example.com:8080"]), "headers": headers,
                     "uri": rng.choice(["/", "/login", "//x/../login/%61?q=1", "/a%2Fb?q=a+b", "/?p=1&q=%C3%A9"])}
            answer = http.get("/auth", headers=[
                f"X-Forwarded-For: {entry['ip']}", f"X-Original-Method: {entry['method']}", f"X-Original-URI: {entry['uri']}",
                f"X-Forwarded-Host: {entry['host']}", *(f"{name}: {value}" for name, value in headers.items())])
            statuses[answer.status] += 1
            log.append(json.dumps(entry) + "\n")
    found = replay("-c", config_of(tmp_path, rules), write(tmp_path / "log", log))
    assert found["requests"] == 400 and min(statuses[200], statuses[429], statuses[403]) > 20, statuses
    assert (found["admitted"], found["refused"]) == (statuses[200], statuses[429] + statuses[403])
    assert sum(rule["missing"] for rule in found["rules"]) == statuses[403]


# ---- bounds ----


# The peak of a process counts what its parent had when it was forked: so a small parent of its own.
MEASURE = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([json.loads(done.stdout), usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime]))
"""


def measured(*arguments):
    """(report, peak of memory in MiB, seconds of CPU)"""
    command = [sys.executable, "-c", MEASURE, BINARY, "replay", "--json", *map(str, arguments)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=240).stdout)


@pytest.fixture(scope="module")
def million(tmp_path_factory):
    """A log of a million lines, each of another address; every second one is repeated behind it."""
    path = tmp_path_factory.mktemp("million") / "access.log"
    with open(path, "w") as file:
        for i in range(1_000_000):
            at = f"10/Oct/2026:13:{i // 18_000:02}:{i // 300 % 60:02} +0000"
            line = f'10.{i >> 16}.{i >> 8 & 255}.{i & 255} - - [{at}] "GET / HTTP/1.1" 200 1\n'
            file.write(line if i % 2 else line + line)
    return path


@plain_only
def test_memory_is_bounded_and_ten_million_lines_a_minute_are_replayed(million):
    # memory of 32 MiB, beside it the batch, the buffer and what is kept of the refused; a million lines in 6 s, tenfold slack
    found, peak_mib, cpu_s = measured("--rule", "r=1/1d", "--memory", "32MiB", million)
    assert found["requests"] == 1_500_000 and found["evicted"] > 0
    assert found["refused"] == 500_000 and found["refused_most_too_low_by"] > 0
    assert peak_mib < 32 + 40, peak_mib
    assert cpu_s < 60, cpu_s


@plain_only
def test_so_it_is_with_suggestions(million):
    found, peak_mib, _ = measured("--rule", "r=1/1d", "--memory", "32MiB", "--suggest", "p99", million)
    (rule,) = found["suggested"]["rules"]
    assert rule["keys"] == 1_000_000 and rule["limits"][2]["limit"] == 2
    assert peak_mib < 32 + 40 + 100, peak_mib


# ---- what goes wrong ----


def test_what_cannot_be_read_is_counted_and_shown(tmp_path):
    good = list(as_combined(requests(10, 5, 100)))
    log = tmp_path / "access.log"
    log.write_bytes("".join(good[:5]).encode() + b"\xff\x00junk\n\n" + b"x" * 70_000 + b"\n" + "".join(good[5:]).encode() + b"half")
    done = run_laju("replay", log)
    assert done.returncode == 0 and done.stderr == ""
    assert re.search(r"^14 lines, 10 requests from ", done.stdout)
    assert "3 lines were not replayed; the first:\n" in done.stdout
    assert f"{log}:6: it does not begin with an address: \\xff\\x00junk\n" in done.stdout
    assert f"{log}:8: the line is longer than 65536 bytes: {'x' * 60}...\n" in done.stdout
    assert f"{log}:14: it does not begin with an address: half\n" in done.stdout


def test_a_log_of_junk_is_refused(tmp_path):
    log = write(tmp_path / "access.log", ["junk\n"] * 7)
    done = run_laju("replay", log)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"laju replay: none of 7 lines can be read; {log}:1: no format is recognised; --format says which\n"
    done = run_laju("replay", "--format", "csv", log)
    assert done.returncode == 1 and "no field is known for the time; --fields time=NAME names one" in done.stderr
    done = run_laju("replay", write(tmp_path / "empty", []))
    assert (done.returncode, done.stderr) == (1, "laju replay: there is no request in what was read\n")


def test_a_log_that_breaks_off_is_replayed_up_to_there(tmp_path, logs):
    whole = logs["access.log.gz"].read_bytes()
    log = tmp_path / "half.gz"
    log.write_bytes(whole[: len(whole) // 2])
    done = run_laju("replay", "--json", "-c", logs["config"], log)
    assert done.returncode == 1
    assert done.stderr == f"laju replay: {log}: the gzip data ends too early; what came before it is replayed\n"
    assert LINES * 0.4 < json.loads(done.stdout)["requests"] < LINES * 0.6
    done = run_laju("replay", "-c", logs["config"], tmp_path / "nowhere", logs["access.log"])
    assert done.returncode == 1 and "nowhere: No such file" in done.stderr and f" {LINES:,} requests " in done.stdout


@pytest.mark.parametrize("arguments, says", [
    ([], "a log is needed, or - for stdin"),
    (["--suggest", "99.9", "x"], '--suggest: "99.9" is no share; allowed: p50 to p100'),
    (["--format", "clf", "x"], '--format: "clf" is not known here; allowed: combined, json, csv'),
    (["--fields", "when=ts", "x"], '--fields: "when=ts" is not WHAT=NAME; allowed: for WHAT time, client'),
    (["--top", "1001", "x"], '--top: "1001" is out of range; allowed: 0 to 1000'),
    (["--rule", "a=1/0s", "x"], "--rule: "),
    (["--memory", "1B", "x"], "--memory: "),
    (["-c", "a", "-c", "b", "x"], "--config is given twice; allowed: one file"),
    (["--jsn", "x"], 'unknown option "--jsn"; did you mean "--json"?'),
])
def test_a_bad_command_line_says_what_is_allowed(arguments, says):
    done = run_laju("replay", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("laju replay: ") and says in done.stderr and done.stderr.count("\n") == 1


def test_a_bad_configuration_is_refused_before_the_log_is_read(tmp_path):
    path = write(tmp_path / "laju.yaml", ["rules: [{name: r}]\n"])
    done = run_laju("replay", "-c", path, "-")
    assert done.returncode == 1 and str(path) in done.stderr


# ---- what comes out ----


def test_the_picture_is_svg(logs, tmp_path):
    picture = tmp_path / "day.svg"
    replay("-c", logs["config"], "--svg", picture, logs["access.log"])
    root = xml.etree.ElementTree.parse(picture).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.get("viewBox") == "0 0 960 360"
    shapes = {path.get("class"): path.get("d") for path in root.iter("{http://www.w3.org/2000/svg}path")}
    assert shapes["admitted"].count("M") > 100 and shapes["refused"].count("M") > 50
    done = run_laju("replay", "--svg", tmp_path / "no" / "day.svg", logs["access.log"])
    assert done.returncode == 1 and "No such file or directory" in done.stderr


def test_a_terminal_sees_progress_and_a_table_of_its_width(logs):
    script = f"stty cols 70; {BINARY} replay -c {logs['config']} {logs['access.log']}"
    done = subprocess.run(["script", "-qec", script, "/dev/null"], stdout=subprocess.PIPE, timeout=60, check=True,
                          stdin=subprocess.DEVNULL)
    drawn = done.stdout.decode().split("\r\x1b[K")
    assert len(drawn) > 2 and drawn[0] == "" and all(re.match(r"(\[[#-]+\] )? *\d+%  [\d,]+ lines, ", line) for line in drawn[1:-1])
    assert all(len(line) < 70 for line in drawn[:-1])
    table = drawn[-1].split("\r\n")
    assert table[0].startswith(f"{LINES:,} lines, ")
    assert any(re.match(r"leaky-bucket +25/200s l\.\.\. ", line) for line in table), table  # the limit has given way


def test_headers_and_other_names(tmp_path):
    config = config_of(tmp_path, [{"name": "r", "key": "header:X-Api-Key", "missing": "shared", "limit": 0, "per": "1s"}])
    log = write(tmp_path / "log", ['{"when":"2026-10-10T13:55:36+02:00","src":"192.0.2.1","k":"secret\\u0007"}\n',
                                   '{"when":"2026-10-10T13:55:37+02:00","src":"192.0.2.1"}\n'])
    found = replay("-c", config, "--fields", "time=when,client=src,header:x-api-key=k", log)
    assert [entry["key"] for entry in found["refused_most"]] == ["secret\x07", "%shared"]
    assert found["from"] == "2026-10-10T11:55:36Z"

#!/usr/bin/env python3
"""tour.py LAJU PAGE: runs the tour of a page (the README) as a reader would, and holds its outputs to what really comes.

Commands stand in ```console fences, after "$ " (continued after "> "), each followed by its output. In an output, "..." stands
for anything on that line, and a line of "..." alone for any lines. The server is started here, and a Redis, on ports of their own,
which take the place of the default ones in the commands and outputs.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SERVER, LAJU = "script/server", "build/release/laju"
PATIENCE_S = 30


def commands(text):
    """(command, output) of every console fence."""
    for fence in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        for part in re.split(r"^\$ ", fence, flags=re.M)[1:]:
            lines = part.splitlines()
            count = 1
            while count < len(lines) and lines[count].startswith("> "):
                count += 1
            yield "\n".join([lines[0]] + [line[2:] for line in lines[1:count]]), lines[count:]


def pattern(output):
    line_pattern = lambda line: re.escape(line).replace(re.escape("..."), ".*")
    return "".join(r"(?:.*\n)*" if line == "..." else line_pattern(line) + "\n" for line in output)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(laju, http, resp, admin, arguments):
    doors = ["--http", f"127.0.0.1:{http}", "--resp", f"127.0.0.1:{resp}", "--admin", f"127.0.0.1:{admin}"]
    server = subprocess.Popen([laju, "serve", *doors, *arguments], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if urllib.request.urlopen(f"http://127.0.0.1:{http}/readyz", timeout=5).status == 200:
                return server
        except OSError:
            time.sleep(0.05)
    server.kill()
    sys.exit(f"laju does not start: {server.communicate()[1]}")


def start_redis(port, folder):
    redis = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
                             stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and redis.poll() is None:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return redis
        time.sleep(0.05)
    redis.kill()
    sys.exit("redis-server does not start")


def stop(process):
    if process is not None:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def run_tour(laju, text, folder):
    http, resp, admin, redis_port = (free_port() for _ in range(4))
    server, redis, passed = None, None, 0
    environment = {**os.environ, "FAKETTY": "1", "PATH": f"{os.path.dirname(laju)}:{os.environ['PATH']}"}
    try:
        for command, output in commands(text):
            if command.startswith(SERVER):
                server = start(laju, http, resp, admin, command.split()[1:])
                continue
            if f"{LAJU} demo" in command and redis is None:
                redis = start_redis(redis_port, folder)
            real = command.replace(f"{LAJU} demo race", f"{LAJU} demo race --redis redis://127.0.0.1:{redis_port}")
            real = real.replace(":8080", f":{http}").replace(":8082", f":{admin}").replace("-p 6380", f"-p {resp}")
            real = real.replace(f"{LAJU} check", f"{LAJU} check --server 127.0.0.1:{resp}").replace(LAJU, laju)
            done = subprocess.run(["bash", "-c", real], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=PATIENCE_S, env=environment)
            got = done.stdout.replace("\r", "").replace(f":{redis_port}", ":6379")
            if got and not got.endswith("\n"):
                got += "\n"
            if not re.fullmatch(pattern(output), got):
                sys.exit(f"$ {command}\nshould say\n" + "\n".join(output) + f"\nand says\n{got}")
            passed += 1
    finally:
        stop(server)
        stop(redis)
    print(f"{passed} commands of the tour say what the page says")
    return passed


def main():
    laju, page = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    for tool in ("curl", "redis-cli", "redis-server"):
        if shutil.which(tool) is None:
            print(f"SKIP: no {tool} here (script/bootstrap --tests installs it)")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        if run_tour(laju, page.read_text(), folder) == 0:
            sys.exit("the page has no commands")


main()

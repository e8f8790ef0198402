"""`laju check` against a laju that asks for a password, and against what is no laju: every failure is 2, and says what to do.

    check.py LAJU
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

LAJU = sys.argv[1]
PATIENCE_S = 20


def run(*words, **environment):
    env = {name: value for name, value in os.environ.items() if name != "LAJU_PASSWORD"} | environment
    return subprocess.run([LAJU, "check", *words], capture_output=True, text=True, timeout=PATIENCE_S, env=env, check=False)


class Stranger:
    """A server that takes connections and answers each with the same bytes (None: not at all)."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.held = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.held.append(connection)
            if self.answer is not None:
                connection.recv(4096)
                connection.sendall(self.answer)
                connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class Strangers(unittest.TestCase):
    def refused(self, server, *words):
        done = run("--server", server, "--timeout", "300ms", "api", "user")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done)
        for word in ("laju check: ", server, *words):
            self.assertIn(word, done.stderr)

    def test_nobody_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            server = "127.0.0.1:%d" % free.getsockname()[1]
        self.refused(server, "Connection refused", "is laju serve running there?", "--server")
        self.refused("unix:/nonexistent/laju.sock", "No such file", "is laju serve running there?")

    def test_nobody_answers(self):
        with Stranger(None) as stranger:
            self.refused(stranger.address, "does not answer within 300ms", "is laju serve running there?")

    def test_it_speaks_http(self):
        with Stranger(b"HTTP/1.1 400 Bad Request\r\n\r\n") as stranger:
            self.refused(stranger.address, "does not speak RESP", "not the one for HTTP")

    def test_it_hangs_up(self):
        with Stranger(b"") as stranger:
            self.refused(stranger.address, "is laju serve running there?")

    def test_it_is_another_server(self):
        with Stranger(b"-ERR unknown command `LAJU.CHECK`\r\n") as stranger:
            self.refused(stranger.address, "unknown command", "is it laju?")

    def test_its_answer_is_no_decision(self):
        for answer in (b"+OK\r\n", b":1\r\n", b"*2\r\n:1\r\n:2\r\n", b"*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n+x\r\n", b"*-1\r\n"):
            with Stranger(answer) as stranger:
                self.refused(stranger.address, "something else than a decision")

    def test_what_it_sends_cannot_reach_the_terminal(self):
        with Stranger(b"-ERR \x1b[2J\x07gone\r\n") as stranger:
            done = run("--server", stranger.address, "api", "user")
            self.assertEqual(done.returncode, 2)
            self.assertIn("ERR ?[2J?gone", done.stderr)


class Laju(unittest.TestCase):
    """The real one, on a unix socket, with a password."""

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory(prefix="laju-check-")
        path = pathlib.Path(cls.home.name)
        cls.server = f"unix:{path}/resp.sock"
        (path / "laju.yaml").write_text(
            f"listen: {{http: off, resp: '{cls.server}', admin: off}}\n"
            "memory: 1MiB\n"
            "resp_password: open sesame\n"
            "rules: [{name: two, algorithm: token-bucket, limit: 2, per: 1d}, {name: costly, limit: 5, per: 1d, cost: 3}]\n")
        cls.process = subprocess.Popen([LAJU, "serve", "--config", path / "laju.yaml"], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_S
        while not (path / "resp.sock").exists():
            assert time.monotonic() < deadline and cls.process.poll() is None, "laju serve does not start"
            time.sleep(0.02)

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        code = cls.process.wait(PATIENCE_S)
        cls.home.cleanup()
        assert code == 0, code

    def ask(self, *words):
        return run("--server", self.server, *words, LAJU_PASSWORD="open sesame")

    def test_the_third_of_two_is_denied(self):
        codes = [self.ask("two", "third").returncode for _ in range(3)]
        self.assertEqual(codes, [0, 0, 1])

    def test_people_read_what_remains(self):
        self.assertEqual(self.ask("two", "people").stdout[:len("allowed: 1 of 2 remain; as good as new in ")],
                         "allowed: 1 of 2 remain; as good as new in ")

    def test_programs_read_json(self):
        decision = json.loads(self.ask("--json", "two", "programs").stdout)
        self.assertEqual(list(decision),
                         ["allowed", "rule", "limit", "remaining", "retry_after_ms", "reset_after_ms", "delay_ms"])
        self.assertEqual([decision[name] for name in ("allowed", "rule", "limit", "remaining")], [True, "two", 2, 1])

    def test_a_cost_above_the_limit_never_passes(self):
        done = self.ask("--json", "--cost", "3", "two", "never")
        self.assertEqual(done.returncode, 1)
        self.assertIsNone(json.loads(done.stdout)["retry_after_ms"])

    def test_a_rule_has_a_cost_of_its_own(self):
        self.assertIn("2 of 5 remain", self.ask("costly", "own").stdout)
        self.assertIn("1 of 5 remain", self.ask("--cost", "1", "costly", "own").stdout)

    def test_a_peek_takes_nothing(self):
        for _ in range(3):
            self.assertIn("2 of 2 remain", self.ask("--peek", "two", "peek").stdout)
        self.assertIn("2 of 2 remain", self.ask("--cost", "0", "two", "peek").stdout)

    def test_options_stand_anywhere_and_a_dashed_key_after_two_dashes(self):
        self.assertEqual(self.ask("two", "anywhere", "--json").returncode, 0)
        self.assertEqual(self.ask("--", "two", "--key").returncode, 0)

    def test_an_unknown_rule_is_an_error_and_no_denial(self):
        done = self.ask("nosuch", "user")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("nosuch", done.stderr)

    def test_without_the_password_it_says_how_to_give_it(self):
        done = run("--server", self.server, "two", "user")
        self.assertEqual(done.returncode, 2)
        self.assertIn("LAJU_PASSWORD", done.stderr)

    def test_a_wrong_password_is_refused(self):
        done = run("--server", self.server, "--password", "open barley", "two", "user", LAJU_PASSWORD="open sesame")
        self.assertEqual(done.returncode, 2)
        self.assertIn("WRONGPASS", done.stderr)
        self.assertNotIn("barley", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

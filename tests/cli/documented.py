"""Everything that --help and the configuration know stands in docs/configuration.md and the man page, and nothing else; every
metric in docs/operations.md.

    documented.py LAJU PROJECT
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LAJU = sys.argv[1]
PROJECT = pathlib.Path(sys.argv[2])
DOCS = (PROJECT / "docs/configuration.md").read_text()
MAN = (PROJECT / "docs/man/laju.1").read_text()
YAMLS = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)
COMMANDS = ["serve", "check", "bench", "replay", "config check", "demo race", "version"]


def run(*words):
    return subprocess.run([LAJU, *words], capture_output=True, text=True, timeout=30, check=False)


def options_of(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


def help_of(command):
    done = run("help", *command.split())
    assert done.returncode == 0, done
    return done.stdout


def options_listed(command):
    return options_of("\n".join(line for line in help_of(command).splitlines() if re.match(r"  (-\w, |    )--", line)))


def check_file(text):
    """The examples' files with secrets are one of ours; that there are no certificates here is no fault of theirs."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, tempfile.NamedTemporaryFile("w") as password:
        password.write("open sesame\n")
        password.flush()
        file.write(re.sub(r"/run/secrets/\w+", password.name, text))
        file.flush()
        done = run("config", "check", file.name)
        done.stderr = re.sub(r".*: warning: tls: certificate .*; laju serve would not start here\n", "", done.stderr)
        return done


def known_keys():
    """As the refusals of an unknown key tell them."""
    def allowed(text):
        return re.search(r"allowed: (.*)", check_file(text).stderr).group(1).split(", ")

    groups = {"listen", "snapshot", "store", "tls", "admin", "log", "ip_prefix", "headers"}
    keys = {f"{group}.{word}" for group in groups for word in allowed(f"{group}: {{nosuchkeyatall: 1}}")}
    members = set(allowed("rules: [{nosuchkeyatall: 1}]"))
    members |= set(allowed("rules: [{match: {nosuchkeyatall: 1}}]")) | set(allowed("rules: [{overrides: [{nosuchkeyatall: 1}]}]"))
    return (set(allowed("nosuchkeyatall: 1")) - groups) | keys, members


class Documented(unittest.TestCase):
    def test_every_option_is_in_the_man_page_and_no_other(self):
        there = {"--" + name for name in re.findall(r"(?:Fl|,|\|) -([a-z][a-z-]+)", MAN)}
        known = set().union(*(options_listed(command) for command in COMMANDS)) | {"--version"}
        self.assertGreater(len(known), 15)
        self.assertEqual(there, known)

    def test_every_option_is_in_the_docs_of_its_command(self):
        parts = {re.sub(r",.*| \[?[A-Z].*", "", title): text for title, text in re.findall(r"### laju (.*)\n([^#]*)", DOCS)}
        for command in COMMANDS:
            self.assertIn(command, parts)
            if command in ("serve", "check", "bench", "replay", "demo race"):
                self.assertEqual(options_of(parts[command].split("```")[0]), options_listed(command), command)

    def test_every_key_is_in_the_docs_and_in_the_man_page(self):
        settings, fields = known_keys()
        self.assertGreater(len(settings), 9)
        for key in settings | fields:
            self.assertIn(f"| `{key}` |", DOCS)
            self.assertRegex(MAN, rf"\b{key.split('.')[-1]}:", key)

    def test_the_examples_of_whole_files_are_good_and_hold_every_key(self):
        settings, fields = known_keys()
        yaml = YAMLS[0]
        literal = re.search(r"one YAML document:\n\.Bd[^\n]*\n(.*?)\.Ed", MAN, re.DOTALL).group(1)
        for text in (yaml, literal):
            done = check_file(text)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for key in settings | fields:
                self.assertRegex(text, rf"\b{key.split('.')[-1]}:")

    def test_every_example_of_a_file_is_good(self):
        self.assertGreater(len(YAMLS), 1)
        for text in YAMLS:
            done = check_file(text)
            self.assertEqual((done.returncode, done.stderr), (0, ""), text)

    def test_the_examples_of_rules_are_good(self):
        rules = re.findall(r"--rule '?([\w.-]+=[^'\n]*?)'?(?=\s|$)", DOCS + help_of("serve") + MAN)
        self.assertGreater(len(rules), 4)
        for rule in rules:
            self.assertIn("--memory", run("serve", "--rule", rule, "--memory", "0B").stderr, rule)

    def test_every_metric_is_in_the_docs_and_no_other(self):
        names = r"\b(?:laju|process)_[a-z_]+_(?:total|seconds|bytes|info)\b|\blaju_(?:table|store|connections|workers|rules|nodes|overrides)[a-z_]*\b"
        known = set(re.findall(r'"((?:laju|process)_[a-z_]+)"', (PROJECT / "src/server/metrics.c").read_text())) | {"laju_build_info"}
        text = (PROJECT / "docs/operations.md").read_text()
        self.assertGreater(len(known), 30)
        self.assertEqual(known - set(re.findall(r"`(\w+)`", text)), set())
        self.assertEqual(set(re.findall(names, text)) - known, set())

    def test_help_fits_a_terminal(self):
        for text in [run("--help").stdout, *map(help_of, COMMANDS)]:
            self.assertLessEqual(max(map(len, text.splitlines())), 100)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_the_man_page_is_well_formed(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", PROJECT / "docs/man/laju.1"], capture_output=True, text=True,
                              timeout=30, check=False)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

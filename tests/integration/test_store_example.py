"""examples/redis, as it stands but for its Redis: good without a warning."""

from server import ROOT, run_laju

EXAMPLE = ROOT / "examples/redis/laju.yaml"


def test_the_example_is_good():
    done = run_laju("config", "check", EXAMPLE)
    assert (done.returncode, done.stderr) == (0, "") and ": good: 3 rules" in done.stdout

import os
import subprocess
import sys

from stanchion.supervisor.sensors.vitals import own_rss_bytes, sample_tree

FAMILY = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=sys.stdin)
sum(range(3_000_000)); print("ready", flush=True); child.wait()
"""


def test_the_tree_is_sampled_without_the_root_and_its_children_are_the_harness() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as family:
        assert family.stdout is not None
        family.stdout.readline()
        samples = {sample.key[0]: sample for sample in sample_tree(os.getpid())}
        harness = samples[family.pid]
        (tool,) = sample_tree(family.pid)
        assert family.stdin is not None
        family.stdin.close()
        family.wait(timeout=20)
    assert harness.is_harness
    assert harness.cpu_ms is not None
    assert harness.cpu_ms > 0
    assert harness.rss_bytes is not None
    assert not samples[tool.key[0]].is_harness
    assert os.getpid() not in samples


def test_a_process_that_is_gone_gives_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait(timeout=20)
    assert sample_tree(ended.pid) == []


def test_the_own_size_is_known() -> None:
    assert own_rss_bytes() > 1_000_000

import os
import subprocess
import sys

import pytest

from stanchion.supervisor.process_tree import ProcessSample
from stanchion.supervisor.sensors.vitals import own_rss_bytes, sample_tree

SHIM = r"""
exec 3<&0
bash -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo harness $$
         bash -c "echo tool \$\$; read -r _ <&3"; true' &
bash -c 'printf %3000000s x > /dev/null; echo left $$; read -r _ <&3' &
wait
"""


@pytest.fixture
def family() -> dict[str, ProcessSample]:
    """A harness with its tool, and beside it what an earlier tool had left."""
    with subprocess.Popen(
        ["bash", "-c", SHIM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as shim:
        assert shim.stdout is not None
        pids = dict(shim.stdout.readline().split() for _ in range(3))
        samples = {str(sample.key[0]): sample for sample in sample_tree(shim.pid)}
        assert shim.stdin is not None
        shim.stdin.close()
        shim.wait(timeout=20)
    assert len(samples) == 3
    return {name: samples[pid] for name, pid in pids.items()}


def test_the_harness_is_the_first_child_and_nothing_that_tools_left(
    family: dict[str, ProcessSample],
) -> None:
    assert {name: sample.is_harness for name, sample in family.items()} == {
        "harness": True,
        "tool": False,
        "left": False,
    }


def test_time_size_and_bytes_are_measured(family: dict[str, ProcessSample]) -> None:
    harness, left = family["harness"], family["left"]
    assert harness.cpu_ms is not None
    assert harness.cpu_ms > 0
    assert harness.rss_bytes is not None
    assert harness.rss_bytes > 100_000
    assert left.moved_bytes is not None
    assert left.moved_bytes > 3_000_000
    assert harness.moved_bytes is not None
    assert harness.moved_bytes < 3_000_000


def test_a_process_that_is_gone_gives_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait(timeout=20)
    assert sample_tree(ended.pid) == []


def test_sampling_starts_no_process_and_leaves_the_own_one_out() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        before = {sample.key for sample in sample_tree(os.getpid())}
        after = {sample.key for sample in sample_tree(os.getpid())}
        child.kill()
    assert before == after
    assert os.getpid() not in {pid for pid, _ in after}


def test_the_own_size_is_known() -> None:
    assert own_rss_bytes() > 1_000_000

"""The base is built apart: a build that is killed leaves no mount and no process behind."""

import os
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import psutil
import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")

MMDEBSTRAP = """\
#!/bin/sh
while [ $# -gt 2 ]; do shift; done
mkdir -p "$1/proc" && mount -t tmpfs none "$1/proc" || exit 1
echo "I: installing packages"
sleep 600
"""
BUILDER = """\
import sys
from pathlib import Path
from stanchion.images import entry, rootfs, tools

def build(root):
    command = rootfs.bootstrap_command(
        root, root.parent / "sources", debian_architecture="amd64", transport=()
    )
    tools.follow(command, doing="mmdebstrap", each_line=lambda line: print(line, flush=True))
    return entry.Built()

entry.ensure(Path(sys.argv[1]), build)
"""


def test_a_killed_build_leaves_nothing_that_keeps_the_next_from_its_place(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "mmdebstrap"
    program.parent.mkdir()
    program.write_text(MMDEBSTRAP)
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    command = [sys.executable, "-c", BUILDER, str(tmp_path / "piece")]
    for _ in range(2):
        with Popen(command, stdout=PIPE, text=True, env={**os.environ, "PATH": path}) as builder:
            assert builder.stdout is not None
            try:
                assert builder.stdout.readline() == "I: installing packages\n"
                started = psutil.Process(builder.pid).children(recursive=True)
            finally:
                builder.kill()
        assert len(started) >= 2  # unshare and mmdebstrap, whose sleep may not have begun
        assert psutil.wait_procs(started, timeout=20)[1] == []
        assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
        assert (tmp_path / ".piece.building" / "tree").is_dir()

"""The files of a new task: small, commented, and right as they are. Pure.

They pass `stanchion task check` before a line is changed, so that whatever breaks it afterwards is
the change.
"""

import re
from dataclasses import dataclass

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class File:
    """One file of the task."""

    path: str
    text: str
    executable: bool = False


TASK = """\
# A task in Harbor's format. Fields: docs/reference/task-format.md of Stanchion.
schema_version = "1.4"

[task]
name = "example/{name}"
description = "One sentence about it."

[metadata.stanchion]
base = "debian"                 # root file system; or pass your own with --image DIR
answer = ["/work/answer.txt"]   # what a clean run must leave; absent = wrong, lost = no score
# untouched_reward = "0"        # what the tests give for a work folder that nobody touched

[agent]
timeout_sec = 900.0
# user = "1000"                 # root if left out

[verifier]
timeout_sec = 120.0

[environment]
workdir = "/work"               # starts with the files of environment/workdir/
network_mode = "no-network"     # the only mode there is
# cpus = 2
# memory_mb = 4096
# env = {{ LANG = "C.UTF-8" }}

# artifacts = ["/work/report"]  # kept beside the result after the tests
"""
INSTRUCTION = """\
`/work/numbers.txt` holds one whole number a line. Write their sum, and nothing else, to
`/work/answer.txt`.
"""
NUMBERS = "17\n4\n21\n"
SOLVE = """\
#!/bin/sh
# One way to solve it. No agent ever sees this folder; `stanchion task check` runs it.
set -eu
python3 -c 'print(sum(map(int, open("/work/numbers.txt"))))' > /work/answer.txt
"""
TEST = """\
#!/bin/sh
# Runs after the agent is gone. Writes a reward only when the tests really ran: a broken verifier
# must never look like a wrong answer.
set -u
mkdir -p /logs/verifier
cd /tests || exit 3 # not the work folder, where a file could pose as pytest

export PYTHONDONTWRITEBYTECODE=1
python3 -c 'import pytest' || exit 3
python3 -m pytest -q -p no:cacheprovider --rootdir=/tests /tests
verdict=$?

case $verdict in
    0) echo 1 > /logs/verifier/reward.txt ;;
    1) echo 0 > /logs/verifier/reward.txt ;;
    *) exit "$verdict" ;;
esac
"""
TEST_ANSWER = """\
from pathlib import Path


def test_the_answer_is_the_sum_of_the_numbers() -> None:
    assert Path("/work/answer.txt").read_text().strip() == "42"
"""
REHEARSAL = """\
# What the rehearsal provider answers, for a run without a key: --model rehearsal/anything
version = 1

[[turn]]
reasoning = "The numbers are in one file; a short program adds them up."

[[turn.tool]]
name = "bash"

[turn.tool.arguments]
command = \"\"\"
python3 -c 'print(sum(map(int, open("/work/numbers.txt"))))' > /work/answer.txt\"\"\"
description = "Add the numbers up"

[[turn]]
text = "The sum is in `/work/answer.txt`."
"""


def files(name: str) -> tuple[File, ...]:
    """All of them."""
    return (
        File("task.toml", TASK.format(name=name)),
        File("instruction.md", INSTRUCTION),
        File("environment/workdir/numbers.txt", NUMBERS),
        File("solution/solve.sh", SOLVE, executable=True),
        File("tests/test.sh", TEST, executable=True),
        File("tests/test_answer.py", TEST_ANSWER),
        File("rehearsal.toml", REHEARSAL),
    )

"""Positions of keys, against texts that tomllib accepts."""

import tomllib

import pytest

from stanchion.runner.tasks.toml_lines import TomlLines

TEXT = '''\
# a comment
title = "x" # agent = 1

[agent]
timeout_sec = 60
user = """
[environment]
cpus = 9
"""

[environment]   # [verifier]
"quoted \\" key" = 1
'liter.al' = [
  "]", # ]
  { gpus = 1 },
]
a . b = {
  c = 1, "d" = '}' }
cpus = 2

[environment.env]
A = \'\'\'
B = 1\'\'\'
C = "a \\" # b"
D = "[["

[[steps]]
name = "one"
[[steps]]
name = "two"
min = 3
[x."y.z"]
k = 1
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("agent",), 4),
        (("agent", "timeout_sec"), 5),
        (("agent", "user"), 6),
        (("agent", "missing"), 4),
        (("environment",), 11),
        (("environment", 'quoted " key'), 12),
        (("environment", "liter.al"), 13),
        (("environment", "liter.al", "gpus"), 13),
        (("environment", "a", "b"), 17),
        (("environment", "a", "b", "c"), 17),
        (("environment", "cpus"), 19),
        (("environment", "env"), 21),
        (("environment", "env", "A"), 22),
        (("environment", "env", "B"), 21),
        (("environment", "env", "C"), 24),
        (("environment", "env", "D"), 25),
        (("steps",), 27),
        (("steps", "name"), 28),
        (("steps", "min"), 31),
        (("x", "y.z", "k"), 33),
        (("nowhere",), None),
    ],
)
def test_the_line_of_a_key(path: tuple[str, ...], line: int | None) -> None:
    tomllib.loads(TEXT.replace("{\n  c = 1,", "{ c = 1,"))
    assert TomlLines(TEXT).line(*path) == line


def test_a_text_without_keys_has_no_lines() -> None:
    assert TomlLines("# nothing\n\n").line("a") is None

"""What is true of every recording, whoever made it."""

from pathlib import Path

import msgspec
import pytest

from conformance.harness.recordings import HERE, Recorded

ALL = sorted(path.relative_to(HERE) for path in HERE.glob("**/*-[0-9]*/*.json"))
PLAIN = ("/scratch/home", "/scratch", ".gemini/tmp/")
"""What stands for a machine's own places, and a folder's name that is like one."""


class Any(Recorded, forbid_unknown_fields=False):
    """Only what all have."""


@pytest.mark.parametrize("path", ALL, ids=str)
def test_each_recording_says_where_it_is_from_and_names_no_machine(path: Path) -> None:
    text = (HERE / path).read_text()
    provenance = msgspec.json.decode(text, type=Any).provenance
    harness, _, version = path.parts[-2].rpartition("-")
    assert provenance.harness.startswith(f"{harness.replace('-', '_')} {version}")
    assert provenance.command
    assert provenance.scenario
    for place in PLAIN:
        text = text.replace(place, "")
    for place in ("/tmp/", "/home/", "/root/"):
        assert place not in text

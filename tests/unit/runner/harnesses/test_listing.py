from pathlib import Path

import pytest

from stanchion.images.harness_store import ensure_harness
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.harnesses.listing import known_releases, listing_lines, release_of


def test_a_release_says_what_is_on_this_disk_and_what_fetching_it_takes(tmp_path: Path) -> None:
    ensure_harness(tmp_path, "noop", "1")
    found = {release.name: release for release in known_releases(tmp_path)}

    opencode = found["opencode"]
    assert (opencode.state, opencode.size_bytes, opencode.digest) == ("fetchable", None, None)
    assert (opencode.download_bytes or 0) > 1_000_000
    assert opencode.dialects[0] == "openai_chat"
    assert (found["noop"].state, found["noop"].dialects) == ("built-in", ())
    assert found["noop"].digest is not None
    assert found["oracle"].digest is None


def test_a_release_that_changed_on_disk_is_called_that(tmp_path: Path) -> None:
    folder = tmp_path / "harness/opencode/1.18.33"
    folder.mkdir(parents=True)
    (folder / "record.json").write_text("{}")

    found = {release.name: release for release in known_releases(tmp_path)}

    assert (found["opencode"].state, found["opencode"].size_bytes) == ("changed", None)


def test_the_table_has_a_line_a_release_and_a_dash_for_what_is_not_there(tmp_path: Path) -> None:
    releases = known_releases(tmp_path)
    lines = listing_lines(releases)

    assert len(lines) == len(releases) + 1
    (opencode,) = (line for line in lines if line.startswith("opencode"))
    assert opencode.split()[:5] == ["opencode", "1.18.33", "fetchable", "-", "60"]


def test_a_name_alone_is_its_newest_measured_release() -> None:
    assert release_of("opencode") == ("opencode", "1.18.33")
    assert release_of("opencode@9") == ("opencode", "9")
    with pytest.raises(RefusedError, match="the known harnesses are"):
        release_of("other")

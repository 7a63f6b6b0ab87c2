from pathlib import Path

import pytest

from stanchion.images import preflight
from stanchion.images.bundle import Bundle
from stanchion.images.preflight import Need, NeedId


def need(size: int | None, *, present: bool = False) -> Need:
    return Need(
        id=NeedId.BUNDLE,
        what="a piece",
        download_bytes=size,
        present=present,
        fix="stanchion images bundle",
        cache_dir=Path("/cache"),
    )


def test_an_empty_cache_needs_every_piece_and_says_how_much(tmp_path: Path) -> None:
    found = {need.id: need for need in preflight.needs(tmp_path)}

    assert set(found) == set(NeedId)
    for piece in (NeedId.BUNDLE, NeedId.BASE, NeedId.HARNESS):
        assert not found[piece].present
        assert (found[piece].download_bytes or 0) > 1_000_000
        assert found[piece].fix.startswith("stanchion ")


def test_the_process_sandbox_needs_neither_runsc_nor_a_base(tmp_path: Path) -> None:
    found = {need.id for need in preflight.needs(tmp_path, sandbox="process")}

    assert found == {NeedId.PATCHELF, NeedId.NPM, NeedId.BUNDLE, NeedId.HARNESS}


def test_looking_changes_nothing(tmp_path: Path) -> None:
    preflight.needs(tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ([], "nothing to download"),
        (
            [need(10_000_000), need(200_000)],
            "to download: a piece (about 10 MB), a piece (about 1 MB); about 10 MB in all",
        ),
        (
            [need(10_000_000), need(None)],
            "to download: a piece (about 10 MB), a piece (of unknown size); about 10 MB in all{}",
        ),
    ],
)
def test_the_announcement_gives_every_size_and_the_sum(missing: list[Need], sentence: str) -> None:
    assert preflight.announcement(missing) == sentence.format(" and more of unknown size")


def test_a_harness_that_is_not_pinned_has_an_unknown_size(tmp_path: Path) -> None:
    found = preflight.needs(tmp_path, sandbox="process", harness=("other", "1"))

    assert found[-1].download_bytes is None


def test_a_harness_with_a_runtime_of_its_own_needs_patchelf_though_the_bundle_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundle: Bundle, cache_dir: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bundle").symlink_to(cache_dir / "bundle")

    def lacking(name: str, version: str) -> set[NeedId]:
        found = preflight.needs(tmp_path, sandbox="process", harness=(name, version))
        return {need.id for need in found if not need.present}

    assert lacking("opencode", "1.18.33") == {NeedId.NPM, NeedId.HARNESS}
    assert lacking("qwen_code", "0.15.10") == {NeedId.PATCHELF, NeedId.NPM, NeedId.HARNESS}


def test_fetching_what_is_present_does_nothing(tmp_path: Path) -> None:
    preflight.fetch([need(0, present=True)])

    assert list(tmp_path.iterdir()) == []

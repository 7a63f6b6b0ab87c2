import os
from pathlib import Path

import pytest

from fakes.receipts import RUN, closed, ending, honest
from stanchion.broker.auditing.paths import Found, PathError, Result, contradiction, find
from stanchion.broker.receipts.bundle import Verified, verify


def attempt(directory: Path, bundle: bytes | None = b"data", result: str | None = None) -> Path:
    directory.mkdir(parents=True)
    if bundle is not None:
        (directory / "receipts.bundle").write_bytes(bundle)
    if result is not None:
        (directory / "result.json").write_text(result)
    return directory


def names(found: list[Found], top: Path) -> list[str]:
    return [str(each.path.relative_to(top)) for each in found]


def test_a_file_is_itself(tmp_path: Path) -> None:
    file = tmp_path / "any name"
    file.write_bytes(b"data")

    assert find(file) == [Found(file, b"data", None)]


def test_a_result_directory_holds_attempts_in_order(tmp_path: Path) -> None:
    for name in ("b__1", "a__2", "a__1"):
        attempt(tmp_path / "attempts" / name)

    assert names(find(tmp_path), tmp_path) == [
        "attempts/a__1/receipts.bundle",
        "attempts/a__2/receipts.bundle",
        "attempts/b__1/receipts.bundle",
    ]
    assert len(find(tmp_path / "attempts")) == 3
    assert len(find(tmp_path / "attempts" / "a__1")) == 1


@pytest.mark.parametrize("result", [None, "{}"])
def test_an_attempt_without_a_bundle_is_not_passed_over(tmp_path: Path, result: str | None) -> None:
    attempt(tmp_path / "attempts" / "a__1")
    attempt(tmp_path / "attempts" / "a__2", None, result)

    assert find(tmp_path)[1] == Found(tmp_path / "attempts" / "a__2", None, None)


def test_an_attempt_directory_without_a_bundle_is_incomplete(tmp_path: Path) -> None:
    attempt(tmp_path / "somewhere", None, "{}")

    assert find(tmp_path / "somewhere") == [Found(tmp_path / "somewhere", None, None)]


def test_files_that_the_agent_left_are_not_audited(tmp_path: Path) -> None:
    attempt(tmp_path / "attempts" / "a__1")
    attempt(tmp_path / "attempts" / "a__1" / "artifacts")
    attempt(tmp_path / "attempts" / "a__2" / "artifacts")

    assert names(find(tmp_path), tmp_path) == ["attempts/a__1/receipts.bundle", "attempts/a__2"]


def test_links_to_other_folders_are_not_followed(tmp_path: Path) -> None:
    attempt(tmp_path / "elsewhere")
    attempt(tmp_path / "out" / "attempts" / "a__1")
    (tmp_path / "out" / "more").symlink_to(tmp_path / "elsewhere")

    assert len(find(tmp_path / "out")) == 1


def test_a_folder_without_attempts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"no receipts\.bundle below it"):
        find(tmp_path)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(PathError, match="cannot be read"):
        find(tmp_path / "pipe")


def test_a_bundle_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "receipts.bundle").mkdir()
    attempt(tmp_path / "x", None, "{}")
    (tmp_path / "x" / "receipts.bundle").mkdir()

    with pytest.raises(PathError, match=r"x/receipts\.bundle: cannot be read"):
        find(tmp_path / "x")


def test_a_result_that_is_garbage_is_named(tmp_path: Path) -> None:
    attempt(tmp_path / "x", b"data", "{]")

    with pytest.raises(PathError, match=r"result\.json: not a result"):
        find(tmp_path / "x")


HEAD_KEY = "HEAD"


def claimed(tmp_path: Path, text: str, bundle: bytes) -> str | None:
    found = verify(bundle)
    assert isinstance(found, Verified)
    attempt(tmp_path / "x", bundle, text.replace(HEAD_KEY, found.head))
    (each,) = find(tmp_path / "x")
    return contradiction(found, each.result)


def result(
    *,
    run: str = RUN,
    attempt: int = 1,
    reason: str = "completed",
    score: str = "1.0",
    head: str = HEAD_KEY,
) -> str:
    return (
        f'{{"run":"{run}","attempt":{attempt},"task":"x","outcome":{{"reason":"{reason}"}},'
        f'"score":{score},"receipts":{{"head":"{head}","exchanges":3}}}}'
    )


def test_a_result_that_agrees_with_the_close_contradicts_nothing(tmp_path: Path) -> None:
    assert claimed(tmp_path, result(), closed()) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (result(run="000000000001"), "run 000000000001, the receipts say 7f3a90c41b22"),
        (result(attempt=2), "attempt 2, the receipts say 1"),
        (result(reason="oom"), "outcome oom, the receipts say completed"),
        (result(score="0.5"), "score 0.5, the receipts say 1.0"),
        (result(score="null"), "score None, the receipts say 1.0"),
        (result(head="00"), "receipts.head 00, the receipts say"),
    ],
)
def test_a_result_that_disagrees_is_said(tmp_path: Path, text: str, said: str) -> None:
    assert said in (claimed(tmp_path, text, closed()) or "")


def test_a_withheld_score_must_be_withheld_in_the_result(tmp_path: Path) -> None:
    bundle = honest().close(**ending("oom", score=None))

    assert claimed(tmp_path, result(reason="oom", score="null"), bundle) is None


def test_a_score_that_is_no_number_is_compared_as_text(tmp_path: Path) -> None:
    bundle = honest().close(**ending(score="full marks"))

    assert "the receipts say full marks" in (claimed(tmp_path, result(), bundle) or "")


def test_a_bundle_without_a_close_contradicts_nothing(tmp_path: Path) -> None:
    assert claimed(tmp_path, result(score="0.5"), honest().bundle()) is None
    found = verify(closed())
    assert isinstance(found, Verified)
    assert contradiction(found, None) is None
    assert contradiction(found, Result()) is not None

"""Which attempt a name means."""

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.live.find_run import looks_like_run, match_run

KNOWN = ["7f3a90c41b22.1", "7f3a90c41b22.2", "7f3a90c41b22.10", "7f3b00000000.1"]


def meant(name: str, known: list[str] = KNOWN) -> str | None:
    return match_run(name, known, lambda one: one)


def test_a_runs_newest_attempt_is_meant_by_its_id_or_a_beginning() -> None:
    assert meant("7f3a90c41b22") == "7f3a90c41b22.10"
    assert meant("7f3a") == "7f3a90c41b22.10"


def test_an_attempt_is_meant_by_its_number() -> None:
    assert meant("7f3a90c41b22.1") == "7f3a90c41b22.1"
    assert meant("7f3a.2") == "7f3a90c41b22.2"
    assert meant("7f3a.3") is None


def test_what_several_runs_begin_with_is_refused_by_their_names() -> None:
    with pytest.raises(RefusedError, match="aaaa00000000, aaaa11111111") as refused:
        meant("aaaa", ["aaaa00000000.1", "aaaa11111111.1"])
    assert refused.value.refusal.id == "run_ambiguous"


def test_a_whole_id_is_never_ambiguous() -> None:
    assert meant("aaaaaaaaaaaa", ["aaaaaaaaaaaa.1"]) == "aaaaaaaaaaaa.1"


@pytest.mark.parametrize("name", ["7f3", "", "out/x", "7F3A90", "7f3a.0", "7f3a90c41b22f"])
def test_what_can_be_no_runs_name_is_refused(name: str) -> None:
    assert not looks_like_run(name)
    with pytest.raises(RefusedError, match="stanchion ps"):
        meant(name)


def test_nothing_known_is_nothing_meant() -> None:
    assert meant("7f3a", []) is None

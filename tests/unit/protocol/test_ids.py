import pytest

from stanchion.protocol.ids import attempt_id, parse_attempt_id, run_id, split_attempt_id


def test_an_attempt_id_is_run_and_number() -> None:
    attempt = attempt_id(run_id("0123456789ab"), 12)
    assert attempt == "0123456789ab.12"
    assert split_attempt_id(attempt) == ("0123456789ab", 12)
    assert parse_attempt_id(attempt) == attempt


@pytest.mark.parametrize(
    "bad", ["", "0123456789a", "0123456789AB", "0123456789ab\n", "../../etc/pas"]
)
def test_other_run_ids_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="12 lower-case hex"):
        run_id(bad)


@pytest.mark.parametrize(
    "bad", ["0123456789ab", "0123456789ab.0", "0123456789ab.1x", "x.1", "0123456789ab.1\n"]
)
def test_other_attempt_ids_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match=r"RUN\.NUMBER"):
        parse_attempt_id(bad)

import pytest

from stanchion.broker.plane.dialects.base import ProviderError
from stanchion.broker.plane.dialects.gemini_errors import MAX_RETRY_MS, read_error

TYPE = "type.googleapis.com/google.rpc."


def retry(delay: object) -> dict[str, object]:
    return {"code": 429, "details": [{"@type": f"{TYPE}RetryInfo", "retryDelay": delay}]}


def violated(*ids: object) -> dict[str, object]:
    return {"@type": f"{TYPE}QuotaFailure", "violations": [{"quotaId": name} for name in ids]}


def test_an_error_is_read_with_its_status() -> None:
    assert read_error({"code": 503, "message": "m", "status": "UNAVAILABLE"}) == ProviderError(
        words="m", kind="UNAVAILABLE", status=503
    )


@pytest.mark.parametrize("value", [None, "", 5, [], True])
def test_what_is_no_error_object_is_none(value: object) -> None:
    assert read_error(value) is None


def test_text_is_its_words_and_an_empty_object_is_an_error_all_the_same() -> None:
    assert read_error("m") == ProviderError(words="m")
    assert read_error({}) == ProviderError(words=None)


@pytest.mark.parametrize("code", [200, 99, 600, "503", True, None])
def test_a_code_that_is_no_failure_is_no_status(code: object) -> None:
    error = read_error({"code": code, "message": 5, "status": 7})
    assert error == ProviderError(words=None)


@pytest.mark.parametrize(
    ("delay", "wait_ms"),
    [
        ("38.4s", 38_400),
        ("0s", 0),
        ("2s", 2_000),
        ("1.000000001s", 1_000),
        ("999999999s", MAX_RETRY_MS),
        ("38", None),
        ("-1s", None),
        ("1e3s", None),
        (38, None),
        (None, None),
    ],
)
def test_the_wait_is_a_duration_of_protobuf(delay: object, wait_ms: int | None) -> None:
    error = read_error(retry(delay))
    assert error is not None
    assert error.retry_after_ms == wait_ms


@pytest.mark.parametrize(
    ("details", "code"),
    [
        ([{"@type": f"{TYPE}ErrorInfo", "reason": "API_KEY_INVALID"}], "API_KEY_INVALID"),
        ([violated("aPerDayb"), {"@type": f"{TYPE}ErrorInfo", "reason": "R"}], "R"),
        ([violated("aPerMinute", "bPerDay")], "bPerDay"),
        ([violated("aPerMinute"), violated("bPerDay")], "bPerDay"),
        ([violated("aPerMinute", "bPerMinute")], "aPerMinute"),
        ([violated(None, 5)], None),
        ([{"@type": f"{TYPE}QuotaFailure", "violations": [5, None]}], None),
        ([{"@type": f"{TYPE}QuotaFailure"}], None),
        ([{"@type": f"{TYPE}ErrorInfo"}, {"@type": "other", "reason": "R"}, 5], None),
        ({}, None),
        (None, None),
    ],
)
def test_the_reason_goes_before_the_quota_and_a_day_before_a_minute(
    details: object, code: str | None
) -> None:
    error = read_error({"code": 429, "details": details})
    assert error is not None
    assert error.code == code

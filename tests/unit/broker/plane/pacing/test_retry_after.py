import pytest

from stanchion.broker.plane.pacing.retry_after import asked_ms, capped

NOW_MS = 1_764_547_200_000
"""Mon, 01 Dec 2025 00:00:00 GMT."""


@pytest.mark.parametrize(
    ("headers", "wait_ms"),
    [
        ([("Retry-After", "2")], 2_000),
        ([("retry-after", " 120 ")], 120_000),
        ([("retry-after", "0.5")], 500),
        ([("retry-after", "1"), ("retry-after-ms", "1250")], 1_250),
        ([("retry-after", "Mon, 01 Dec 2025 00:00:30 GMT")], 30_000),
        ([("retry-after", "Sun, 30 Nov 2025 23:59:00 GMT")], 0),
        ([("retry-after", "soon")], None),
        ([("retry-after", "-5")], None),
        ([("retry-after", "Mon, 99 Dec 2025 00:00:30 GMT")], None),
        ([("retry-after", "")], None),
        ([("x-other", "2")], None),
    ],
)
def test_seconds_milliseconds_and_dates_are_read_and_the_rest_is_unknown(
    headers: list[tuple[str, str]], wait_ms: int | None
) -> None:
    assert asked_ms(headers, wall_ms=NOW_MS) == wait_ms


def test_a_date_counts_from_the_providers_own_clock() -> None:
    headers = [
        ("date", "Mon, 01 Dec 2025 08:00:00 GMT"),
        ("retry-after", "Mon, 01 Dec 2025 08:00:05 GMT"),
    ]
    assert asked_ms(headers, wall_ms=NOW_MS) == 5_000


@pytest.mark.parametrize(
    ("status", "asked", "sent"),
    [
        (429, 120_000, "30"),
        (429, 2_000, "2"),
        (429, 1_200, "2"),
        (429, None, "30"),
        (529, None, "30"),
        (503, 9_999_000, "30"),
        (503, None, None),
        (400, 60_000, "30"),
    ],
)
def test_what_goes_back_is_capped_and_never_missing_from_a_429(
    status: int, asked: int | None, sent: str | None
) -> None:
    given = [("x-request-id", "r"), ("Retry-After", "whatever"), ("retry-after-ms", "9999000")]
    kept, sent_ms = capped(given, status=status, asked=asked)
    assert dict(kept).get("retry-after") == sent
    assert "retry-after-ms" not in dict(kept)
    assert kept[0] == ("x-request-id", "r")
    assert sent_ms == (None if sent is None else int(sent) * 1000)

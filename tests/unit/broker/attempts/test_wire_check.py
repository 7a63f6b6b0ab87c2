import pytest

from fakes.launches import LIMIT, MODEL, spec
from stanchion.broker.attempts.wire_check import first_difference, judge, side_request
from stanchion.broker.plane.dialects.openai_chat import read_request
from stanchion.protocol.exchange import Asked
from stanchion.protocol.launch import Effort, SideRequest

GOOD: dict[str, object] = {"model": MODEL, "max_tokens": LIMIT, "reasoning_effort": "max"}


def asked(**changes: object) -> Asked:
    body = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    return read_request(body, b"{}")


def test_a_request_as_declared_passes() -> None:
    assert first_difference(spec(), asked(), exchange=1) is None


@pytest.mark.parametrize(
    ("changes", "field", "observed"),
    [
        ({"model": "fx-coder-1 "}, "model", "fx-coder-1 "),
        ({"model": "FX-coder-1"}, "model", "FX-coder-1"),
        ({"model": None}, "model", None),
        ({"max_tokens": LIMIT - 1}, "output_limit", "127999"),
        ({"max_tokens": LIMIT + 1}, "output_limit", "128001"),
        ({"max_tokens": None}, "output_limit", None),
        ({"max_tokens": "128000"}, "output_limit", None),
        ({"max_tokens": True}, "output_limit", None),
        ({"reasoning_effort": "high"}, "effort", "high"),
        ({"reasoning_effort": None}, "effort", None),
        ({"model": "x", "max_tokens": 1}, "model", "x"),
    ],
)
def test_the_first_difference_is_named(
    changes: dict[str, object], field: str, observed: str | None
) -> None:
    found = first_difference(spec(), asked(**changes), exchange=4)
    assert found is not None
    assert (found.exchange, found.field, found.observed) == (4, field, observed)
    assert found.declared in {MODEL, str(LIMIT), "max"}


def test_a_thinking_budget_is_part_of_the_terms() -> None:
    terms = spec(effort=Effort(thinking_budget=4096))
    assert first_difference(terms, asked(thinking_budget=4096), exchange=1) is None
    for sent in (2048, None):
        found = first_difference(terms, asked(thinking_budget=sent), exchange=1)
        assert found is not None
        assert (found.field, found.declared) == ("thinking_budget", "4096")
        assert found.observed == (None if sent is None else str(sent))


def test_an_effort_that_was_not_declared_is_not_judged() -> None:
    assert (
        first_difference(spec(effort=Effort()), asked(reasoning_effort="low"), exchange=1) is None
    )


def test_a_declared_side_request_has_at_most_its_own_limit() -> None:
    title = SideRequest(name="title", body_contains="Generate a title", max_output_tokens=1000)
    terms = spec(side_requests=(title,))
    side = side_request(terms, b'{"messages":"Generate a title for"}')
    assert side == title
    small = asked(max_tokens=1000, reasoning_effort=None)
    assert first_difference(terms, small, exchange=1, side=side) is None
    large = asked(max_tokens=1001)
    assert first_difference(terms, large, exchange=1, side=side) is not None
    absent = asked(max_tokens=None)
    assert first_difference(terms, absent, exchange=1, side=side) is not None
    assert side_request(terms, b"{}") is None


TITLE = SideRequest(name="title", body_contains="Generate a title", max_output_tokens=1000)
TITLED = b'{"messages":"Generate a title for"}'


@pytest.mark.parametrize(
    ("limit", "effort", "body", "is_side", "difference"),
    [
        (1000, None, TITLED, True, None),
        (LIMIT, "max", TITLED, False, None),
        (1001, None, TITLED, False, ("output_limit", "1000")),
        (1000, None, b"{}", False, ("output_limit", str(LIMIT))),
        (LIMIT, "max", b"{}", False, None),
    ],
    ids=["as declared", "as a main one", "as neither", "without the fingerprint", "main"],
)
def test_a_side_request_is_one_only_on_its_own_terms(
    limit: int,
    effort: str | None,
    body: bytes,
    is_side: bool,
    difference: tuple[str, str] | None,
) -> None:
    request = asked(max_tokens=limit, reasoning_effort=effort)
    side, found = judge(spec(side_requests=(TITLE,)), request, body, exchange=3)
    assert side == ("title" if is_side else None)
    assert (found and (found.field, found.declared)) == difference

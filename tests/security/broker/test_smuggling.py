"""Attack 22, and what belongs to it: no framing makes two requests of one, or hides one in another.

Everything is sent raw to a live broker, and read raw where it arrives.
"""

import pytest

from fakes.raw_sink import ANSWER_BODY
from security.broker.framing_cases import ACCEPTED, REFUSED, SECOND, Case, length
from security.broker.raw_client import (
    BODY,
    OURS,
    Reply,
    Target,
    assert_refused,
)


def ids(cases: list[Case]) -> list[str]:
    assert len({case.name for case in cases}) == len(cases)
    return [case.name for case in cases]


def bytes_of(case: Case, target: Target) -> bytes:
    head = case.before + target.head(*case.fields, line=case.line, end=case.end)
    return (head + case.body).replace(b"@LEASE@", target.lease.encode())


@pytest.mark.parametrize("case", REFUSED, ids=ids(REFUSED))
def test_attack_22_refused(target: Target, case: Case) -> None:
    assert_refused(target.send(bytes_of(case, target), half_close=case.waits))
    target.assert_nothing_came_but()


@pytest.mark.parametrize("case", ACCEPTED, ids=ids(ACCEPTED))
def test_attack_22_framed_anew(target: Target, case: Case) -> None:
    reply = target.send(bytes_of(case, target))
    assert (reply.status, reply.body) == (200, ANSWER_BODY)
    target.assert_nothing_came_but(BODY)


def test_attack_22_the_cases_are_many() -> None:
    assert len(REFUSED) + len(ACCEPTED) >= 60


@pytest.mark.parametrize("case", [REFUSED[0], REFUSED[26], ACCEPTED[0]], ids=["a", "b", "c"])
def test_attack_22_a_cut_at_any_byte_of_the_head_changes_nothing(
    target: Target, case: Case
) -> None:
    data = bytes_of(case, target)
    head = data.index(b"\r\n\r\n") + 4
    for cut in range(1, head + 1, 7):
        reply = target.send(data[:cut], data[cut:])
        assert (reply.status == 200) is (case in ACCEPTED), cut
    accepted = len(range(1, head + 1, 7)) if case in ACCEPTED else 0
    target.assert_nothing_came_but(*[BODY] * accepted)


def test_attack_23_no_field_of_this_hop_and_no_trailer_travels(target: Target) -> None:
    target.send(bytes_of(ACCEPTED[ids(ACCEPTED).index("trailers that pay")], target))
    target.send(bytes_of(ACCEPTED[ids(ACCEPTED).index("hop-by-hop fields")], target))
    for request in target.sink.taken():
        assert {name for name, _ in request.fields} <= OURS
        assert b"sk-x" not in request.head


def test_attack_23_only_the_first_of_pipelined_requests_is_one(target: Target) -> None:
    reply = target.send(
        target.head(length()) + BODY + SECOND.replace(b"@LEASE@", target.lease.encode()) * 5
    )
    assert reply == Reply(200, ANSWER_BODY)
    target.assert_nothing_came_but(BODY)

"""Attacks 25 and 26: bodies that two JSON parsers could understand differently never leave."""

import json

import pytest

from fakes.raw_sink import ANSWER_BODY
from fakes.refusals import constant_reply
from security.broker.json_texts import (
    ACCEPTED,
    DUPLICATES,
    EITHER_ACCEPTED,
    EITHER_REFUSED,
    REFUSED,
)
from security.broker.raw_client import BODY, Target
from stanchion.broker.plane.json_gate import BodyError, read_object, read_value

TAKEN = {**ACCEPTED, **EITHER_ACCEPTED}
NOT_TAKEN = {**REFUSED, **EITHER_REFUSED, **DUPLICATES}


@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_attack_26_valid_json_is_read_as_another_parser_reads_it(text: bytes) -> None:
    assert read_value(text) == json.loads(text)


@pytest.mark.parametrize("text", NOT_TAKEN.values(), ids=NOT_TAKEN)
def test_attack_26_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(BodyError):
        read_value(text)
    with pytest.raises(BodyError):
        read_object(b'{"x":' + text + b"}")


def test_the_suite_covers_every_category() -> None:
    assert len(ACCEPTED) + len(DUPLICATES) >= 95
    assert len(REFUSED) >= 188
    assert len(EITHER_REFUSED) + len(EITHER_ACCEPTED) >= 35


def body_with(text: bytes) -> bytes:
    """In a list: objects right below the body hold settings, and those have a policy too."""
    return BODY[:-1] + b',"x":[{"v":' + text + b"}]}"


def test_attack_26_a_live_broker_forwards_what_is_valid_byte_for_byte(target: Target) -> None:
    bodies = [body_with(text) for name, text in TAKEN.items() if name != "64 arrays"]
    for body in bodies:
        assert target.ask(body=body).body == ANSWER_BODY, body[:200]
    target.assert_nothing_came_but(*bodies)


@pytest.mark.parametrize("texts", [REFUSED, EITHER_REFUSED, DUPLICATES], ids=["n", "i", "twice"])
def test_attack_26_a_live_broker_answers_anything_else_with_a_constant(
    target: Target, texts: dict[str, bytes]
) -> None:
    refusal = (400, constant_reply("bad_body"))
    for name, text in texts.items():
        reply = target.ask(body=body_with(text))
        assert (reply.status, reply.body) == refusal, name
    target.assert_nothing_came_but()

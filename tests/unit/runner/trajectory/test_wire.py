"""What a bundle says of its completed responses."""

import hashlib

import msgspec
import pytest

from fakes.conversations import answer, bundle
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.protocol.usage import Usage
from stanchion.runner.trajectory.wire import completion_tokens, prompt_tokens, read_wire


def test_only_what_was_answered_whole_is_a_response() -> None:
    cut = Answered(result=ExchangeResult.TRUNCATED)
    data = bundle([answer("a"), cut, answer()], sessions=["s", "s", None])
    wire = read_wire(data)

    assert [one.exchange for one in wire.responses] == [1, 3]
    assert [one.session for one in wire.responses] == ["s", None]
    assert [(one.calls, one.ids) for one in wire.sent_calls] == [(1, ("a",)), (0, ())]
    assert wire.closing is not None
    digests = {hashlib.sha256(line).hexdigest() for line in data.splitlines()}
    assert {one.record_sha256 for one in wire.responses} <= digests


def test_lines_of_a_later_version_are_passed_over() -> None:
    data = bundle([answer("a")], closed=False) + b'{"type":"later"}\n'
    wire = read_wire(data)
    assert (len(wire.responses), wire.closing) == (1, None)


@pytest.mark.parametrize(
    ("includes", "usage", "prompt"),
    [
        (True, Usage(input_tokens=10, cache_read_tokens=4), 10),
        (False, Usage(input_tokens=10, cache_read_tokens=4, cache_write_tokens=1), 15),
        (False, Usage(input_tokens=10), 10),
        (None, Usage(input_tokens=10), 10),
        (None, Usage(input_tokens=10, cache_read_tokens=4), None),
        (False, Usage(cache_read_tokens=4), None),
        (True, None, None),
    ],
)
def test_the_prompt_is_all_input_or_unknown(
    includes: bool | None, usage: Usage | None, prompt: int | None
) -> None:
    assert prompt_tokens(answer(usage=usage, input_includes_cache=includes)) == prompt


@pytest.mark.parametrize(
    ("includes", "reasoning", "completion"),
    [(True, 2, 5), (False, 2, 7), (False, None, 5), (None, 2, None), (None, None, 5)],
)
def test_the_completion_is_all_output_or_unknown(
    includes: bool | None, reasoning: int | None, completion: int | None
) -> None:
    usage = Usage(output_tokens=5, reasoning_tokens=reasoning)
    answered = answer(usage=usage, output_includes_reasoning=includes)
    assert completion_tokens(answered) == completion
    assert completion_tokens(msgspec.structs.replace(answered, usage=None)) is None

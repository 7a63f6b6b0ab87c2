"""Whatever a provider sends as JSON, it is read without a crash, and a whole record comes of it."""

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.protocol.codec import encode
from stanchion.protocol.dialects import Dialect

_NAMES = """
type object model choices index delta message content text role finish_reason usage error code
status param metadata raw detail msg tool_calls function_call function name arguments id reasoning
reasoning_content reasoning_details thinking_blocks thinking signature data summary prompt_tokens
completion_tokens total_tokens completion_tokens_details reasoning_tokens input_tokens output_tokens
content_block stop_reason partial_json response output item incomplete_details reason candidates
parts functionCall args finishReason usageMetadata promptTokenCount thoughtsTokenCount details
retryDelay extra_content google thought_signature
"""
NAMES = st.sampled_from(re.findall(r"\w+", _NAMES))
WORDS = st.sampled_from(
    [
        "stop",
        "error",
        "message_start",
        "content_block_delta",
        "tool_use",
        "thinking",
        "<think>x",
        "response.completed",
        "response.output_item.done",
        "message_stop",
        "STOP",
        "",
        "1e9",
        "x",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)
DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=6) | VALUES


def events(document: object) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def whole(document: object) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("form", "send"), [(Form.EVENTS, events), (Form.JSON, whole)], ids=["events", "whole"]
)
@pytest.mark.parametrize("dialect", Dialect)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(documents=st.lists(DOCUMENTS, min_size=1, max_size=4), status=st.sampled_from([200, 429]))
def test_a_record_comes_of_it(
    dialect: Dialect,
    form: Form,
    send: Callable[[object], bytes],
    documents: list[object],
    status: int,
) -> None:
    tap = ResponseReader(READERS[dialect], status=status, form=form, output_limit=9)
    for document in documents[: None if form is Form.EVENTS else 1]:
        data = send(document)
        tap.holds_from(data)
        tap.passed(data, 0.0)
        assert tap.terminal or tap.undecided in {True, False}
    assert encode(tap.answered(complete=True))

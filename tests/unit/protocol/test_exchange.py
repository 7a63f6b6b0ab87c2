import pytest

from stanchion.protocol.exchange import Answered, ExchangeResult


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        (Answered(result=ExchangeResult.COMPLETED, text_present=True), True),
        (Answered(result=ExchangeResult.COMPLETED, tool_calls=1), True),
        (Answered(result=ExchangeResult.COMPLETED, tool_calls=0), False),
        (Answered(result=ExchangeResult.COMPLETED), False),
        (Answered(result=ExchangeResult.TRUNCATED, text_present=True), False),
    ],
)
def test_content_is_text_or_a_whole_tool_call_of_a_completed_response(
    answered: Answered, expected: bool
) -> None:
    assert answered.has_content is expected

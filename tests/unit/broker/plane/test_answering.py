import msgspec
import pytest

from stanchion.broker.plane.answering import MAX_CALL_IDS, WORDS, Came, answered
from stanchion.broker.plane.dialects.base import ProviderError, Told
from stanchion.broker.plane.dialects.figures import Reported
from stanchion.protocol.exchange import Answered, AnswerFlag, ErrorClass, ExchangeResult, Finish

NOTHING = Told(
    error=None, finish=None, finish_raw=None, model=None, reported=Reported(), reasoning=False,
    text=False, tool_calls=0, cut_calls=0,
)  # fmt: skip
SPOKEN = msgspec.structs.replace(NOTHING, finish=Finish.STOP, finish_raw="stop", text=True)
FAILED = msgspec.structs.replace(SPOKEN, error=ProviderError(words="overloaded"))
WELL = Came(
    status=200, complete=True, whole=True, read=True, client_gone=False, sha256="aa", size_bytes=2
)


def amounts(told: Told, *, limit: int | None = None, **came: object) -> Answered:
    how = msgspec.structs.replace(WELL, **came)
    return answered(told, how, output_limit=limit, mask=lambda text: text.replace("KEY", "***"))


@pytest.mark.parametrize(
    ("told", "came", "result"),
    [
        (SPOKEN, {}, ExchangeResult.COMPLETED),
        (SPOKEN, {"whole": False}, ExchangeResult.TRUNCATED),
        (NOTHING, {}, ExchangeResult.TRUNCATED),
        (NOTHING, {"read": False}, ExchangeResult.UNREADABLE),
        (NOTHING, {"read": False, "complete": False}, ExchangeResult.TRUNCATED),
        (FAILED, {}, ExchangeResult.PROVIDER_ERROR),
        (FAILED, {"client_gone": True}, ExchangeResult.CLIENT_GONE),
        (NOTHING, {"status": 400}, ExchangeResult.PROVIDER_ERROR),
        (
            msgspec.structs.replace(SPOKEN, finish=Finish.ERROR),
            {},
            ExchangeResult.PROVIDER_ERROR,
        ),
    ],
)
def test_what_goes_before_what(told: Told, came: dict[str, object], result: ExchangeResult) -> None:
    assert amounts(told, **came).result is result


def test_an_error_is_classed_and_a_broken_answer_is_the_protocols() -> None:
    assert amounts(FAILED, status=529).error_class is ErrorClass.OVERLOADED
    assert amounts(NOTHING).error_class is ErrorClass.UPSTREAM_PROTOCOL
    assert amounts(SPOKEN).error_class is None


def test_of_what_could_not_be_read_only_what_was_seen_is_known() -> None:
    blind = amounts(NOTHING, read=False)
    assert (blind.text_present, blind.tool_calls, blind.cut_tool_calls) == (None, None, None)
    assert amounts(SPOKEN, read=False).text_present is True
    assert amounts(NOTHING).text_present is False


def test_reasoning_is_absent_only_from_an_answer_that_is_whole() -> None:
    thinking = msgspec.structs.replace(NOTHING, reasoning=True)
    assert [amounts(told).reasoning_present for told in (SPOKEN, NOTHING, thinking)] == [
        False, None, True,
    ]  # fmt: skip


def test_words_are_masked_before_they_are_shortened() -> None:
    long = ProviderError(words="x" * (WORDS - 1) + "KEY")
    told = msgspec.structs.replace(
        FAILED, error=long, model="KEY", call_ids=("KEY",) * (MAX_CALL_IDS + 1)
    )
    found = amounts(told)
    assert found.error_words == "x" * (WORDS - 1) + "*"
    assert (found.model_served, found.response_id) == ("***", None)
    assert found.tool_call_ids == ("***",) * MAX_CALL_IDS


def test_a_missing_usage_is_flagged_and_says_why() -> None:
    assert amounts(SPOKEN).flags == (AnswerFlag.USAGE_ABSENT,)
    assert amounts(NOTHING).flags == ()
    assert amounts(SPOKEN).usage_why == "the provider reported no usage"
    assert amounts(SPOKEN, client_gone=True).usage_why == "the client left before usage came"


def test_words_and_figures_that_cannot_be_are_told_by_their_names() -> None:
    reported = Reported(malformed={"input_tokens": "-7"}, contradicted=True)
    told = msgspec.structs.replace(SPOKEN, reported=reported, malformed={"model_served": "3"})
    found = amounts(told)
    assert found.malformed == {"model_served": "3", "usage.input_tokens": "-7"}
    assert AnswerFlag.USAGE_CONTRADICTION in found.flags

import dataclasses

import pytest

from stanchion.rehearsal.dialects import anthropic_messages, openai_chat, openai_responses
from stanchion.rehearsal.dialects.gemini import Gemini
from stanchion.rehearsal.dialects.reply import Dialect, End, Identity, Piece, Reply


@pytest.mark.parametrize(
    "dialect",
    [openai_chat, openai_responses, anthropic_messages, Gemini(model="m", action="", alt=None)],
)
def test_a_dialect_module_has_the_members_of_the_protocol(dialect: Dialect) -> None:
    for name in ("presented_key", "understand", "render", "refuse", "error_event", "models"):
        assert callable(getattr(dialect, name))
    assert dialect.REQUEST_ID_HEADER.endswith("request-id")
    assert dialect.WRONG_KEY.status in {400, 401}  # Google's is a bad request


def test_a_reply_ends_and_is_chunked_unless_said_otherwise() -> None:
    reply = Reply(status=200, content_type="text/plain", pieces=(Piece(delay_ms=0, data=b"a"),))
    assert reply.end is End.CLEAN
    assert (reply.size_bytes, reply.drip, reply.headers) == (None, None, ())


def test_the_request_id_is_made_from_the_token() -> None:
    assert Identity(token="ab12", created_s=0).request_id == "req_ab12"


def test_a_reply_cannot_be_changed_on_its_way_to_the_wire() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Piece(delay_ms=0, data=b"a").data = b"b"  # type: ignore[misc]

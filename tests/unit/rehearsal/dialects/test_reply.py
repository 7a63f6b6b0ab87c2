import dataclasses

import pytest

from stanchion.rehearsal.dialects import openai_chat
from stanchion.rehearsal.dialects.reply import Dialect, Piece, Reply


def test_a_dialect_module_has_the_functions_of_the_protocol() -> None:
    dialect: Dialect = openai_chat
    for name in ("understand", "render", "refuse"):
        assert callable(getattr(dialect, name))


def test_a_reply_ends_and_is_chunked_unless_said_otherwise() -> None:
    reply = Reply(status=200, content_type="text/plain", pieces=(Piece(delay_ms=0, data=b"a"),))
    assert reply.ends
    assert not reply.sized


def test_a_reply_cannot_be_changed_on_its_way_to_the_wire() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Piece(delay_ms=0, data=b"a").data = b"b"  # type: ignore[misc]

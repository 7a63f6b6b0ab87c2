import json
import re

import pytest

from stanchion.broker.plane.http_gate import Denial
from stanchion.broker.plane.replies import constant_reply, models_reply
from stanchion.protocol.dialects import Dialect


@pytest.mark.parametrize("word", [denial.word for denial in Denial])
@pytest.mark.parametrize("dialect", Dialect)
def test_every_denial_has_its_body_in_each_dialect(word: str, dialect: Dialect) -> None:
    document = json.loads(constant_reply(word, dialect, 451))
    error = document.pop("error")
    assert error.pop("message").startswith("stanchion: ")
    assert (document, error) == {
        Dialect.OPENAI_CHAT: ({}, _openai(word)),
        Dialect.OPENAI_RESPONSES: ({}, _openai(word)),
        Dialect.ANTHROPIC_MESSAGES: ({"type": "error"}, {"type": f"stanchion_{word}"}),
        Dialect.GEMINI: ({}, {"code": 451, "status": f"STANCHION_{word.upper()}"}),
    }[dialect]


def _openai(word: str) -> dict[str, object]:
    return {"type": "stanchion_error", "param": None, "code": f"stanchion_{word}"}


def test_no_sentence_invites_a_retry() -> None:
    """OpenCode takes such words in any body for a passing failure."""
    words = ("mismatch", "forbidden", "unauthorized", "upstream_unreachable", "no_receipt")
    for word in (*words, "account_tripped", "budget_spent", "held_too_long"):
        for dialect in Dialect:
            text = constant_reply(word, dialect, 403).decode()
            assert not re.search(
                r"rate limit|overloaded|try again|too many requests", text, re.IGNORECASE
            )


def test_models_are_listed_as_each_dialect_lists_them() -> None:
    listed = json.loads(models_reply("m"))
    assert (listed["object"], listed["has_more"]) == ("list", False)
    assert [(entry["id"], entry["object"], entry["type"]) for entry in listed["data"]] == [
        ("m", "model", "model")
    ]
    assert listed["models"] == [{"name": "models/m"}]

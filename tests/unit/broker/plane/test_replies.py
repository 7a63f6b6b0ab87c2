import json
import re

import pytest

from stanchion.broker.plane.http_gate import Denial
from stanchion.broker.plane.replies import constant_reply, models_reply


@pytest.mark.parametrize("word", [denial.word for denial in Denial])
def test_every_denial_has_its_body(word: str) -> None:
    document = json.loads(constant_reply(word))
    error = document["error"]
    assert document["type"] == "error"  # Anthropic's envelope
    assert error["code"] == f"stanchion_{word}"
    assert error["message"].startswith("stanchion: ")


def test_no_sentence_invites_a_retry() -> None:
    """OpenCode takes such words in any body for a passing failure."""
    words = ("mismatch", "forbidden", "unauthorized", "upstream_unreachable", "no_receipt")
    for word in (*words, "account_tripped", "budget_spent", "held_too_long"):
        text = constant_reply(word).decode()
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

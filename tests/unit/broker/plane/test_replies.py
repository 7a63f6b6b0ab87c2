import json
import re

import pytest

from stanchion.broker.plane.http_gate import Denial
from stanchion.broker.plane.replies import constant_reply


@pytest.mark.parametrize("word", [denial.word for denial in Denial])
def test_every_denial_has_its_body(word: str) -> None:
    error = json.loads(constant_reply(word))["error"]
    assert error["code"] == f"stanchion_{word}"
    assert error["message"].startswith("stanchion: ")


def test_no_sentence_invites_a_retry() -> None:
    """OpenCode takes such words in any body for a passing failure."""
    for word in ("mismatch", "forbidden", "unauthorized", "upstream_unreachable", "no_receipt"):
        text = constant_reply(word).decode()
        assert not re.search(
            r"rate limit|overloaded|try again|too many requests", text, re.IGNORECASE
        )

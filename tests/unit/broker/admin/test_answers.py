import json

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from stanchion.broker.admin.answers import Handler, constant_errors, json_answer
from stanchion.broker.receipts.event_store import CursorGoneError
from stanchion.broker.receipts.ledger import LedgerError
from stanchion.protocol.refusal import RefusedError, refuse


def fails_with(error: Exception) -> Handler:
    async def handler(_: web.Request) -> web.StreamResponse:
        raise error

    return handler


def refusal(word: str) -> RefusedError:
    return refuse(word, field="f", value=None, rule="r", remedy="m")


@pytest.mark.parametrize(
    ("error", "status", "word"),
    [
        (refusal("run_unknown"), 404, "run_unknown"),
        (refusal("attempt_exists"), 409, "attempt_exists"),
        (refusal("effort_unknown"), 422, "effort_unknown"),
        (CursorGoneError("00112233.7"), 410, "cursor_gone"),
        (web.HTTPNotFound(), 404, "admin_http"),
        (LedgerError("full"), 503, "admin_ledger"),
        (RuntimeError("CANARY"), 500, "admin_internal"),
    ],
)
async def test_every_failure_is_an_error_reply(error: Exception, status: int, word: str) -> None:
    request = make_mocked_request("GET", "/")
    answer = await constant_errors(request, fails_with(error))
    assert isinstance(answer, web.Response)
    assert answer.status == status
    assert isinstance(answer.body, bytes)
    body = json.loads(answer.body)
    assert body["error"]["id"] == word
    assert body["oldest"] == ("00112233.7" if word == "cursor_gone" else None)
    assert b"CANARY" not in answer.body


def test_an_answer_is_one_json_document() -> None:
    answer = json_answer({"a": 1}, status=201)
    assert (answer.status, answer.body, answer.content_type) == (
        201,
        b'{"a":1}',
        "application/json",
    )

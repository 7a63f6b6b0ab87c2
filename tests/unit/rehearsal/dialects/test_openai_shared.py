import json

import pytest

from stanchion.rehearsal.dialects.openai_shared import KEY_REFUSED, error_document, model_list
from stanchion.rehearsal.turns import Refusal


@pytest.mark.parametrize(
    ("refusal", "kind", "code"),
    [
        (Refusal(status=400, message="no"), "invalid_request_error", None),
        (Refusal(status=429, message="no"), "requests", "rate_limit_exceeded"),
        (Refusal(status=429, message="no", code="quota"), "requests", "quota"),
        (Refusal(status=503, message="no"), "server_error", None),
        (Refusal(status=503, message="no", kind="odd"), "odd", None),
        (KEY_REFUSED, "invalid_request_error", "invalid_api_key"),
    ],
)
def test_an_error_has_openais_envelope(refusal: Refusal, kind: str, code: str | None) -> None:
    assert error_document(refusal) == {
        "error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": code}
    }


def test_the_model_list_has_one_model() -> None:
    document = json.loads(model_list(12).pieces[0].data)
    assert document["object"] == "list"
    assert [model["created"] for model in document["data"]] == [12]

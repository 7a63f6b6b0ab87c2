"""What OpenAI's two APIs have in common: the error's envelope and the list of models.

The shapes follow OpenAI's public API reference ("Error codes", "List models"). It decides
documents and must never read a request.
"""

from stanchion.rehearsal.dialects.building import Json, whole
from stanchion.rehearsal.dialects.reply import Reply
from stanchion.rehearsal.turns import Refusal

MODEL_ID = "rehearsal"
KEY_REFUSED = Refusal(
    status=401,
    message="Incorrect API key provided. Send the rehearsal's key as Authorization: Bearer KEY.",
    code="invalid_api_key",
)


def error_document(refusal: Refusal) -> Json:
    """An error in its envelope."""
    error = {
        "message": refusal.message,
        "type": refusal.kind or _error_type(refusal.status),
        "param": refusal.param,
        "code": refusal.code or ("rate_limit_exceeded" if refusal.status == 429 else None),
    }
    return {"error": error}


def model_list(created_s: int) -> Reply:
    """One model. Requests may name any other as well."""
    model = {"id": MODEL_ID, "object": "model", "created": created_s, "owned_by": "rehearsal"}
    return whole(200, {"object": "list", "data": [model]})


def _error_type(status: int) -> str:
    if status == 429:
        return "requests"
    return "server_error" if status >= 500 else "invalid_request_error"

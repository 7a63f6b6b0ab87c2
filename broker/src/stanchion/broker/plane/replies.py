"""Every body that the broker itself writes on the model socket: constant, echoing nothing. Pure.

Each dialect has its own error object, and the word stands where the vendor's SDK reads one. The
sentences have no words that harnesses take for a passing failure (no "rate limit", no "try again").

Sources: what openai 3.57, anthropic 2.14 and google-genai 3.6 make of an error body
(`tests/conformance/sdk`).
"""

from collections.abc import Callable
from typing import Final

import msgspec

from stanchion.protocol.dialects import Dialect

_SENTENCES = {
    "bad_request": "stanchion: the request is not valid HTTP/1.1 for this socket.",
    "unauthorized": "stanchion: no valid lease.",
    "forbidden": "stanchion: the attempt is being stopped; no further request is served.",
    "account_tripped": "stanchion: the provider refuses the account; no request is sent under it.",
    "budget_spent": "stanchion: the attempt's budget is spent.",
    "held_too_long": "stanchion: the request was held for its turn under the account.",
    "mismatch": "stanchion: the request differs from the declared terms of the attempt.",
    "not_counted": "stanchion: tokens are not counted here.",
    "not_found": "stanchion: this route is not served.",
    "too_large": "stanchion: the request body is too large.",
    "encoded_body": "stanchion: send the request body without a content encoding.",
    "head_too_large": "stanchion: the request head is too large.",
    "bad_body": "stanchion: the request body is not one strict JSON object.",
    "bodies_full": "stanchion: the attempt has too many request bytes under way.",
    "field_denied": "stanchion: the request has a field that this profile does not allow.",
    "two_models": "stanchion: the request names one model in its path and another in its body.",
    "no_receipt": "stanchion: the request could not be put on record and was not sent.",
    "provider_awaited": "stanchion: the launcher has not presented its provider again yet.",
    "upstream_unreachable": "stanchion: the provider could not be reached.",
    "upstream_timeout": "stanchion: the provider did not begin to answer in time.",
    "upstream_protocol": "stanchion: the provider's answer was not understood.",
    "upstream_redirect": "stanchion: the provider answered with a redirect, which is not followed.",
    "upstream_encoding": "stanchion: the provider sent an encoding that was not asked for.",
    "upstream_error_too_large": "stanchion: the provider's error body was too large.",
    "internal": "stanchion: internal error.",
}


def _openai(_: int, word: str, sentence: str) -> object:
    """The SDK shows `message`, and has `type`, `code` and `param` on its exception."""
    code = f"stanchion_{word}"
    return {"error": {"message": sentence, "type": "stanchion_error", "param": None, "code": code}}


def _anthropic(_: int, word: str, sentence: str) -> object:
    """The SDK shows the whole, and has the inner `type` on its exception."""
    return {"type": "error", "error": {"type": f"stanchion_{word}", "message": sentence}}


def _gemini(status: int, word: str, sentence: str) -> object:
    """The SDK has `code`, `status` and `message` on its exception; `status` is in capitals."""
    return {"error": {"code": status, "message": sentence, "status": f"STANCHION_{word.upper()}"}}


_SHAPES: Final[dict[Dialect, Callable[[int, str, str], object]]] = {
    Dialect.OPENAI_CHAT: _openai,
    Dialect.OPENAI_RESPONSES: _openai,
    Dialect.ANTHROPIC_MESSAGES: _anthropic,
    Dialect.GEMINI: _gemini,
}


def constant_reply(word: str, dialect: Dialect, status: int) -> bytes:
    """The body for a word of the table; `status` is that of the answer, where the shape has it."""
    return msgspec.json.encode(_SHAPES[dialect](status, word, _SENTENCES[word]))


def models_reply(model: str) -> bytes:
    """The one model of an attempt, as OpenAI, Anthropic and Gemini list models."""
    entry = {"id": model, "object": "model", "owned_by": "stanchion", "type": "model"}
    entry["display_name"] = model
    listed = {"object": "list", "data": [entry], "models": [{"name": f"models/{model}"}]}
    return msgspec.json.encode({**listed, "has_more": False, "first_id": model, "last_id": model})

"""The model that stands in a request's path, as Gemini's API has it, and not in the body. Pure.

Source: Gemini API reference v1beta, `POST /v1beta/{model=models/*}:generateContent`; google-genai
asks for v1 since its version 3 (`GOOGLE_AI_API_DEFAULT_VERSION`), others for v1beta. Of the
caller's path only a word of a narrow grammar is kept: no escape, no slash, no second colon. What
goes upstream is built from our own template and that word.
"""

import re
from typing import NamedTuple

import msgspec

from stanchion.protocol.exchange import Asked

MAX_MODEL = 128
FOLDER = "/v1beta/models/"
STABLE_FOLDER = "/v1/models/"
_FOLDERS = (FOLDER, STABLE_FOLDER)
PLACE = "{model}"
"""Where a template has the model. No target holds it as it stands: braces are outside the grammar
of a model, and a template is never compared with a target."""
EVENTS = "?alt=sse"
"""The query that asks for a stream of events."""

_MODEL = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*\Z", re.ASCII)


class Addressed(NamedTuple):
    """A target that names a model."""

    folder: str
    model: str
    action: str
    """What follows the model's colon, the query too; it must still equal an entry of the table."""


def addressed(target: str) -> Addressed | None:
    """The parts of a target; None = it has no model that could be sent on."""
    if not target.startswith(_FOLDERS):
        return None
    folder = FOLDER if target.startswith(FOLDER) else STABLE_FOLDER
    model, colon, action = target.removeprefix(folder).partition(":")
    return Addressed(folder, model, action) if colon and is_addressable(model) else None


def is_addressable(model: str) -> bool:
    """Whether a model's id can stand in a path."""
    return len(model) <= MAX_MODEL and _MODEL.match(model) is not None


def path_to(template: str, model: str | None) -> str:
    """The path upstream."""
    return template if model is None else template.replace(PLACE, model)


def with_path(asked: Asked, template: str, model: str | None) -> Asked | None:
    """The request's words with those of its path; None = the body names another model.

    `model`: None where the dialect has it in the body.
    """
    if model is None:
        return asked
    if asked.model not in {None, model, f"models/{model}"}:
        return None
    return msgspec.structs.replace(asked, model=model, stream=template.endswith(EVENTS))

from dataclasses import dataclass

import pytest

from fakes.launches import LIMIT, MODEL, spec
from stanchion.broker.plane.admission import Leaving, Refusal, admitted, leaving
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.http_gate import UPSTREAM, Route
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Asked
from stanchion.protocol.launch import Correction

BODY = b'{"model":"%b","max_tokens":%d,"store":%b}'
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Came:
    route: Route
    body: bytes
    model: str | None = None


def body(store: bytes = b"false") -> bytes:
    return BODY % (MODEL.encode(), LIMIT, store)


def test_the_words_of_a_request_are_read() -> None:
    asked = admitted(Dialect.OPENAI_CHAT, Came(Route.CHAT, body()), NOTHING)
    assert isinstance(asked, Asked)
    assert (asked.model, asked.output_limit) == (MODEL, LIMIT)
    assert asked.fields == ("max_tokens", "model", "store")


@pytest.mark.parametrize(
    ("came", "refusal", "record"),
    [
        (Came(Route.MESSAGES, body()), Refusal(404, "not_found"), "not_found"),
        (Came(Route.CHAT, b"[]"), Refusal(400, "bad_body"), "bad_body"),
        (
            Came(Route.CHAT, body(b"true")),
            Refusal(403, "field_denied", "store"),
            "field_denied: store",
        ),
    ],
)
def test_what_is_not_sent_is_refused_with_a_constant(
    came: Came, refusal: Refusal, record: str
) -> None:
    found = admitted(Dialect.OPENAI_CHAT, came, NOTHING)
    assert found == refusal
    assert isinstance(found, Refusal)
    assert found.record == record


def test_the_model_of_a_path_is_the_requests_and_no_body_may_name_another() -> None:
    came = Came(Route.GENERATE, b"{}", MODEL)
    asked = admitted(Dialect.GEMINI, came, NOTHING)
    assert isinstance(asked, Asked)
    assert (asked.model, asked.stream) == (MODEL, False)
    other = Came(Route.GENERATE, b'{"model":"other"}', MODEL)
    assert admitted(Dialect.GEMINI, other, NOTHING) == Refusal(400, "two_models")


def test_a_request_leaves_as_it_came_but_for_the_declared_corrections() -> None:
    correction = Correction(field="max_tokens", value=LIMIT, why="w")
    came = Came(Route.CHAT, body().replace(b"128000", b"5"))
    asked = admitted(Dialect.OPENAI_CHAT, came, NOTHING)
    assert isinstance(asked, Asked)
    bare, terms = spec(), spec(corrections=(correction,))
    for unchanged in (
        leaving(bare, came, asked, side=None),
        leaving(terms, came, asked, side="title"),
    ):
        assert unchanged == Leaving(came.body, asked, ())
    sent = leaving(terms, came, asked, side=None)
    assert (sent.body, sent.corrections) == (body(), ("max_tokens",))
    assert sent.asked == admitted(Dialect.OPENAI_CHAT, Came(Route.CHAT, body()), NOTHING)


def test_a_correction_beside_another_spelling_of_the_setting_is_not_sent() -> None:
    correction = Correction(field="max_tokens", value=LIMIT, why="w")
    came = Came(Route.CHAT, body().replace(b'"max_tokens":128000', b'"max_new_tokens":999999'))
    asked = admitted(Dialect.OPENAI_CHAT, came, NOTHING)
    assert isinstance(asked, Asked)
    sent = leaving(spec(corrections=(correction,)), came, asked, side=None)
    assert sent.refusal is not None
    assert sent.refusal.record == "field_denied: twin_fields (limit)"


def test_a_field_passes_where_the_profile_allows_it() -> None:
    asked = admitted(Dialect.OPENAI_CHAT, Came(Route.CHAT, body(b"true")), frozenset({"store"}))
    assert isinstance(asked, Asked)


def test_every_dialect_with_a_route_has_its_reader() -> None:
    assert {dialect for dialect, _ in UPSTREAM.values()} == set(READERS)

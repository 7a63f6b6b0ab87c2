"""The cheapest question that a provider answers with a key: its list of models, for nothing.

It decides nothing about the answer. It goes the same way as every model request: same TLS, same
proxy, no redirect followed; and the key is masked in every word that comes back.
"""

import asyncio
import json
import ssl
from dataclasses import dataclass

from stanchion.broker.clock import mono_ms
from stanchion.broker.plane.connecting import connected
from stanchion.broker.plane.dialects.base import ProviderError
from stanchion.broker.plane.dialects.gemini_errors import reason_of
from stanchion.broker.plane.target import Target, question_head
from stanchion.broker.plane.upstream import Ending, ResponseHead, Upstream
from stanchion.protocol.dialects import Dialect

ANSWER_S = 30.0
MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_WORDS = 300
PATHS = {
    Dialect.OPENAI_CHAT: "/models",
    Dialect.OPENAI_RESPONSES: "/models",
    Dialect.ANTHROPIC_MESSAGES: "/v1/models",
    Dialect.GEMINI: "/v1beta/models",
}
HEADERS = {Dialect.ANTHROPIC_MESSAGES: (("anthropic-version", "2023-06-01"),)}


@dataclass(frozen=True, slots=True)
class Reached:
    """The provider answered."""

    status: int
    error: ProviderError
    models: int | None
    """How many it lists; None = it is no list."""
    request_id: str | None
    certificate_sha256: str | None
    duration_ms: int


def question(api: Dialect, target: Target) -> str:
    """The request as people read it."""
    return f"GET {target.path}{PATHS[api]}"


async def ask(target: Target, api: Dialect) -> Reached | str:
    """The answer, or why there is none."""
    started_ms = mono_ms()
    try:
        async with asyncio.timeout(ANSWER_S), connected(target) as up:
            up.send(question_head(target, PATHS[api], HEADERS.get(api, ())), b"")
            head = await up.head
            if not isinstance(head, ResponseHead):
                return "the connection ended before an answer began"
            body = await _body(up)
            seen = up.certificate_sha256
    except TimeoutError:
        return f"no answer within {ANSWER_S:.0f} s"
    except ssl.SSLCertVerificationError as error:
        return f"TLS: the certificate is not trusted ({error.verify_message})"
    except ssl.SSLError as error:
        return f"TLS: {error.reason or 'no handshake'}"
    except OSError as error:
        return error.strerror or str(error)
    return Reached(
        status=head.status,
        error=read_error(body, target),
        models=_count(body),
        request_id=_plain(head.get("request-id") or head.get("x-request-id"), target),
        certificate_sha256=seen,
        duration_ms=mono_ms() - started_ms,
    )


async def _body(up: Upstream) -> bytes:
    """What there is of it, up to a bound."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    body = bytearray()

    def take(data: bytes) -> None:
        body.extend(data)
        if len(body) > MAX_BODY_BYTES:
            end(Ending.CUT)

    def end(_: Ending) -> None:
        if not done.done():
            done.set_result(None)

    up.take_body(take, end)
    await done
    return bytes(body[:MAX_BODY_BYTES])


def read_error(body: bytes, target: Target) -> ProviderError:
    """The provider's own words: its error object, else the beginning of its text."""
    document = _json(body)
    error = document.get("error", document)
    if isinstance(error, dict) and error:
        said = error.get("message")
        return ProviderError(
            code=_plain(reason_of(error.get("details")) or error.get("code"), target),
            kind=_plain(error.get("type") or error.get("status"), target),
            words=_plain(said, target),
        )
    text = error if isinstance(error, str) else body.decode("utf-8", errors="replace")
    return ProviderError(words=_plain(text, target))


def _count(body: bytes) -> int | None:
    document = _json(body)
    listed = document.get("data", document.get("models"))
    return len(listed) if isinstance(listed, list) else None


def _json(body: bytes) -> dict[str, object]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _plain(text: object, target: Target) -> str | None:
    """One printable line, with the key masked."""
    if text is None or isinstance(text, (dict, list)):
        return None
    shown = str(text) if target.key is None else target.key.mask_text(str(text))
    line = " ".join("".join(c if c.isprintable() else " " for c in shown).split())
    return line[:MAX_WORDS] or None

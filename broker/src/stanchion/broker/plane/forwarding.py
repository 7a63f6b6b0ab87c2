"""One request on its way to the provider, and its answer on the way back; as often as it is sent.

It decides what an answer, or the lack of one, is to the harness and to the record. Bodies pass
unchanged; nothing is sent twice here, and nothing goes back twice.
"""

import asyncio
import socket
import ssl
from dataclasses import replace
from typing import Any, Protocol

import msgspec

from stanchion.broker.clock import mono_ms, wall_ms
from stanchion.broker.plane.connecting import connected
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.http_gate import UPSTREAM, returned_headers
from stanchion.broker.plane.masking import Masking
from stanchion.broker.plane.model_socket import ModelConnection, ModelRequest
from stanchion.broker.plane.pacing.retry_after import asked_ms, capped
from stanchion.broker.plane.path_model import path_to
from stanchion.broker.plane.relay import Flow, Limits, Relayed, RelayEnd, relay
from stanchion.broker.plane.replies import constant_reply
from stanchion.broker.plane.response_reader import Form, ResponseReader, form_of
from stanchion.broker.plane.sending import Answer, Pacing, Sending, Sendings
from stanchion.broker.plane.upstream import Ending, ResponseHead, Target, Upstream, request_head
from stanchion.protocol.exchange import Answered, Asked, ErrorClass, ExchangeResult, Mismatch
from stanchion.protocol.launch import LaunchSpec

HEAD_WAIT_S = 300.0
MAX_ERROR_BYTES = 64 * 1024
ERROR_BODY_WAIT_S = 30.0

_HUNG_UP = "the provider closed the connection without an answer"
_HUNG_UP_IDLE = (
    "the provider closed a connection that was kept open, without an answer: whether it had read "
    "the request is not known, so it was not sent again"
)
_NOBODY_KNOWS = "no answer began: nobody knows whether the provider processed the request"


class Desk(Pacing, Protocol):
    """What an exchange needs of its attempt."""

    flows: set[Flow]

    @property
    def spec(self) -> LaunchSpec:
        """The frozen terms."""

    @property
    def enforced(self) -> bool:
        """Whether a mismatch ends the attempt."""

    @property
    def allow_fields(self) -> frozenset[str]:
        """Names of the field policy that the profile relaxes."""

    @property
    def target(self) -> Target:
        """Where requests go."""

    @property
    def stopping(self) -> bool:
        """Whether no further request is served."""

    def next_exchange(self) -> int:
        """The number of the next request."""

    def denied(self, word: str) -> None:
        """Put a refusal on record."""

    async def note_mismatch(self, asked: Asked, mismatch: Mismatch) -> None:
        """Put a difference on record; under enforce, order the stop."""

    async def admit(self, number: int, asked: Asked) -> bool:
        """Whether the budget has room for it; if not, the stop is ordered."""

    async def note_start(
        self, number: int, asked: Asked, request: ModelRequest, *, side: str | None
    ) -> None:
        """Put the start on record, durably; LedgerError = it is not. `side`: which side request."""

    def note_alive(self, number: int) -> None:
        """The stream carried semantic events."""

    async def note_end(
        self, number: int, answered: Answered, *, scrubbed: bool, sendings: Sendings
    ) -> None:
        """Put the end on record, durably."""


class Forwarding:
    """Of one request, over all its sendings."""

    def __init__(
        self,
        desk: Desk,
        request: ModelRequest,
        down: ModelConnection,
        *,
        number: int,
        asked: Asked,
        sending: Sending,
    ) -> None:
        self._desk = desk
        self._request = request
        self._down = down
        self._number = number
        self._asked = asked
        self._sending = sending
        self.masking = Masking(desk.target.key)
        self._started_ms = mono_ms()
        """Of the last sending, as are the next two."""
        self._first_byte_ms: int | None = None
        self._request_id: str | None = None
        self._certificate: str | None = None

    async def send(self) -> Answer:
        """Once."""
        self._started_ms = mono_ms()
        self._first_byte_ms = self._request_id = self._certificate = None
        try:
            return await self._forward()
        except (OSError, TimeoutError) as error:
            answer = self._unreachable()
            hopeless = isinstance(error, ssl.SSLCertVerificationError) or (
                isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME
            )
            return replace(answer, stands=hopeless or self._down.started)

    async def _forward(self) -> Answer:
        target = self._desk.target
        path = path_to(UPSTREAM[self._request.route][1], self._request.model)
        body = self._request.body
        async with connected(target) as up:
            up.send(request_head(target, path, self._request.forwarded, len(body)), body)
            head = await self._await_head(up)
            if not isinstance(head, ResponseHead):
                return head
            self._first_byte_ms = mono_ms() - self._started_ms
            self._request_id = head.get("x-request-id") or head.get("request-id")
            self._certificate = up.certificate_sha256
            return await self._answer(up, head)

    async def _await_head(self, up: Upstream) -> "ResponseHead | Answer":
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._down.watch(
            on_gone=lambda: None if gone.done() else gone.set_result(None),
            on_pause=up.pause,
            on_resume=up.resume,
        )
        # A model may think for as long as its harness listens; less would ask and pay again.
        head_wait_s = max(HEAD_WAIT_S, self._desk.spec.waits.header_wait_s)
        await _first_of(head_wait_s, up.head, self._desk.revoked, gone)
        if gone.done() and not up.head.done():
            await _first_of(Limits().drain_s, up.head, self._desk.revoked)
        if self._desk.revoked.done():
            revoked = Answered(result=ExchangeResult.REVOKED, ambiguous=up.silent)
            return Answer(revoked, self._down.abort)
        if not up.head.done():
            return self._no_head(client_gone=gone.done())
        head = up.head.result()
        if head is Ending.MALFORMED:
            return self._failed(
                502,
                "upstream_protocol",
                ExchangeResult.UNREADABLE,
                ErrorClass.UPSTREAM_PROTOCOL,
            )
        return self._hung_up(up) if isinstance(head, Ending) else head

    def _hung_up(self, up: Upstream) -> Answer:
        """The connection ended before a head came.

        On one that was kept open the provider may have closed it as idle, or have read the request:
        a POST is not sent again then, the harness decides (RFC 9112, 9.3.1; RFC 9110, 9.2.2).
        """
        answer = self._unreachable()
        words = _HUNG_UP_IDLE if up.reused else _HUNG_UP
        answered = msgspec.structs.replace(
            answer.answered,
            ambiguous=up.sent,
            error_words=words if up.silent else None,
            usage_why=_NOBODY_KNOWS if up.sent else answer.answered.usage_why,
        )
        return replace(answer, answered=answered, stands=up.reused and up.silent)

    def _unreachable(self) -> Answer:
        return self._failed(
            502, "upstream_unreachable", ExchangeResult.UPSTREAM_UNREACHABLE, ErrorClass.CONNECT
        )

    def _no_head(self, *, client_gone: bool) -> Answer:
        if client_gone:
            why = "the client left before the provider began to answer"
            answered = Answered(result=ExchangeResult.CLIENT_GONE, usage_why=why, ambiguous=True)
            return Answer(answered, self._down.abort)
        late = self._failed(
            504, "upstream_timeout", ExchangeResult.TRUNCATED, ErrorClass.UPSTREAM_PROTOCOL
        )
        return replace(late, answered=msgspec.structs.replace(late.answered, ambiguous=True))

    async def _answer(self, up: Upstream, head: ResponseHead) -> Answer:
        encoding = (head.get("content-encoding") or "identity").strip().lower()
        if head.status < 200 or 300 <= head.status < 400:
            return self._refused_answer(head, "upstream_redirect", f"status {head.status}")
        if encoding not in {"identity", ""}:
            return self._refused_answer(head, "upstream_encoding", "an unasked content encoding")
        form = form_of(head.get("content-type"))
        reader = ResponseReader(
            READERS[self._desk.spec.dialect],
            status=head.status,
            form=form,
            output_limit=self._asked.output_limit,
            mask=self.masking.text,
        )
        if head.status >= 300:
            return await self._error_answer(up, head, reader)
        length = head.length if form is not Form.EVENTS else None
        self._sending.accepted()
        self._down.begin(head.status, self.masking.headers(returned_headers(head.headers)), length)
        flow = relay(
            up,
            self._down,
            reader,
            limits=Limits(),
            on_alive=lambda: self._desk.note_alive(self._number),
            scrub=self.masking.new_body(),
        )
        self._desk.flows.add(flow)
        try:
            relayed = await flow.run()
        finally:
            self._desk.flows.discard(flow)
        return self._relayed_answer(reader, relayed)

    def _relayed_answer(self, reader: ResponseReader, relayed: Relayed) -> Answer:
        whole = relayed.end in {RelayEnd.COMPLETE, RelayEnd.TERMINAL}
        gone = relayed.end is RelayEnd.CLIENT_GONE
        answered = self.masking.digested(reader.answered(complete=whole, client_gone=gone))
        if relayed.end is RelayEnd.REVOKED:
            revoked = msgspec.structs.replace(answered, result=ExchangeResult.REVOKED)
            return Answer(revoked, self._down.abort)
        if relayed.end is RelayEnd.IDLE and answered.error_words is None:
            words = "no semantic event for the idle limit"
            answered = msgspec.structs.replace(answered, error_words=words)

        def deliver() -> None:
            self._down.write(relayed.held)
            if whole:
                self._down.finish()
            else:
                self._down.abort()

        return Answer(answered, deliver)

    async def _error_answer(
        self, up: Upstream, head: ResponseHead, reader: ResponseReader
    ) -> Answer:
        body, whole = await _collect(up, self._desk.revoked)
        if self._desk.revoked.done():
            answered = Answered(result=ExchangeResult.REVOKED, status=head.status)
            return Answer(answered, self._down.abort)
        shown = self.masking.whole(body)
        reader.saw(shown)
        gone = self._down.gone
        answered = self.masking.digested(reader.answered(complete=whole, client_gone=gone))
        asked = asked_ms(head.headers, wall_ms=wall_ms())
        asked = reader.retry_after_ms if asked is None else asked
        if not whole:
            reply = constant_reply("upstream_error_too_large")
            return Answer(answered, lambda: self._down.reply(502, reply), asked)
        headers, sent = capped(
            self.masking.headers(returned_headers(head.headers)), status=head.status, asked=asked
        )
        return Answer(answered, lambda: self._down.reply(head.status, shown, headers), asked, sent)

    def _refused_answer(self, head: ResponseHead, word: str, words: str) -> Answer:
        answered = Answered(
            result=ExchangeResult.UNREADABLE,
            status=head.status,
            error_class=ErrorClass.UPSTREAM_PROTOCOL,
            error_words=words,
            usage_why="the answer was refused unread",
        )
        return Answer(answered, lambda: self._down.reply(502, constant_reply(word)))

    def _failed(
        self, status: int, word: str, result: ExchangeResult, error_class: ErrorClass
    ) -> Answer:
        answered = Answered(
            result=result, error_class=error_class, usage_why="no answer came from the provider"
        )
        if self._down.started:
            return Answer(answered, self._down.abort)
        return Answer(answered, lambda: self._down.reply(status, constant_reply(word)))

    def complete(self, answered: Answered) -> Answered:
        """With its times, and who it was that answered."""
        target, secure = self._desk.target, self._certificate is not None
        return msgspec.structs.replace(
            answered,
            provider_request_id=self._request_id and self.masking.text(self._request_id),
            tls_server_name=target.host if secure else None,
            tls_certificate_sha256=self._certificate,
            first_byte_ms=self._first_byte_ms,
            duration_ms=mono_ms() - self._started_ms,
        )


async def _first_of(timeout_s: float, *futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)


async def _collect(up: Upstream, revoked: "asyncio.Future[None]") -> tuple[bytes, bool]:
    """An error body of bounded size, and whether it is whole."""
    done: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
    body = bytearray()

    def take(data: bytes) -> None:
        body.extend(data)
        if len(body) > MAX_ERROR_BYTES:
            end(Ending.CUT)

    def end(ending: Ending) -> None:
        if not done.done():
            done.set_result(ending)

    up.take_body(take, end)
    await _first_of(ERROR_BODY_WAIT_S, done, revoked)
    whole = done.done() and done.result() is Ending.COMPLETE and len(body) <= MAX_ERROR_BYTES
    return bytes(body[:MAX_ERROR_BYTES]), whole

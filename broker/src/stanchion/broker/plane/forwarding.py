"""One request on its way to the provider, and its answer on the way back; as often as it is sent.

It decides what an answer, or the lack of one, is to the harness and to the record. Bodies pass
unchanged; nothing is sent twice here, and nothing goes back twice.
"""

import asyncio
import socket
import ssl

import msgspec

from stanchion.broker.clock import mono_ms, wall_ms
from stanchion.broker.plane.collecting import collect, first_of
from stanchion.broker.plane.connecting import ConnectTimeoutError, obtain, settle
from stanchion.broker.plane.desk import Desk
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.encoded_answer import EncodedAnswer
from stanchion.broker.plane.encoded_body import encoding_of
from stanchion.broker.plane.http_gate import UPSTREAM, returned_headers
from stanchion.broker.plane.masking import Masking
from stanchion.broker.plane.model_socket import ModelConnection, ModelRequest
from stanchion.broker.plane.pacing.retry_after import asked_ms, capped
from stanchion.broker.plane.path_model import path_to
from stanchion.broker.plane.relay import Relayed, RelayEnd, relay
from stanchion.broker.plane.response_reader import Form, ResponseReader, form_of
from stanchion.broker.plane.sending import Answer, Sending
from stanchion.broker.plane.target import request_head
from stanchion.broker.plane.upstream import Ending, ResponseHead, Upstream
from stanchion.protocol.exchange import Answered, Asked, Deadline, ErrorClass, ExchangeResult

_DEADLINES = {
    RelayEnd.IDLE: Deadline.IDLE,
    RelayEnd.READER: Deadline.READER,
    RelayEnd.DRAIN: Deadline.DRAIN,
}
_WHOLE = frozenset({RelayEnd.COMPLETE, RelayEnd.TERMINAL})
_LEFT = frozenset({RelayEnd.CLIENT_GONE, RelayEnd.READER, RelayEnd.DRAIN})
_HUNG_UP = "the provider closed the connection without an answer"
_HUNG_UP_IDLE = (
    "the provider closed a connection that was kept open, without an answer: whether it had read "
    "the request is not known, so it was not sent again"
)
_NOBODY_KNOWS = "no answer began: nobody knows whether the provider processed the request"


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
        gone: asyncio.Future[None] = self._desk.revoked.get_loop().create_future()
        self._down.watch(
            on_gone=lambda: None if gone.done() else gone.set_result(None),
            on_pause=_nothing,
            on_resume=_nothing,
        )
        try:
            return await self._forward(gone)
        except ConnectTimeoutError as error:
            return self._not_connected(str(error), gone)
        except OSError as error:
            hopeless = isinstance(error, ssl.SSLCertVerificationError) or (
                isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME
            )
            return msgspec.structs.replace(
                self._unreachable(), stands=hopeless or self._down.started
            )

    async def _forward(self, gone: "asyncio.Future[None]") -> Answer:
        desk, body = self._desk, self._request.body
        path = path_to(UPSTREAM[self._request.route][1], self._request.model)
        target = desk.target
        until = (gone, desk.revoked)
        up = await obtain(target, connect_s=desk.limits.connect_s, until=until)
        try:
            up.send(request_head(target, path, self._request.forwarded, len(body)), body)
            head = await self._await_head(up, gone)
            if not isinstance(head, ResponseHead):
                return head
            self._first_byte_ms = mono_ms() - self._started_ms
            self._request_id = head.get("x-request-id") or head.get("request-id")
            self._certificate = up.certificate_sha256
            return await self._answer(up, head)
        finally:
            settle(target, up)

    async def _await_head(
        self, up: Upstream, gone: "asyncio.Future[None]"
    ) -> "ResponseHead | Answer":
        # A model may think for as long as its harness listens; less would ask and pay again.
        limits = self._desk.limits
        head_wait_s = max(limits.first_byte_s, self._desk.spec.waits.header_wait_s)
        await first_of(head_wait_s, up.head, self._desk.revoked, gone)
        if gone.done() and not up.head.done():
            await first_of(limits.drain_s, up.head, self._desk.revoked)
        if self._desk.revoked.done():
            revoked = Answered(result=ExchangeResult.REVOKED, ambiguous=up.silent)
            return Answer(revoked, self._down.abort)
        if not up.head.done():
            return self._no_head(head_wait_s, client_gone=gone.done())
        head = up.head.result()
        if head is Ending.MALFORMED:
            return self._failed(
                502,
                "upstream_protocol",
                ExchangeResult.UNREADABLE,
                ErrorClass.UPSTREAM_PROTOCOL,
            )
        return self._hung_up(up) if isinstance(head, Ending) else head

    def _not_connected(self, words: str, gone: "asyncio.Future[None]") -> Answer:
        """In time; or nobody waits for it any more."""
        why = "the request was not sent"
        if self._desk.revoked.done():
            revoked = Answered(result=ExchangeResult.REVOKED, usage_why=why)
            return Answer(revoked, self._down.abort)
        if gone.done():
            left = Answered(result=ExchangeResult.CLIENT_GONE, usage_why=why)
            return Answer(left, self._down.abort)
        late = self._unreachable()
        return _late(late, Deadline.CONNECT, words)

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
        return msgspec.structs.replace(answer, answered=answered, stands=up.reused and up.silent)

    def _unreachable(self) -> Answer:
        return self._failed(
            502, "upstream_unreachable", ExchangeResult.UPSTREAM_UNREACHABLE, ErrorClass.CONNECT
        )

    def _no_head(self, waited_s: float, *, client_gone: bool) -> Answer:
        if client_gone:
            why = "the client left before the provider began to answer"
            answered = Answered(
                result=ExchangeResult.CLIENT_GONE,
                usage_why=why,
                ambiguous=True,
                deadline=Deadline.DRAIN,
            )
            return Answer(answered, self._down.abort)
        late = self._failed(
            504, "upstream_timeout", ExchangeResult.TRUNCATED, ErrorClass.UPSTREAM_PROTOCOL
        )
        late = msgspec.structs.replace(
            late, answered=msgspec.structs.replace(late.answered, ambiguous=True)
        )
        return _late(late, Deadline.FIRST_BYTE, f"no answer began within {waited_s:g} s")

    async def _answer(self, up: Upstream, head: ResponseHead) -> Answer:
        if head.status < 200 or 300 <= head.status < 400:
            return self._refused_answer(head, "upstream_redirect", f"status {head.status}")
        form = form_of(head.get("content-type"))
        reader = ResponseReader(
            READERS[self._desk.spec.dialect],
            status=head.status,
            form=form,
            output_limit=self._asked.output_limit,
            mask=self.masking.text,
        )
        encoding = encoding_of(head.headers)
        if encoding is not None:
            return await self._encoded_answer(up, head, reader, encoding)
        if head.status >= 300:
            return await self._error_answer(up, head, reader)
        self._sending.accepted()
        if form is not Form.EVENTS and up.whole:
            return self._whole_answer(up, head, reader)
        length = head.length if form is not Form.EVENTS else None
        self._down.begin(head.status, self.masking.headers(returned_headers(head.headers)), length)
        flow = relay(
            up,
            self._down,
            reader,
            limits=self._desk.limits,
            on_alive=lambda: self._desk.note_alive(self._number),
            scrub=self.masking.new_body(reader.digest, events=form is Form.EVENTS),
        )
        self._desk.flows.add(flow)
        try:
            relayed = await flow.run()
        finally:
            self._desk.flows.discard(flow)
        return self._relayed_answer(reader, relayed)

    def _whole_answer(self, up: Upstream, head: ResponseHead, reader: ResponseReader) -> Answer:
        """An answer that is no stream and came with its head.

        Nothing of it leaves before its end is on record, so nothing has to be relayed.
        """
        body = up.take_whole()
        shown = self.masking.whole(body)
        reader.saw(shown)
        answered = reader.answered(complete=True, client_gone=self._down.gone)
        headers = self.masking.headers(returned_headers(head.headers))
        return Answer(
            self.masking.digested(answered),
            lambda: self._down.respond(head.status, shown, headers),
        )

    def _relayed_answer(self, reader: ResponseReader, relayed: Relayed) -> Answer:
        whole = relayed.end in _WHOLE
        gone = relayed.end in _LEFT
        answered = self.masking.digested(reader.answered(complete=whole, client_gone=gone))
        if relayed.end is RelayEnd.REVOKED:
            revoked = msgspec.structs.replace(answered, result=ExchangeResult.REVOKED)
            return Answer(revoked, self._down.abort)
        deadline = _DEADLINES.get(relayed.end)
        if deadline is not None:
            words = answered.error_words or self._late_words(deadline)
            answered = msgspec.structs.replace(answered, deadline=deadline, error_words=words)

        def deliver() -> None:
            if whole:
                self._down.finish(relayed.held)
            else:
                self._down.write(relayed.held)
                self._down.abort()

        return Answer(answered, deliver)

    def _late_words(self, deadline: Deadline) -> str | None:
        limits = self._desk.limits
        words = {
            Deadline.IDLE: f"no semantic event for {limits.idle_s:g} s",
            Deadline.READER: f"the client took nothing of the answer for {limits.reader_s:g} s",
        }
        return words.get(deadline)

    async def _encoded_answer(
        self, up: Upstream, head: ResponseHead, reader: ResponseReader, encoding: str
    ) -> Answer:
        if head.status < 300:
            self._sending.accepted()
        answer = EncodedAnswer(
            up,
            head,
            encoding,
            down=self._down,
            reader=reader,
            masking=self.masking,
            revoked=self._desk.revoked,
            limits=self._desk.limits,
        )
        return await answer.answer()

    async def _error_answer(
        self, up: Upstream, head: ResponseHead, reader: ResponseReader
    ) -> Answer:
        limits = self._desk.limits
        body, ending = await collect(
            up,
            max_bytes=limits.error_body_bytes,
            wait_s=limits.error_body_s,
            until=self._desk.revoked,
        )
        whole = ending is Ending.COMPLETE
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
            late = Deadline.ERROR_BODY if ending is None else None
            answered = msgspec.structs.replace(answered, deadline=late)
            refused = "upstream_error_too_large"
            return Answer(answered, lambda: self._down.refuse(502, refused), asked)
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
        return Answer(answered, lambda: self._down.refuse(502, word))

    def _failed(
        self, status: int, word: str, result: ExchangeResult, error_class: ErrorClass
    ) -> Answer:
        answered = Answered(
            result=result, error_class=error_class, usage_why="no answer came from the provider"
        )
        if self._down.started:
            return Answer(answered, self._down.abort)
        return Answer(answered, lambda: self._down.refuse(status, word))

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


def _late(answer: Answer, deadline: Deadline, words: str) -> Answer:
    answered = msgspec.structs.replace(answer.answered, deadline=deadline, error_words=words)
    return msgspec.structs.replace(answer, answered=answered)


def _nothing() -> None:
    """Nothing goes back yet that could be too much."""

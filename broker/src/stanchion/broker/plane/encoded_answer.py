"""An answer in a content encoding that nobody asked for: taken whole, looked into, then decided.

Without the key in it, it goes to the harness as it came, encoding and all. With the key in it, or
where it cannot be looked into, a constant refusal goes back, because masking would change more than
the key. Either way what it said is on record.
"""

import asyncio
import hashlib

import msgspec

from stanchion.broker.clock import wall_ms
from stanchion.broker.plane.collecting import collect
from stanchion.broker.plane.encoded_body import MAX_ENCODED_BYTES, EncodingError, decoded
from stanchion.broker.plane.http_gate import returned_headers
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.masking import Masking
from stanchion.broker.plane.pacing.retry_after import asked_ms, capped
from stanchion.broker.plane.response_reader import ResponseReader
from stanchion.broker.plane.sending import Answer, Listener
from stanchion.broker.plane.upstream import Ending, ResponseHead, Upstream
from stanchion.protocol.exchange import Answered, Deadline, ErrorClass, ExchangeResult


class EncodedAnswer:
    """Of one sending."""

    def __init__(
        self,
        up: Upstream,
        head: ResponseHead,
        encoding: str,
        *,
        down: Listener,
        reader: ResponseReader,
        masking: Masking,
        revoked: "asyncio.Future[None]",
        limits: Limits,
    ) -> None:
        self._up, self._head, self._encoding = up, head, encoding
        self._down, self._reader, self._masking = down, reader, masking
        self._revoked, self._limits = revoked, limits

    async def answer(self) -> Answer:
        """Handed on as it came, or refused."""
        body, ending = await collect(
            self._up,
            max_bytes=MAX_ENCODED_BYTES,
            wait_s=self._limits.idle_s,
            until=self._nobody_waits(),
        )
        if self._revoked.done():
            revoked = Answered(result=ExchangeResult.REVOKED, status=self._head.status)
            return Answer(revoked, self._down.abort)
        if self._down.gone:
            why = "the client left before the whole answer came"
            gone = Answered(
                result=ExchangeResult.CLIENT_GONE, status=self._head.status, usage_why=why
            )
            return Answer(gone, self._down.abort)
        if ending is not Ending.COMPLETE:
            words = f"{self._encoding}: not whole, or more than {MAX_ENCODED_BYTES} bytes"
            deadline = Deadline.IDLE if ending is None else None
            return self._unread(f"an unasked content encoding, {words}", deadline)
        try:
            clean, found = await asyncio.to_thread(self._look_into, body)
        except EncodingError as error:
            return self._unread(str(error))
        return self._decide(body, clean, found=found)

    def _nobody_waits(self) -> "asyncio.Future[None]":
        """Done once the lease ended, or the client left."""
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def end(_: object = None) -> None:
            if not ended.done():
                ended.set_result(None)

        self._revoked.add_done_callback(end)
        ended.add_done_callback(lambda _: self._revoked.remove_done_callback(end))
        self._down.watch(
            on_gone=end,
            on_pause=_nothing,
            on_resume=_nothing,
        )
        if self._down.gone:
            end()
        return ended

    def _look_into(self, body: bytes) -> tuple[bytes, bool]:
        """What it says, without the key, and whether that was in it; in a thread, for its size."""
        plain = decoded(self._encoding, body)
        return self._masking.apart(plain, body, events=self._reader.by_events)

    def _decide(self, body: bytes, clean: bytes, *, found: bool) -> Answer:
        self._reader.saw(clean)
        answered = msgspec.structs.replace(
            self._reader.answered(complete=True, client_gone=self._down.gone),
            body_sha256=hashlib.sha256(body).hexdigest(),
            body_bytes=len(body),
            content_encoding=self._encoding,
        )
        if found:
            return self._refused(answered, f"the key in a body encoded as {self._encoding}")
        headers = self._masking.headers(returned_headers(self._head.headers))
        asked, sent = self._asked_ms(), None
        if self._head.status >= 300:
            headers, sent = capped(headers, status=self._head.status, asked=asked)
        headers.append(("content-encoding", self._encoding))
        return Answer(
            answered, lambda: self._down.reply(self._head.status, body, headers), asked, sent
        )

    def _unread(self, words: str, deadline: Deadline | None = None) -> Answer:
        """What nobody could look into; an error status says something all the same."""
        answered = msgspec.structs.replace(
            self._reader.answered(complete=False),
            body_sha256=None,
            body_bytes=None,
            usage_why="the answer was refused unread",
            content_encoding=self._encoding,
            deadline=deadline,
        )
        return self._refused(answered, words)

    def _refused(self, answered: Answered, words: str) -> Answer:
        if answered.result is ExchangeResult.PROVIDER_ERROR:
            answered = msgspec.structs.replace(answered, error_words=answered.error_words or words)
        else:
            answered = msgspec.structs.replace(
                answered,
                result=ExchangeResult.UNREADABLE,
                error_class=ErrorClass.UPSTREAM_PROTOCOL,
                error_words=words,
            )
        return Answer(
            answered, lambda: self._down.refuse(502, "upstream_encoding"), self._asked_ms()
        )

    def _asked_ms(self) -> int | None:
        asked = asked_ms(self._head.headers, wall_ms=wall_ms())
        return self._reader.retry_after_ms if asked is None else asked


def _nothing() -> None:
    """Nothing goes back until it is decided."""

"""One model request from its body to its last receipt: check, record, send, answer, record.

The story in order. The request leaves only after its exchange.start is durable, and the terminal
event goes back only after its exchange.end is. Bodies pass unchanged; the only bytes of our own are
declared corrections, constant error bodies and the asterisks over an echoed key.
"""

import msgspec

from stanchion.broker.attempts.wire_check import judge
from stanchion.broker.plane.admission import Refusal, admitted, leaving
from stanchion.broker.plane.desk import Desk
from stanchion.broker.plane.forwarding import Forwarding
from stanchion.broker.plane.model_socket import ModelConnection, ModelRequest
from stanchion.broker.plane.sending import Sending
from stanchion.broker.receipts.ledger import LedgerError
from stanchion.protocol.exchange import Asked


async def serve(desk: Desk, request: ModelRequest, down: ModelConnection) -> None:
    """Answer one model request."""
    if desk.stopping:
        _refuse(desk, down, Refusal(403, "forbidden"))
        return
    asked = admitted(desk.spec.dialect, request, desk.allow_fields)
    if isinstance(asked, Refusal):
        _refuse(desk, down, asked)
        return
    number = desk.next_exchange()
    side, difference = judge(desk.spec, asked, request.body, exchange=number)
    sent = leaving(desk.spec, request, asked, side=side)
    if sent.corrections:
        _, difference = judge(desk.spec, sent.asked, request.body, exchange=number)
    if difference is not None:
        await desk.note_mismatch(sent.asked, difference)
        if desk.enforced:
            down.refuse(403, "mismatch")
            return
    if sent.refusal is not None:
        _refuse(desk, down, sent.refusal)
        return
    if not await desk.admit(number, sent.asked):
        _refuse(desk, down, Refusal(403, "budget_spent"))
        return
    try:
        await desk.note_start(
            number, asked, request, side=side, sent=sent.asked, corrections=sent.corrections
        )
    except LedgerError:
        down.refuse(503, "no_receipt")
        return
    if sent.body is not request.body:
        request = msgspec.structs.replace(request, body=sent.body)
    await _carry_out(desk, request, down, number, asked, sent.asked)


def _refuse(desk: Desk, down: ModelConnection, refusal: Refusal) -> None:
    desk.denied(refusal.record)
    down.refuse(refusal.status, refusal.word)


async def _carry_out(
    desk: Desk,
    request: ModelRequest,
    down: ModelConnection,
    number: int,
    asked: Asked,
    sent: Asked,
) -> None:
    """The part of the story after exchange.start: send, answer, record, deliver."""
    sending = Sending(
        desk,
        desk.target.turns,
        down,
        number=number,
        body_sha256=asked.body_sha256,
        waits=desk.spec.waits,
    )
    forwarding = Forwarding(desk, request, down, number=number, asked=sent, sending=sending)
    try:
        answer = await sending.run(forwarding.send)
        await desk.note_end(
            number,
            forwarding.complete(answer.answered),
            scrubbed=forwarding.masking.hit,
            sendings=sending.story(answer),
        )
    except LedgerError:
        down.abort()
        return
    answer.deliver()

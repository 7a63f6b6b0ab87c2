"""One exchange with a provider that is out for something, and what the receipts say of it."""

from fakes.supervisor import Response, ask
from fakes.upstream import Answer, say, upstream
from functional.broker.live import LiveBroker, enrolled
from security.broker.raw_client import BODY
from stanchion.protocol.launch import Waits
from stanchion.protocol.receipt import ExchangeEnd

NO_WAITS = Waits(header_wait_s=0, max_wait_s=0)
STREAMED = BODY[:-1] + b',"stream":true}'
TEXT = say('{"choices":[{"delta":{"content":"hi"}}]}')
STOP = say('{"choices":[{"delta":{},"finish_reason":"stop"}]}')
DONE = say("[DONE]")
WHOLE = b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'
JSON_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


async def answered(broker: LiveBroker, run: str) -> ExchangeEnd:
    while True:
        for record in await broker.records(run):
            if isinstance(record, ExchangeEnd):
                return record


async def exchanged(broker: LiveBroker, answer: Answer) -> tuple[Response, ExchangeEnd]:
    """One request to a provider that answers so."""
    async with (
        upstream(answer) as provider,
        enrolled(broker, provider.port, waits=NO_WAITS) as run,
    ):
        reply = await ask(run.directory, STREAMED, lease=run.lease)
        return reply, await answered(broker, run.id)

"""Attack 36: the key comes back."""

import base64
import json

import msgspec
import pytest

from fakes.launches import KEY
from fakes.raw_sink import ANSWER_BODY
from fakes.upstream import STREAM_HEAD, chunk, response, say, sends, stream
from functional.broker.live import LiveBroker
from security.broker.hostile_provider import DONE, STOP, TEXT, exchanged

STARS = "*" * len(KEY)


def spelled() -> dict[str, str]:
    return {
        "plain": KEY,
        "escaped": "".join(f"\\u{ord(letter):04x}" for letter in KEY),
        "hex": KEY.encode().hex(),
        "base64": base64.b64encode(KEY.encode()).decode(),
        "base64 behind one": base64.b64encode(b"x" + KEY.encode()).decode(),
        "base64 behind two": base64.b64encode(b"xy" + KEY.encode()).decode(),
        "url": "".join(f"%{ord(letter):02X}" for letter in KEY),
    }


@pytest.mark.parametrize("how", spelled())
@pytest.mark.parametrize("where", ["error", "whole", "stream", "stray line"])
async def test_attack_36_the_key_comes_back_in_no_body(
    broker: LiveBroker, how: str, where: str
) -> None:
    text = spelled()[how]
    event = f'{{"choices":[{{"delta":{{"content":"it is {text}"}}}}]}}'
    answers = {
        "error": response(400, f'{{"error":{{"message":"bad key {text}"}}}}'.encode()),
        "whole": response(200, f'{{"choices":[{{"message":{{"content":"{text}"}}}}]}}'.encode()),
        "stream": stream(say(event), STOP, DONE),
        "stray line": stream(f'{{"error":{{"message":"{text}"}}}}\n\n'.encode(), DONE),
    }
    reply, end = await exchanged(broker, answers[where])
    seen = reply.body.decode()
    assert text not in seen
    assert KEY not in json.dumps(msgspec.to_builtins(end))
    assert text not in json.dumps(msgspec.to_builtins(end))
    for start in range(len(text) - 16):
        assert text[start : start + 16] not in seen
    assert end.secret_scrubbed


@pytest.mark.parametrize("name", ["x-request-id", "openai-version", "www-authenticate", "x-echo"])
async def test_attack_36_nor_in_a_header(broker: LiveBroker, name: str) -> None:
    reply, end = await exchanged(broker, response(200, ANSWER_BODY, headers=[(name, f"a{KEY}b")]))
    assert KEY not in str(reply.headers)
    assert KEY not in str(end)


@pytest.mark.parametrize("size", [1, 2, 7, len(KEY) - 1])
async def test_attack_36_however_the_stream_is_cut(broker: LiveBroker, size: int) -> None:
    event = say(f'{{"choices":[{{"delta":{{"content":"it is {KEY}."}}}}]}}')
    pieces = [event[at : at + size] for at in range(0, len(event), size)]
    reply, end = await exchanged(broker, stream(*pieces, STOP, DONE))
    assert reply.body == event.replace(KEY.encode(), STARS.encode()) + STOP + DONE
    assert end.secret_scrubbed


async def test_attack_36_nor_in_a_trailer(broker: LiveBroker) -> None:
    head = STREAM_HEAD + chunk(TEXT) + chunk(STOP + DONE)
    reply, _ = await exchanged(broker, sends(head, f"0\r\nx-echo: {KEY}\r\n\r\n".encode()))
    assert KEY.encode() not in reply.body
    assert (reply.whole, KEY in str(reply.headers)) == (True, False)

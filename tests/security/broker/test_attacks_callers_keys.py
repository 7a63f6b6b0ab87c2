"""Attacks 33 and 34: pooling by a key of the caller's, and the agent's own key."""

import asyncio
import json

import msgspec
import pytest

from fakes.launches import KEY
from fakes.raw_sink import ANSWER_BODY
from fakes.refusals import constant_reply
from fakes.supervisor import ask
from fakes.upstream import response, upstream
from functional.broker.live import LiveBroker, enrolled
from security.broker.raw_client import BODY, Reply, Target
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart

# Attack 33: pooling by a key of the caller's.


async def test_attack_33_a_cache_key_means_nothing_beyond_its_account(broker: LiveBroker) -> None:
    """Forwarded and on record; neither connections, answers nor calls are shared by it."""
    body = BODY[:-1] + b',"prompt_cache_key":"shared","user":"shared"}'
    extra = (("x-request-id", "shared"), ("idempotency-key", "shared"))
    async with (
        upstream(response(200, ANSWER_BODY, headers=[("x-request-id", "one")])) as first,
        upstream(response(200, ANSWER_BODY, headers=[("x-request-id", "two")])) as second,
        enrolled(broker, first.port) as run,
        enrolled(broker, second.port) as other,
    ):
        for attempt, provider, name in ((run, first, "one"), (other, second, "two")):
            reply = await ask(attempt.directory, body, lease=attempt.lease, extra=extra)
            assert reply.headers["x-request-id"] == name
            assert [received.body for received in provider.received] == [body]
            assert "shared" not in str(provider.received[0].headers)
            records = await broker.records(attempt.id)
            start = next(r for r in records if isinstance(r, ExchangeStart))
            end = next(r for r in records if isinstance(r, ExchangeEnd))
            assert {"prompt_cache_key", "user"} <= set(start.asked.fields)
            assert end.answered.provider_request_id == name


# Attack 34: the agent's own key.

OWN = "sk-ant-of-the-agent-0123456789"


@pytest.mark.parametrize(
    "field",
    [
        f"authorization: Bearer {OWN}",
        f"x-api-key: {OWN}",
        f"x-goog-api-key: {OWN}",
        f"api-key: {OWN}",
        f"proxy-authorization: Bearer {OWN}",
        f"x-amz-security-token: {OWN}",
        f"cookie: token={OWN}",
    ],
)
def test_attack_34_a_key_of_the_agents_own_pays_nothing(
    broker: LiveBroker, target: Target, field: str
) -> None:
    assert target.ask(field.encode()).status == 200
    (request,) = target.sink.taken()
    assert OWN.encode() not in request.head
    assert dict(request.fields)[b"authorization"] == f"Bearer {KEY}".encode()
    assert OWN not in str(asyncio.run(broker.records(target.run)))


@pytest.mark.parametrize("name", ["api_key", "apiKey", "aws_access_key_id", "authorization"])
def test_attack_34_nor_does_one_in_the_body(target: Target, name: str) -> None:
    for more in ({name: OWN}, {"x": [{name: OWN}]}):
        body = msgspec.json.encode({**json.loads(BODY), **more})
        assert target.ask(body=body) == Reply(403, constant_reply("field_denied"))
    target.assert_nothing_came_but()


@pytest.mark.parametrize(
    "place", ["/v1/files", "/v1/uploads", "/v1/skills", "/upload/v1beta/files"]
)
def test_attack_34_and_there_is_no_place_to_put_a_file(target: Target, place: str) -> None:
    line = f"POST {place} HTTP/1.1".encode()
    reply = target.send(target.head(b"content-length: 0", f"x-api-key: {OWN}".encode(), line=line))
    assert reply == Reply(404, constant_reply("not_found"))
    target.assert_nothing_came_but()

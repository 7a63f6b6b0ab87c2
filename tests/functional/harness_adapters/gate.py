"""What the broker's gate, with nothing relaxed, makes of the requests that a harness sent."""

from collections.abc import Iterable

from stanchion.broker.plane.admission import admitted
from stanchion.broker.plane.http_gate import Accepted, read_head
from stanchion.broker.plane.model_socket import ModelRequest
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Asked
from stanchion.supervisor.relay_head import rewrite


def passed(head: bytes, body: bytes) -> ModelRequest:
    """The request as it is once the relay has rewritten its head and the gate has read it."""
    rewritten = rewrite(head, "st1_x")
    assert rewritten is not None, head
    accepted = read_head(rewritten)
    assert isinstance(accepted, Accepted), (accepted, head)
    return ModelRequest(accepted.route, accepted.forwarded, accepted.session, body, accepted.model)


def let_through(requests: Iterable[tuple[bytes, bytes]], dialect: Dialect) -> list[Asked]:
    """What is asked for in each, once relay and gate have let it through."""
    found = []
    for head, body in requests:
        asked = admitted(dialect, passed(head, body), frozenset())
        assert isinstance(asked, Asked), (asked, body[:3000])
        found.append(asked)
    return found

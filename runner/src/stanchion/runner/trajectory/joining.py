"""Which response on record each turn of a conversation is. Pure.

By the response's own id where the harness keeps it, by the ids of its tool calls, and between two
turns that are known by their order, where session and count agree. Never by likeness: a turn that
cannot be told stays unjoined and says why.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from stanchion.protocol.exchange import ID_LENGTH
from stanchion.runner.trajectory.turns import Conversation, Turn
from stanchion.runner.trajectory.wire import Response

BY_RESPONSE, BY_CALLS, BY_ORDER = "response_id", "tool_call_ids", "order"
NO_RECEIPTS = "there are no receipts"


@dataclass(slots=True)
class Joined:
    """What is known of a turn."""

    response: Response | None = None
    by: str | None = None
    why: str | None = None
    """Why no response."""


@dataclass(slots=True)
class Joining:
    """All turns of all conversations."""

    turns: dict[int, Joined] = field(default_factory=dict)
    """By the turn's identity."""
    left: dict[int, Response] = field(default_factory=dict)
    """Responses that no turn is, by exchange."""

    def of(self, turn: Turn) -> Joined:
        """What was found out about it."""
        return self.turns.get(id(turn), Joined(why=NO_RECEIPTS))

    def pair(self, turn: Turn, response: Response, how: str) -> None:
        """This turn is that response."""
        del self.left[response.exchange]
        self.turns[id(turn)] = Joined(response=response, by=how)


def join(found: Sequence[Conversation], responses: Sequence[Response]) -> Joining:
    """Surest first; each response is at most one turn."""
    joining = Joining(left={response.exchange: response for response in responses})
    turns = [turn for one in found for turn in one.agent_turns]
    _by_ids(joining, turns, BY_RESPONSE, lambda turn: _one(turn.response_id), _response_id)
    _by_ids(joining, turns, BY_CALLS, lambda turn: turn.call_ids, _call_ids)
    for one in found:
        _by_order(joining, one, alone=len(found) == 1)
    return joining


def _by_ids(
    joining: Joining,
    turns: Iterable[Turn],
    how: str,
    of_turn: Callable[[Turn], Sequence[str]],
    of_response: Callable[[Response], Sequence[str]],
) -> None:
    """An id that two responses have tells neither."""
    holders: dict[str, list[Response]] = defaultdict(list)
    for response in joining.left.values():
        for name in of_response(response):
            holders[name].append(response)
    for turn in turns:
        if id(turn) in joining.turns:
            continue
        named = (holders.get(name[:ID_LENGTH], []) for name in of_turn(turn))
        meant = {one[0].exchange: one[0] for one in named if len(one) == 1}
        if len(meant) == 1:
            (response,) = meant.values()
            if response.exchange in joining.left:
                joining.pair(turn, response, how)


def _by_order(joining: Joining, one: Conversation, *, alone: bool) -> None:
    """Between two turns that are known, as many responses as turns are these, one by one."""
    theirs = [
        response
        for response in joining.left.values()
        if response.session == one.session or (alone and response.session is None)
    ]
    if alone and not theirs:  # a harness's header may be of another kind than its session
        theirs = list(joining.left.values())
    stretch: list[Turn] = []
    after = 0
    for turn in (*one.agent_turns, None):
        known = None if turn is None else joining.turns.get(id(turn))
        if turn is not None and known is None:
            stretch.append(turn)
            continue
        before = None if known is None or known.response is None else known.response.exchange
        between = [
            response
            for response in theirs
            if after < response.exchange and (before is None or response.exchange < before)
        ]
        _pair(joining, stretch, between)
        stretch, after = [], before or after


def _pair(joining: Joining, turns: Sequence[Turn], responses: Sequence[Response]) -> None:
    if len(turns) == len(responses):
        for turn, response in zip(turns, responses, strict=True):
            joining.pair(turn, response, BY_ORDER)
        return
    for turn in turns:
        why = f"{len(responses)} responses on record could be these {len(turns)} turns"
        joining.turns[id(turn)] = Joined(why=why)


def _one(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _response_id(response: Response) -> list[str]:
    return _one(response.answered.response_id)


def _call_ids(response: Response) -> tuple[str, ...]:
    return response.answered.tool_call_ids

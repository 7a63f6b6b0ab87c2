"""Tool calls on the wire against those of the saved conversation, both ways. Pure.

A call that no response carried was made up, or came by another road; a call that was never saved is
missing from whatever is learnt from the conversation. Compared by the provider's own ids where both
sides keep them, else only counted; what cannot be compared is unknown and raises nothing.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from stanchion.protocol.exchange import ID_LENGTH

NO_CONVERSATION = "the harness saved nothing of a conversation"
MOST_NAMED = 20
"""Ids in one answer."""


class SentCalls(msgspec.Struct, frozen=True, kw_only=True):
    """The whole tool calls of one completed response to a main request."""

    exchange: int
    calls: int | None
    """None = the response could not be read."""
    ids: tuple[str, ...] = ()
    """Those that the provider gave, at most ID_LENGTH characters of each."""


class CallMatch(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the comparison."""

    by_id: bool | None
    """True = by the provider's ids, False = only counted, None = not compared."""
    sent: int | None
    saved: int | None
    nobody_sent: int | None
    """Calls of the conversation that no response carried."""
    nobody_saved: int | None
    """Calls of responses that are not in the conversation."""
    sent_by_nobody: tuple[str, ...] = ()
    """Their ids, at most MOST_NAMED, where they were compared by id."""
    saved_by_nobody: tuple[str, ...] = ()
    why: str | None = None
    """Why nothing was compared."""


def not_compared(why: str) -> CallMatch:
    """Nobody knows."""
    return CallMatch(
        by_id=None, sent=None, saved=None, nobody_sent=None, nobody_saved=None, why=why
    )


def match_calls(sent: Sequence[SentCalls], saved: Sequence[str | None]) -> CallMatch:
    """`saved` holds the id of each call in the conversation; None = the harness keeps none.

    A call without an id may be any of the responses', or an action that the harness reads from
    text: it is never taken for one that nobody sent.
    """
    if any(one.calls is None for one in sent):
        return not_compared("a response could not be read")
    total = sum(one.calls or 0 for one in sent)
    on_wire = Counter(name for one in sent for name in one.ids)
    kept = Counter(name[:ID_LENGTH] for name in saved if name is not None)
    nameless = sum(name is None for name in saved)
    if on_wire.total() == total and (on_wire & kept or not on_wire or not kept):
        missing, extra = on_wire - kept, kept - on_wire
        return CallMatch(
            by_id=True,
            sent=total,
            saved=len(saved),
            nobody_sent=extra.total(),
            nobody_saved=max(0, missing.total() - nameless),
            sent_by_nobody=tuple(extra.elements())[:MOST_NAMED],
            saved_by_nobody=tuple(missing.elements())[:MOST_NAMED],
        )
    return CallMatch(
        by_id=False,
        sent=total,
        saved=len(saved),
        nobody_sent=max(0, kept.total() - total),
        nobody_saved=max(0, total - len(saved)),
    )

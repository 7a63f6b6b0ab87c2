"""One look at a piece of an event stream, which says that nobody has to look closer. Pure.

It knows what each reader of the stream looks for: the letters by which a spelling of the key is
told, whole or spread over events, and the markers of what ends a response. A piece passes where
there is nothing of these, and nothing in it can go on in the next one. It decides nothing about a
piece that does not pass, and it keeps no state: one serves all streams of an account's dialect.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from stanchion.broker.plane.lookout import Lookout
from stanchion.broker.plane.spellings import Spellings

EVENT_ENDS = (b"\n\n", b"\n\r\n")
"""Behind these, no spelling and no marker is under way."""
_NO_TEXT = bytes(range(32)) + b'"\\'
"""Of JSON's strings: these do not stand for themselves (RFC 8259, section 7)."""
_ESCAPES = (b"\\n", b'\\"', b"\\t")
"""Any other, and a backslash that stands for itself, makes a text one to look at."""
_COMMON = b"0123456789" + bytes(range(ord("a"), ord("z") + 1))
"""Letters that many texts have are looked for one by one."""


class Glance(NamedTuple):
    """The two questions."""

    passes: Callable[[bytes], bool]
    """Whether a piece of a stream of which nothing is under way may pass, and leaves it so."""
    is_plain: Callable[[bytes], bool]
    """Whether a text may stand in the frame of an event that passed (see `Frame`), and lets that
    one pass too. A marker in a text is none."""


_made: "WeakKeyDictionary[Spellings, dict[Lookout, Glance]]" = WeakKeyDictionary()
"""By key: they go with it."""


def glance(spellings: Spellings | None, lookout: Lookout) -> Glance:
    """Those of one key (None = there is none to look for) and one dialect's markers."""
    if spellings is None:
        return _without_key(lookout)
    made = _made.setdefault(spellings, {})
    if lookout not in made:
        made[lookout] = _with_key(spellings, lookout)
    return made[lookout]


@cache
def _without_key(lookout: Lookout) -> Glance:
    return Glance(
        lambda data: data.endswith(EVENT_ENDS) and lookout.place_in(data) is None,
        lambda text: _is_text(text) and _is_utf8(text),
    )


def _with_key(spellings: Spellings, lookout: Lookout) -> Glance:
    letters, gates = spellings.first_letters, spellings.looked_for
    goes_on, place_in = spellings.may_go_on, lookout.place_in

    def passes(data: bytes) -> bool:
        if not data.endswith(EVENT_ENDS):
            return False
        # Nothing is taken out: the quickest way to know that none of the letters is there.
        if len(data.translate(None, letters)) != len(data):
            for letter, gate in gates:
                if letter in data and gate.is_open(data):
                    return False
        return not goes_on(data) and place_in(data) is None

    return Glance(passes, _plainly(spellings))


def _plainly(spellings: Spellings) -> Callable[[bytes], bool]:
    if '"' in spellings.key:  # it may begin before the text, or go on behind it
        return lambda _: False
    rare = bytes(letter for letter in spellings.first_letters if letter not in _COMMON)
    stops, gates, goes_on = _NO_TEXT + rare, spellings.looked_for, spellings.may_go_on
    common = tuple((letter, gate) for letter, gate in gates if letter in _COMMON)

    def is_plain(text: bytes) -> bool:
        looked_for = common
        if len(text.translate(None, stops)) != len(text):
            if not _is_text(text):
                return False
            looked_for = gates
        for letter, gate in looked_for:
            if letter in text and gate.is_open(text):
                return False
        return not goes_on(text) and (text.isascii() or _is_utf8(text))

    return is_plain


def _is_text(text: bytes) -> bool:
    """Whether it is the inside of a JSON string, with the commonest escapes at most."""
    if text.find(b"\\") >= 0 and text.find(b"\\\\") < 0:
        for escape in _ESCAPES:
            text = text.replace(escape, b"")
    return len(text.translate(None, _NO_TEXT)) == len(text)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True

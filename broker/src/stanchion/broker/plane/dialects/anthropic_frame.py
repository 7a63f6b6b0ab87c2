"""The frame of an Anthropic delta whose text, or thinking, tells nothing new. Pure.

It must never take a delta with anything else that has a meaning.
"""

import re
from typing import Literal

import msgspec

from stanchion.broker.plane.frame import Frame, always

_OTHER = "other"
_TEXT = re.compile(
    rb'(?P<start>.*"(?P<name>text|thinking)" ?: ?")(?:[^"\\]|\\.)+(?P<end>".*)', re.DOTALL
)


class _Text(msgspec.Struct, forbid_unknown_fields=True, gc=False, tag="text_delta"):
    text: str


class _Thinking(msgspec.Struct, forbid_unknown_fields=True, gc=False, tag="thinking_delta"):
    thinking: str


class _Delta(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    kind: Literal["content_block_delta"] = msgspec.field(name="type")
    index: int
    delta: _Text | _Thinking


_decoder = msgspec.json.Decoder(_Delta)


def frame_of(data: bytes, *, text: bool, thinking: bool) -> Frame | None:
    """What stands around the text of this event; `text` and `thinking`: whether some came."""
    event = _decoded(data)
    found = None if event is None else _TEXT.match(data)
    if event is None or found is None:
        return None
    name, start, end = found["name"].decode(), found["start"], found["end"]
    told = text if name == "text" else thinking
    if not told or not hasattr(event.delta, name):
        return None
    setattr(event.delta, name, _OTHER)
    same = _decoded(start + _OTHER.encode() + end) == event
    return Frame(start, end, always) if same else None


def _decoded(data: bytes) -> _Delta | None:
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None

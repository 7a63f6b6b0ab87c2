"""The frame of a chunk of chat completions whose text, or reasoning, tells nothing new. Pure.

It must never take a chunk with anything else that has a meaning.
"""

import re
from collections.abc import Callable

from stanchion.broker.plane.dialects.chat_document import text_chunk
from stanchion.broker.plane.dialects.chat_parts import Parts
from stanchion.broker.plane.frame import Frame

_OTHER = "other"
_TEXT = re.compile(
    rb'(?P<start>.*"(?P<name>content|reasoning_content|reasoning)" ?: ?")'
    rb'(?:[^"\\]|\\.)+(?P<end>".*)',
    re.DOTALL,
)


def frame_of(data: bytes, parts: Parts, model: Callable[[], str | None]) -> Frame | None:
    """What stands around the one text of this chunk, which was taken just now.

    `model` gives the name that stands, which a chunk with another one would change.
    """
    chunk = text_chunk(data)
    found = None if chunk is None else _TEXT.match(data)
    if chunk is None or found is None:
        return None
    named, delta = chunk.model, chunk.choices[0].delta
    name, start, end = found["name"].decode(), found["start"], found["end"]
    told = parts.settled(chunk.choices[0].index) if name == "content" else parts.reasoned
    texts = [text for text in (delta.content, delta.reasoning_content, delta.reasoning) if text]
    if not told or texts != [getattr(delta, name)]:
        return None
    setattr(delta, name, _OTHER)
    if text_chunk(start + _OTHER.encode() + end) != chunk:
        return None
    frame = Frame(start, end, lambda: named is None or model() == named)
    return frame if frame.stands() else None

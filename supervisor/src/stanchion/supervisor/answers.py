"""What became of the declared answers: watched while the agent runs, frozen when it has ended.

Absent = never seen with content; lost = seen and now missing, empty or shorter. Never follows a
link, never sends more than the cap; what is too large is still hashed.
"""

import hashlib
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from stanchion.protocol.events import AnswerFrozen, Event, FileSent, Warned
from stanchion.protocol.evidence import Answer, AnswerState
from stanchion.supervisor.regular_files import open_regular, regular_size

MOST_SENT_BYTES = 16 * 1024 * 1024
PIECE_BYTES = 512 * 1024

Send = Callable[[Event], Awaitable[None]]


class Answers:
    """The declared answer paths of one attempt."""

    def __init__(self, paths: Sequence[str] | None) -> None:
        self._paths = tuple(paths) if paths is not None else None
        self._largest: dict[str, int] = {}
        """The last size seen, where it was not empty."""

    def look(self) -> None:
        """Note what is there now."""
        for path in self._paths or ():
            size_bytes = regular_size(Path(path))
            if size_bytes:
                self._largest[path] = size_bytes

    async def freeze(self, send: Send) -> tuple[Answer, ...] | None:
        """Decide about each one and send it out; None = none was declared."""
        if self._paths is None:
            return None
        frozen = []
        for path in self._paths:
            answer = await self._freeze_one(path, send)
            await send(AnswerFrozen(answer=answer))
            frozen.append(answer)
        return tuple(frozen)

    async def _freeze_one(self, path: str, send: Send) -> Answer:
        seen_bytes = self._largest.get(path, 0)
        try:
            file = open_regular(Path(path))
        except FileNotFoundError:
            return Answer(path=path, state=_gone(seen_bytes))
        except OSError as error:
            await send(Warned(what="answer", detail=str(error)))
            return Answer(path=path, state=_gone(seen_bytes))
        with os.fdopen(file, "rb") as stream:
            size_bytes = os.fstat(stream.fileno()).st_size
            if size_bytes < seen_bytes or size_bytes == 0:
                return Answer(path=path, state=_gone(seen_bytes), size_bytes=size_bytes)
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            if size_bytes <= MOST_SENT_BYTES:
                stream.seek(0)
                await _send_pieces(path, stream.read(), sha256, send)
            else:
                detail = f"{path} has {size_bytes} bytes, more than {MOST_SENT_BYTES}: not sent"
                await send(Warned(what="answer", detail=detail))
        return Answer(path=path, state=AnswerState.PRESENT, size_bytes=size_bytes, sha256=sha256)


def _gone(seen_bytes: int) -> AnswerState:
    return AnswerState.LOST if seen_bytes else AnswerState.ABSENT


async def _send_pieces(path: str, content: bytes, sha256: str, send: Send) -> None:
    for offset in range(0, len(content), PIECE_BYTES):
        piece = content[offset : offset + PIECE_BYTES]
        last = offset + len(piece) == len(content)
        await send(
            FileSent(
                purpose="answer",
                path=path,
                offset=offset,
                data=piece,
                last=last,
                sha256=sha256 if last else None,
            )
        )
